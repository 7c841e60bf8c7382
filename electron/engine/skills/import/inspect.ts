import type { Finding, Lint, Verdict } from '#shared/contract/skills.ts';
import { parseSkill } from '../frontmatter.ts';
import { mostScanned, scanFiles } from '../guard.ts';
import { lintSkill } from '../lint.ts';
import { MAIN_FILE } from '../names.ts';
import type { SkillFileBytes } from '../types.ts';

/** What the guard and the reader of SKILL.md say of a skill that is not here yet. `links`: paths that are links or devices. */
export function inspect({ name, files, links }: { name: string; files: readonly SkillFileBytes[]; links: readonly string[] }): { verdict: Verdict; findings: Finding[]; lint: Lint[] } {
  const text = files.find(({ path }) => path === MAIN_FILE)?.bytes.toString('utf8') ?? '';
  const scanned = files.map(({ path, bytes, executable = false }) => ({ path, size: bytes.length, bytes: bytes.length <= mostScanned(path) ? bytes : null, executable }));
  return {
    ...scanFiles([...scanned, ...links.map((path) => ({ path, size: 0, bytes: null, kind: 'outside' as const }))]),
    lint: lintSkill(text, parseSkill(text), { folder: name, files: files.map(({ path }) => path) }),
  };
}
