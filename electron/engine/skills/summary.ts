import type { SkillDetail, SkillSummary } from '#shared/contract/skills.ts';
import { parseSkill } from './frontmatter.ts';
import type { History } from './history.ts';
import { fitsPlatform, lintSkill } from './lint.ts';
import type { Machine } from './machine.ts';
import { MAIN_FILE } from './names.ts';
import type { Records } from './records.ts';
import { hashOf, readText, type Skill } from './skill.ts';
import type { Shown } from './types.ts';

interface Known {
  history: Pick<History, 'line'>;
  records: Pick<Records, 'mark' | 'uses'>;
  machine: Pick<Machine, 'platform' | 'missing'>;
}

/** Of skills in the order in which they win: of one name the first that can be offered goes, the others are shadowed by it. */
export function summariesOf(skills: readonly Skill[], known: Known): SkillSummary[] {
  const winners = new Map<string, string>();
  return skills.map((skill) => {
    const mark = known.records.mark(skill.id);
    const errors = skill.lint.filter(({ severity }) => severity === 'error').length;
    // what came with a folder of files, and has something to look at, waits for a person to switch it on
    const enabled = mark?.enabled ?? !(skill.root.root === 'project' && skill.scan.verdict === 'caution');
    const why = whyNot(skill, enabled, errors, known.machine.platform);
    const winner = winners.get(skill.name) ?? null;
    if (winner === null && why === null) winners.set(skill.name, skill.id);
    const notOffered = why ?? (winner === null ? null : `Another skill of this name goes first: ${winner}.`);
    return {
      id: skill.id,
      name: skill.name,
      category: skill.category,
      description: skill.description,
      root: skill.root.root,
      folder: skill.folder,
      readOnly: skill.root.readOnly,
      enabled,
      pinned: mark?.pinned ?? false,
      shadowedBy: winner,
      author: skill.root.root === 'own' ? (known.history.line(skill.path)?.author ?? null) : null,
      verdict: skill.scan.verdict,
      offered: notOffered === null,
      notOffered,
      errors,
      tags: skill.meta.tags,
      version: skill.meta.version,
      chars: skill.chars,
      updatedAt: skill.updatedAt,
      ...known.records.uses(skill.id),
    };
  });
}

function whyNot(skill: Skill, enabled: boolean, errors: number, platform: string): string | null {
  if (skill.scan.verdict === 'dangerous') return `It may be dangerous: ${skill.scan.findings.find(({ severity }) => severity === 'critical')?.message ?? ''}`;
  if (errors > 0) return skill.lint[0]!.message;
  if (!enabled) return 'It is switched off.';
  return fitsPlatform(skill.meta, platform) ? null : `It is only for ${skill.meta.platforms.join(', ').slice(0, 100)}.`;
}

/** Everything about one skill; `all` are those that it may be related to. */
export function detailOf(skill: Skill, all: readonly Shown[], known: Known): SkillDetail {
  const summary = all.find((shown) => shown.skill === skill)!.summary;
  const unreadable = skill.lint.filter(({ code }) => code === 'file_too_large');
  const text = unreadable.length > 0 ? '' : (readText(skill.folder, MAIN_FILE) ?? '');
  const parsed = parseSkill(text);
  const lint = lintSkill(text, parsed, {
    folder: skill.path.split('/').at(-1)!,
    files: skill.walked.files.map(({ path }) => path),
    names: new Set(all.map((shown) => shown.summary.name)),
    platform: known.machine.platform,
    missing: (meta) => known.machine.missing(meta),
  });
  return {
    summary,
    text,
    hash: hashOf(text),
    files: skill.walked.files.map(({ path, bytes, kind }) => ({ path, bytes, text: kind === 'file' && readText(skill.folder, path) !== null })),
    lint: unreadable.length > 0 ? [...unreadable] : lint,
    findings: skill.scan.findings,
    frontmatter: parsed.data,
  };
}
