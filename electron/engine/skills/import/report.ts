import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { FoundSkill } from '#shared/contract/skill-imports.ts';
import type { Finding, Lint, Verdict } from '#shared/contract/skills.ts';
import { parseSkill } from '../frontmatter.ts';
import { metaOf } from '../meta.ts';
import { MAIN_FILE, nameProblem } from '../names.ts';
import type { SkillFileBytes } from '../types.ts';
import { SkillImportError } from './errors.ts';
import { categoryOf, type FoundFolder } from './find.ts';
import type { SkillsHere } from './here.ts';
import { inspect } from './inspect.ts';
import { MAX_FILE_BYTES, MAX_SKILL_BYTES, MAX_SKILL_FILES, MAX_SKILL_MD_BYTES, MAX_TAKEN_BYTES } from './limits.ts';
import { named } from './source.ts';
import { treeOf } from './tree.ts';

/** A reported skill, and where its files wait. */
export interface Held {
  found: FoundSkill;
  /** Absolute; null when it was refused for what it is rather than for what is in it. */
  folder: string | null;
  /** Hashes of its files when they were reported on. */
  tree: Record<string, string>;
  /** Those that could be run where they came from; in quarantine none can. */
  executables: ReadonlySet<string>;
}

export interface ReportInput {
  skills: readonly FoundFolder[];
  onlyTop: string | null;
  here: SkillsHere;
  /** Where the files are laid. */
  folder: string;
  progress: (done: number) => void;
  signal: AbortSignal;
}

/** Copies the skills into quarantine one by one and says of each what it is, what is in it and how it stands to what is here. Nothing of them runs. */
export async function reportOn({ skills, onlyTop, here, folder, progress, signal }: ReportInput): Promise<Held[]> {
  const held: Held[] = [];
  const names = new Set<string>();
  let taken = 0;
  for (const [i, skill] of skills.entries()) {
    signal.throwIfAborted();
    progress(i);
    await yieldToOthers();
    const bytes = skill.files.reduce((sum, { entry }) => sum + entry.bytes, 0);
    const tooLarge = sizeProblem(skill, bytes);
    if (tooLarge === null) taken += bytes;
    if (taken > MAX_TAKEN_BYTES) throw new SkillImportError('invalid', 'The skills in it have more than 512 MB in all. Import them folder by folder.');
    const files = await readFiles(skill, tooLarge !== null);
    const one = await describe(skill, { files, bytes, tooLarge, category: categoryOf(skill.key, onlyTop), here, names });
    const target = one.refused === null || tooLarge === null ? join(folder, String(i)) : null;
    if (target !== null) for (const { path, bytes: content } of files) await lay(join(target, ...path.split('/')), content);
    names.add(one.name.toLowerCase());
    held.push({ found: one, folder: target, tree: treeOf(files), executables: new Set(files.filter(({ executable }) => executable).map(({ path }) => path)) });
  }
  progress(skills.length);
  return held;
}

function sizeProblem({ files, main }: FoundFolder, bytes: number): { file: string; message: string } | null {
  if (main.bytes > MAX_SKILL_MD_BYTES) return { file: MAIN_FILE, message: `SKILL.md has ${mb(main.bytes)}; a skill's text has at most 1 MB.` };
  if (files.length > MAX_SKILL_FILES) return { file: '', message: `It has ${files.length.toLocaleString('en')} files; a skill has at most ${MAX_SKILL_FILES}.` };
  const large = files.find(({ entry }) => entry.bytes > MAX_FILE_BYTES);
  if (large) return { file: large.path, message: `${named(large.path)} has ${mb(large.entry.bytes)}; a file of a skill has at most ${mb(MAX_FILE_BYTES)}.` };
  return bytes > MAX_SKILL_BYTES ? { file: '', message: `Its files have ${mb(bytes)} in all; a skill has at most ${mb(MAX_SKILL_BYTES)}.` } : null;
}

/** Of one that is too large only SKILL.md is read, for its name. */
async function readFiles({ files, main }: FoundFolder, onlyMain: boolean): Promise<SkillFileBytes[]> {
  if (onlyMain && main.bytes > MAX_SKILL_MD_BYTES) return [];
  const read = [];
  for (const { path, entry } of files) if (!onlyMain || path === MAIN_FILE) read.push({ path, bytes: await entry.read(), executable: entry.executable && path !== MAIN_FILE });
  return read;
}

interface Known {
  files: readonly SkillFileBytes[];
  bytes: number;
  tooLarge: { file: string; message: string } | null;
  category: string | null;
  here: SkillsHere;
  /** Of skills of this source before it. */
  names: ReadonlySet<string>;
}

async function describe(skill: FoundFolder, { files, bytes, tooLarge, category, here, names }: Known): Promise<FoundSkill> {
  const main = files.find(({ path }) => path === MAIN_FILE)?.bytes;
  const meta = metaOf(parseSkill(main?.toString('utf8') ?? ''));
  const folderName = skill.key === '.' ? '' : skill.key.slice(skill.key.lastIndexOf('/') + 1);
  const name = meta.name !== null && nameProblem(meta.name) === null ? meta.name : nameProblem(folderName.toLowerCase()) === null ? folderName.toLowerCase() : (meta.name ?? folderName).slice(0, 64);
  const said = main === undefined ? { verdict: 'safe' as const, findings: [], lint: [] } : inspect({ name, files, links: skill.links.slice(0, 20) });
  const size: Finding[] = tooLarge ? [{ severity: 'critical', category: 'structure', file: tooLarge.file, line: null, excerpt: '', message: tooLarge.message }] : [];
  const findings = [...size, ...said.findings];
  const verdict = tooLarge ? 'dangerous' : said.verdict;
  const refused = refusal(name, verdict, findings, said.lint);
  const existing = here.get(name);
  const compared = existing === null ? null : await here.compare(existing, files);
  const state = compared === null ? 'new' : compared.same ? 'same' : 'differs';
  const twice = names.has(name.toLowerCase());
  const suggested = refused !== null || verdict !== 'safe' || twice ? 'skip' : state === 'new' ? 'add' : state === 'differs' && compared?.edited === false ? 'replace' : 'skip';
  return {
    key: skill.key,
    name,
    category,
    description: (meta.description ?? '').slice(0, 1_024),
    version: meta.version,
    files: skill.files.length,
    bytes,
    verdict,
    findings,
    lint: said.lint,
    state,
    existing: existing && { id: existing.id, author: existing.author, edited: compared?.edited ?? true },
    refused,
    suggested,
    freeName: here.freeName(name, names),
  };
}

function refusal(name: string, verdict: Verdict, findings: readonly Finding[], lint: readonly Lint[]): string | null {
  const worst = findings.find((finding) => finding.severity === 'critical');
  if (verdict === 'dangerous') return `It is dangerous, and is not let in. ${worst ? `${worst.file === '' ? '' : `${worst.file}: `}${worst.message}` : ''}`.trim();
  const error = lint.find(({ severity }) => severity === 'error');
  if (error) return `Its SKILL.md cannot be used: ${error.message}`;
  const bad = nameProblem(name);
  return bad === null ? null : `It has no usable name. ${bad}`;
}

async function lay(file: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // never executable: nothing of it runs before a person has let it in
  await writeFile(file, bytes, { mode: 0o600, flag: 'wx' });
}

function mb(bytes: number): string {
  return `${(bytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}
