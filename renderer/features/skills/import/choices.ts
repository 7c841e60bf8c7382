import type { FoundSkill, ImportAction, ImportChoice } from '#shared/contract/skill-imports.ts';

/** What a person chose for a found skill. */
export interface Choice {
  action: ImportAction;
  /** Of `keep_both`. */
  name: string;
  acceptCaution: boolean;
}

/** A skill's own rule, as the engine has it. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** What can be chosen for a skill, the likeliest first. */
export function actionsFor(found: FoundSkill): ImportAction[] {
  if (found.refused !== null) return ['skip'];
  if (found.existing === null) return ['add', 'skip'];
  return found.state === 'same' ? ['skip', 'keep_both'] : ['replace', 'keep_both', 'skip'];
}

export function suggestedChoice(found: FoundSkill): Choice {
  return { action: found.suggested, name: found.freeName, acceptCaution: false };
}

/** Why a choice cannot be done as it is; null when it can. */
export function problemOf(found: FoundSkill, choice: Choice): 'caution' | 'name' | null {
  if (choice.action === 'skip') return null;
  if (found.verdict === 'caution' && !choice.acceptCaution) return 'caution';
  return choice.action === 'keep_both' && !NAME.test(choice.name) ? 'name' : null;
}

/** The choices as the engine takes them; skipped ones are left out. */
export function chosen(items: readonly FoundSkill[], choices: ReadonlyMap<string, Choice>): ImportChoice[] {
  return items.flatMap((found) => {
    const { action, name, acceptCaution } = choices.get(found.key) ?? suggestedChoice(found);
    return action === 'skip' ? [] : [{ key: found.key, action, acceptCaution, ...(action === 'keep_both' ? { name } : {}) }];
  });
}

/** Those that need a look first. */
export function inOrder(items: readonly FoundSkill[]): FoundSkill[] {
  const rank = (found: FoundSkill): number => (found.state === 'same' ? 4 : found.refused !== null ? 3 : found.verdict === 'caution' ? 1 : found.state === 'differs' ? 0 : 2);
  return items.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}
