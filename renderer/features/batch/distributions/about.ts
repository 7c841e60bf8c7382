import type { TFunction } from 'i18next';

const BUILT_IN = ['default', 'image_gen', 'research', 'science', 'development', 'safe', 'balanced', 'minimal', 'terminal_only', 'terminal_web', 'creative', 'reasoning', 'browser_use', 'browser_only', 'browser_tasks', 'terminal_tasks', 'mixed_tasks'] as const;

/** What a built-in distribution is for, in the page's language; the words of anybody's own as they are. */
export function aboutDistribution({ name, description }: { name: string; description: string }, builtIn: boolean, t: TFunction<'batch'>): string {
  const known = builtIn ? BUILT_IN.find((n) => n === name) : undefined;
  return known ? t(`runForm.dist.about.${known}`) : description;
}
