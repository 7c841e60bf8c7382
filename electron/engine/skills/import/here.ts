import type { SkillSummary } from '#shared/contract/skills.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import type { SkillFileBytes } from '../types.ts';
import { readSkillFolder, sameTree, treeOf } from './tree.ts';

/** What is here already: skills of one's own, by name. */
export class SkillsHere {
  readonly #db: Database;
  readonly #own: ReadonlyMap<string, SkillSummary>;
  readonly #taken: ReadonlySet<string>;

  constructor(db: Database, skills: readonly SkillSummary[]) {
    this.#db = db;
    const own = skills.filter((skill) => skill.root === 'own');
    this.#own = new Map(own.toReversed().flatMap((skill) => [[lastOf(skill.id), skill], [skill.name.toLowerCase(), skill]] as const));
    this.#taken = new Set(skills.flatMap((skill) => [skill.name.toLowerCase(), lastOf(skill.id)]));
  }

  get(name: string): SkillSummary | null {
    return this.#own.get(name.toLowerCase()) ?? null;
  }

  /** How the skill that is here compares with these files. `edited`: it is not as the last import left it. */
  async compare(skill: SkillSummary, files: readonly SkillFileBytes[]): Promise<{ same: boolean; edited: boolean }> {
    const present = await readSkillFolder(skill.folder);
    const now = treeOf(present);
    const imported = this.#db.get(
      sqlFor.selectFrom('skill_versions').select('tree').where('skill', '=', skill.id.replace(/^own\//, '')).where('author', '=', 'import').where('state', '=', 'done').orderBy('id', 'desc').limit(1),
    );
    return { same: sameTree(now, treeOf(files)), edited: !imported || !asVersion(present, now, new Map(JSON.parse(imported.tree) as [string, string][])) };
  }

  /** A name that no skill of any root has, nor any of `also`. */
  freeName(name: string, also: ReadonlySet<string>): string {
    for (let i = 2; ; i++) {
      const free = `${name.slice(0, 64 - String(i).length - 1)}-${i}`;
      if (!this.#taken.has(free) && !also.has(free)) return free;
    }
  }
}

/** Versions keep the size of files that are too large to be hashed. */
function asVersion(files: readonly SkillFileBytes[], hashes: Readonly<Record<string, string>>, tree: ReadonlyMap<string, string>): boolean {
  return files.length === tree.size && files.every(({ path, bytes }) => [hashes[path], `size:${bytes.length}`].includes(tree.get(path)));
}

function lastOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1).toLowerCase();
}
