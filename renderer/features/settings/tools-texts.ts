/** Toolsets that the page has words for; others show their name. */
export const TOOLSET_TEXTS = {
  terminal: 'tools.toolset.terminal',
  file: 'tools.toolset.file',
  web: 'tools.toolset.web',
  vision: 'tools.toolset.vision',
  todo: 'tools.toolset.todo',
  clarify: 'tools.toolset.clarify',
  session_search: 'tools.toolset.session_search',
  memory: 'tools.toolset.memory',
  skills: 'tools.toolset.skills',
  delegation: 'tools.toolset.delegation',
} as const;

/** Tools whose missing need the page says in its own language; for others the engine's sentence is shown. */
export const MISSING_TEXTS = {
  web_search: 'tools.missing.web_search',
  vision_analyze: 'tools.missing.vision_analyze',
} as const;

/** The text of a name that may be anything. */
export function textOf<T extends Readonly<Record<string, string>>>(texts: T, name: string): T[keyof T] | null {
  return Object.hasOwn(texts, name) ? (texts[name] as T[keyof T]) : null;
}
