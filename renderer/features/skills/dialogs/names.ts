import type { SkillSummary } from '#shared/contract/skills.ts';

/** Letters, digits, ".", "_" and "-", as agentskills.io and Hermes Agent allow them between them. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export const isName = (name: string): boolean => NAME.test(name) && !name.endsWith('.');

/** What a person typed, as a name could be: "Release notes" becomes "release-notes". */
export function asName(typed: string): string {
  return typed.toLowerCase().replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+/, '').slice(0, 64);
}

/** Categories of one's own skills, for suggestions. */
export function categoriesOf(items: readonly SkillSummary[]): string[] {
  return [...new Set(items.filter((skill) => skill.root === 'own').flatMap((skill) => skill.category ?? []))].toSorted();
}
