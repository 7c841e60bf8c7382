/** Commands typed into the composer. Pure: what a text means, and what to offer while it is typed. */

export interface SlashCommand {
  name: SlashName;
  aliases: readonly string[];
  /** `needed`: it cannot do without words after its name. */
  args: 'none' | 'optional' | 'needed';
}

/** A skill that can be run by its name. */
export interface SkillOffer {
  skill: string;
  description: string;
}

/** What a list below the name offers. `before`: skills named already, as they stand in the text. */
export interface Offers {
  before: string;
  items: readonly (SlashCommand | SkillOffer)[];
}

export const SLASH_NAMES = ['new', 'model', 'tools', 'background', 'compress', 'review', 'usage', 'undo', 'retry', 'rollback', 'export', 'stop', 'title', 'fork', 'copy', 'archive', 'clear', 'help'] as const;
export type SlashName = (typeof SLASH_NAMES)[number];

const ALIASES: Partial<Record<SlashName, readonly string[]>> = {
  new: ['reset'], background: ['bg', 'task'], model: ['provider'], tools: ['toolsets'], compress: ['compact'], review: ['learn', 'refine'], usage: ['cost'], retry: ['again'], rollback: ['checkpoints'], export: ['save'], stop: ['cancel'], title: ['rename', 'name'], fork: ['branch'], help: ['commands'],
};
const ARGS: Partial<Record<SlashName, SlashCommand['args']>> = { new: 'optional', background: 'needed', model: 'optional', tools: 'optional', compress: 'optional', review: 'optional', retry: 'optional', export: 'optional', title: 'needed' };

export const SLASH_COMMANDS: readonly SlashCommand[] = SLASH_NAMES.map((name) => ({ name, aliases: ALIASES[name] ?? [], args: ARGS[name] ?? 'none' }));

export type Typed =
  | { kind: 'text'; text: string }
  | { kind: 'command'; name: SlashName; args: string }
  /** Never to be sent by accident. */
  | { kind: 'unknown'; name: string; closest: SlashName | null };

/** A name at the start, as a command would have it: a path ("/etc/hosts") or a fraction is text. The second one is typed by Chinese input methods. */
const HEAD = /^[/／]([\p{L}][\p{L}\p{N}_-]*)(?=\s|$)/u;

/**
 * What a text means when it is sent. "//" and a space at its start send it as it is, and so does the name of a skill, which the engine reads.
 * @param skills names that are no commands
 */
export function readTyped(text: string, skills: readonly SkillOffer[] = []): Typed {
  if (text.startsWith('//')) return { kind: 'text', text: text.slice(1) };
  const head = HEAD.exec(text);
  if (!head?.[1]) return { kind: 'text', text };
  const typed = head[1].toLowerCase();
  const command = SLASH_COMMANDS.find((c) => c.name === typed || c.aliases.includes(typed));
  if (!command && skills.some(({ skill }) => skill === typed)) return { kind: 'text', text: `/${typed}${text.slice(head[0].length)}` };
  if (!command) return { kind: 'unknown', name: head[1], closest: closestTo(typed) };
  return { kind: 'command', name: command.name, args: text.slice(head[0].length).trim() };
}

/** Skills to offer at once: one types to find the others. */
const MAX_SKILLS = 30;
const TYPING = /^((?:[/／][\p{L}\p{N}._-]+\s+)*)[/／]([\p{L}\p{N}._-]*)$/u;

/** What to offer while a name is being typed, commands first; behind the name of a skill only further skills. Null when there is nothing. */
export function offered(text: string, skills: readonly SkillOffer[] = []): Offers | null {
  const typing = TYPING.exec(text);
  const [, before = '', name] = typing ?? [];
  if (name === undefined) return null;
  const typed = name.toLowerCase();
  const named = before.split(/\s+/).filter(Boolean).map((word) => word.slice(1));
  const free = skills.filter(({ skill }) => !isCommand(skill));
  if (!named.every((word) => free.some(({ skill }) => skill === word))) return null;
  const begins = named.length > 0 ? [] : SLASH_COMMANDS.filter((c) => c.name.startsWith(typed));
  const others = named.length > 0 ? [] : SLASH_COMMANDS.filter((c) => !begins.includes(c) && c.aliases.some((a) => a.startsWith(typed)));
  const rest = free.filter(({ skill }) => !named.includes(skill));
  const first = rest.filter(({ skill }) => skill.startsWith(typed));
  const within = typed.length < 2 ? [] : rest.filter(({ skill }) => !skill.startsWith(typed) && skill.includes(typed));
  const items = [...begins, ...others, ...[...first, ...within].slice(0, MAX_SKILLS)];
  return items.length === 0 ? null : { before, items };
}

/** A command goes before a skill of its name. */
function isCommand(name: string): boolean {
  return SLASH_COMMANDS.some((c) => c.name === name || c.aliases.includes(name));
}

function closestTo(typed: string): SlashName | null {
  let best: { name: SlashName; far: number } | null = null;
  for (const command of SLASH_COMMANDS) {
    for (const word of [command.name, ...command.aliases]) {
      const far = distance(typed, word);
      if (!best || far < best.far) best = { name: command.name, far };
    }
  }
  return best && best.far <= Math.max(1, Math.floor(typed.length / 2)) ? best.name : null;
}

/** Levenshtein. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= Math.min(a.length, 40); i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length]!;
}
