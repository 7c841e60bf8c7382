import type { SkillSummary } from '#shared/contract/skills.ts';

/** One line of the tree. `parent` is the key of the line it lies under. */
export type TreeRow = { key: string; level: number; parent: string | null } & (
  | { kind: 'root'; root: SkillSummary['root']; folder: string; count: number; open: boolean }
  | { kind: 'category'; name: string; count: number; open: boolean }
  | { kind: 'skill'; skill: SkillSummary }
);

/** The root's part of an id: "own", "external:2". */
const rootOf = (id: string): string => id.slice(0, id.indexOf('/') === -1 ? id.length : id.indexOf('/'));

const RANK: Record<SkillSummary['root'], number> = { project: 0, own: 1, external: 2, hermes: 3 };

/** What is searched for: every word must be somewhere. */
function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

/**
 * Skills in which every word is found, in name, description, tags or category.
 * @param inText ids whose text holds all the words, as the engine found them
 */
export function matching(items: readonly SkillSummary[], query: string, inText: ReadonlySet<string>): readonly SkillSummary[] {
  const words = wordsOf(query);
  if (words.length === 0) return items;
  return items.filter((skill) => {
    if (inText.has(skill.id)) return true;
    const text = [skill.name, skill.description, skill.category ?? '', ...skill.tags].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/**
 * The lines of the tree: by root and category, both in the order of precedence and of the alphabet. A single root is not worth a line.
 * @param closed keys of folded groups @param searching nothing is folded then
 */
export function treeRows(items: readonly SkillSummary[], closed: ReadonlySet<string>, searching: boolean): TreeRow[] {
  const roots = new Map<string, Map<string | null, SkillSummary[]>>();
  for (const skill of items) {
    const root = rootOf(skill.id);
    const categories = roots.get(root) ?? new Map<string | null, SkillSummary[]>();
    roots.set(root, categories);
    const list = categories.get(skill.category) ?? [];
    categories.set(skill.category, list);
    list.push(skill);
  }
  const sorted = [...roots].toSorted(([a, inA], [b, inB]) => RANK[firstOf(inA).root] - RANK[firstOf(inB).root] || order(a, b));
  const rows: TreeRow[] = [];
  for (const [root, categories] of sorted) {
    const first = firstOf(categories);
    const top = sorted.length > 1 ? root : null;
    if (top !== null) {
      const open = searching || !closed.has(root);
      const count = [...categories.values()].reduce((sum, list) => sum + list.length, 0);
      rows.push({ kind: 'root', key: root, level: 1, parent: null, root: first.root, folder: rootFolder(first), count, open });
      if (!open) continue;
    }
    const level = top === null ? 1 : 2;
    for (const [category, list] of [...categories].toSorted(([a], [b]) => (a === null ? -1 : b === null ? 1 : order(a, b)))) {
      const key = `${root}/${category ?? ''}/`;
      const open = category === null || searching || !closed.has(key);
      if (category !== null) rows.push({ kind: 'category', key, level, parent: top, name: category, count: list.length, open });
      if (!open) continue;
      for (const skill of list.toSorted((a, b) => order(a.name, b.name))) {
        rows.push({ kind: 'skill', key: skill.id, level: category === null ? level : level + 1, parent: category === null ? top : key, skill });
      }
    }
  }
  return rows;
}

function firstOf(categories: ReadonlyMap<string | null, SkillSummary[]>): SkillSummary {
  const [list] = categories.values();
  return list![0]!;
}

/** The folder of the root that a skill lies in. */
function rootFolder({ id, folder }: SkillSummary): string {
  const below = id.slice(rootOf(id).length);
  return folder.replaceAll('\\', '/').endsWith(below) ? folder.slice(0, folder.length - below.length) : folder;
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
const order = (a: string, b: string): number => collator.compare(a, b);

/** Where one gets from a line by so many steps over skills, groups left out; null at the end. @param from key of the line */
export function stepFrom(rows: readonly TreeRow[], from: string | null, by: 1 | -1): TreeRow | null {
  const at = rows.findIndex((row) => row.key === from);
  if (at === -1) return (by === 1 ? rows.find((row) => row.kind === 'skill') : rows.findLast((row) => row.kind === 'skill')) ?? null;
  for (let i = at + by; i >= 0 && i < rows.length; i += by) if (rows[i]?.kind === 'skill') return rows[i]!;
  return null;
}
