import { similarTo } from '../tools/similarity.ts';

const MAX_COMPARED_CHARS = 300;
const NAME_LIKE = 0.85;
const DESCRIPTION_LIKE = 0.72;
const NAME_MEANT = 0.5;

/** Skills that are most likely about the same thing, the most alike first, at most three. */
export function similarSkills<T extends { name: string; description: string }>(wanted: { name: string; description: string }, others: readonly T[]): T[] {
  const [name, description] = [wordsOf(wanted.name), plain(wanted.description)];
  const [nameLike, descriptionLike] = [similarTo(name), similarTo(description)];
  const scored = others.flatMap((skill) => {
    const byName = nameLike(wordsOf(skill.name));
    const byDescription = description.length < 12 ? 0 : descriptionLike(plain(skill.description));
    return byName >= NAME_LIKE || byDescription >= DESCRIPTION_LIKE ? [{ skill, score: Math.max(byName, byDescription) }] : [];
  });
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ skill }) => skill);
}

/** Names that may have been meant by one that there is not, at most three. */
export function similarNames(asked: string, names: readonly string[]): string[] {
  const like = similarTo(asked.toLowerCase());
  return names
    .map((name) => ({ name, score: like(name) }))
    .filter(({ score }) => score >= NAME_MEANT)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** In one order, so that "git-rebase" is "rebase-git". */
function wordsOf(name: string): string {
  return name.toLowerCase().split(/[^a-z0-9]+/).filter((word) => word !== '').sort().join(' ');
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim().slice(0, MAX_COMPARED_CHARS);
}
