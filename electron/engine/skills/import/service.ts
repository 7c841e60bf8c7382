import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ChangedFile } from '#shared/contract/skills.ts';
import type { ImportChoice, ImportEvent, ImportReport, ImportResult, ImportSource, Peer, SkillExport } from '#shared/contract/skill-imports.ts';
import { withProgress } from '../../batch/progress.ts';
import { removeFolder } from '../../sandbox/remove.ts';
import type { Database } from '../../store/database.ts';
import type { Logger } from '../../store/types.ts';
import { exportSkills } from '../export/export.ts';
import type { SkillLibrary } from '../library.ts';
import { SkillImportError } from './errors.ts';
import { findSkills, onlyTopOf } from './find.ts';
import { openFolder } from './folder.ts';
import { checkGitPlace, fetchGit, hasGit } from './git.ts';
import { SkillsHere } from './here.ts';
import { findPeers, isFolder, peerFolders } from './peers.ts';
import { Quarantine } from './quarantine.ts';
import { type Held, reportOn } from './report.ts';
import { badPath, type OpenSource } from './source.ts';
import { take } from './take.ts';
import { changesBetween, readSkillFolder } from './tree.ts';
import { openZip } from './zip.ts';

/** Reports that wait for an answer; the oldest makes room. */
const MAX_WAITING = 8;

export interface SkillImportDeps {
  db: Database;
  library: Pick<SkillLibrary, 'list' | 'adopt' | 'revert'>;
  /** Absolute: what is fetched lies here until it was taken or is given up. */
  quarantine: string;
  exportsFolder: string;
  env: NodeJS.ProcessEnv;
  /** The person's home, where other programs keep their skills. */
  userHome?: string;
  log: Logger;
}

type Progress = Extract<ImportEvent, { type: 'progress' }>;
type Say = (stage: Progress['stage'], done: number, total: number, text?: string) => void;

interface Waiting {
  report: ImportReport;
  held: Held[];
  busy: boolean;
}

/** Skills from elsewhere: fetched into quarantine, reported on, and taken as the person chooses. And the way out: as a zip file. Expected failures are SkillImportErrors. */
export class SkillImportService {
  readonly #deps: SkillImportDeps;
  readonly #quarantine: Quarantine;
  readonly #waiting = new Map<string, Waiting>();

  constructor(deps: SkillImportDeps) {
    this.#deps = deps;
    this.#quarantine = new Quarantine(deps.quarantine);
  }

  /** Removes what a killed engine left in quarantine. Call once, before anything else. */
  async recover(): Promise<void> {
    const left = await this.#quarantine.empty();
    if (left > 0) this.#deps.log.info(`${left} imports of skills had not been decided; they were removed from quarantine.`);
  }

  async sources(): Promise<{ git: boolean; peers: { peer: Peer; folders: string[]; skills: number }[] }> {
    const [git, peers] = await Promise.all([hasGit(), findPeers(this.#home, this.#deps.env)]);
    return { git, peers };
  }

  stage(piece: { id?: string | undefined; path: string; chunk: string; first: boolean }): Promise<{ id: string }> {
    return this.#quarantine.stage(piece);
  }

  async *scan(source: ImportSource, signal?: AbortSignal): AsyncGenerator<ImportEvent> {
    const report = yield* withProgress<Progress, ImportReport>((progress, stop) => this.#scan(source, (stage, done, total, text = '') => progress({ type: 'progress', stage, done, total, text }), stop), signal);
    yield { type: 'done', report };
  }

  /** Of a found skill against the one of its name that is here; against nothing where it is new. */
  async diff({ id, key }: { id: string; key: string }): Promise<{ files: ChangedFile[] }> {
    const one = this.#get(id).held.find(({ found }) => found.key === key);
    if (!one || one.folder === null) throw new SkillImportError('not_found', 'There is nothing to be shown of this skill.');
    const existing = one.found.existing && (await this.#deps.library.list()).find((skill) => skill.id === one.found.existing?.id);
    return { files: changesBetween(existing ? await readSkillFolder(existing.folder) : [], await readSkillFolder(one.folder)) };
  }

  /** Takes what was chosen. The report stays only while something of it failed. */
  async apply({ id, choices }: { id: string; choices: readonly ImportChoice[] }): Promise<{ results: ImportResult[] }> {
    const waiting = this.#get(id);
    if (waiting.busy) throw new SkillImportError('conflict', 'These skills are being imported already.');
    waiting.busy = true;
    try {
      const results: ImportResult[] = [];
      for (const choice of choices) {
        const held = waiting.held.find(({ found }) => found.key === choice.key);
        if (!held) throw new SkillImportError('invalid', `There is no skill "${choice.key.slice(0, 100)}" in this import.`);
        results.push(await take(held, choice, this.#deps.library, waiting.report.source));
      }
      if (!results.some((result) => result.outcome === 'failed')) await this.discard(id);
      return { results };
    } finally {
      waiting.busy = false;
    }
  }

  /** Newest first, so that a skill that was imported twice comes to what it was before both. */
  async undo(versionIds: readonly number[]): Promise<{ undone: number; failed: { versionId: number; message: string }[] }> {
    const failed: { versionId: number; message: string }[] = [];
    for (const versionId of [...new Set(versionIds)].sort((a, b) => b - a)) {
      await this.#deps.library.revert(versionId, { author: 'person', trajectoryId: null, reviewId: null, reason: 'The import was taken back', consent: true }).catch((error: unknown) => {
        if (typeof (error as { code?: unknown }).code !== 'string') throw error;
        failed.push({ versionId, message: (error as Error).message });
      });
    }
    return { undone: new Set(versionIds).size - failed.length, failed };
  }

  async discard(id: string): Promise<Record<string, never>> {
    this.#waiting.delete(id);
    await this.#quarantine.remove(id);
    return {};
  }

  async export({ ids, file }: { ids: readonly string[]; file?: string | undefined }): Promise<SkillExport> {
    return exportSkills({ skills: await this.#deps.library.list(), ids, folder: this.#deps.exportsFolder, file });
  }

  async #scan(source: ImportSource, say: Say, signal: AbortSignal): Promise<ImportReport> {
    const { id, folder } = await this.#quarantine.make();
    try {
      const opened = await this.#open(source, folder, say, signal);
      try {
        const { skills, problems } = findSkills(opened.entries, opened.below);
        if (skills.length === 0) throw new SkillImportError('invalid', `There is no skill in ${opened.name}: no folder in it has a file SKILL.md.${problems[0] ? ` ${problems[0].message}` : ''}`);
        const here = new SkillsHere(this.#deps.db, await this.#deps.library.list());
        const held = await reportOn({ skills, onlyTop: source.kind === 'zip' || source.kind === 'staged' ? onlyTopOf(opened.entries, skills) : null, here, folder: join(folder, 'skills'), progress: (done) => say('checking', done, skills.length), signal });
        const report: ImportReport = { id, source: opened.name, commit: opened.commit, items: held.map(({ found }) => found), problems: [...opened.problems, ...problems].slice(0, 200) };
        await this.#keep(id, { report, held, busy: false });
        return report;
      } finally {
        await opened.close();
        await removeFolder(join(folder, 'source'));
        if (source.kind === 'staged') await this.#quarantine.remove(source.id).catch(() => undefined);
      }
    } catch (error) {
      await this.#quarantine.remove(id).catch((left: unknown) => this.#deps.log.error('An import could not be removed from quarantine', left));
      throw error;
    }
  }

  async #open(source: ImportSource, folder: string, say: Say, signal: AbortSignal): Promise<OpenSource & { name: string; commit: string | null; below: string }> {
    const plain = { commit: null, below: '' };
    switch (source.kind) {
      case 'folder':
        say('copying', 0, 0);
        return { ...(await openFolder(source.path, signal)), ...plain, name: source.path };
      case 'staged':
        say('copying', 0, 0);
        return { ...(await openFolder(await this.#quarantine.staged(source.id), signal)), ...plain, name: 'the dropped folder' };
      case 'zip':
        say('unpacking', 0, 0);
        return { ...(await openZip(source.path, signal)), ...plain, name: source.path.split(/[/\\]/).at(-1) ?? source.path };
      case 'peer':
        say('copying', 0, 0);
        return { ...(await this.#openPeer(source.peer, signal)), ...plain, name: PEER_NAMES[source.peer] };
      case 'git': {
        const below = source.folder.replace(/^[./]+|\/+$/g, '');
        if (below !== '' && badPath(below) !== null) throw new SkillImportError('invalid', 'Give a folder inside the repository, such as skills/pdf.', { field: 'folder' });
        checkGitPlace(source);
        say('fetching', 0, 0);
        const commit = await fetchGit(source, join(folder, 'source'), (text) => say('fetching', 0, 0, text), signal);
        return { ...(await openFolder(join(folder, 'source'), signal)), name: `${source.url.trim()} at ${commit.slice(0, 12)}`, commit, below };
      }
    }
  }

  /** The folders of a peer as one source, each below a name of its own. */
  async #openPeer(peer: Peer, signal: AbortSignal): Promise<OpenSource> {
    const folders = [];
    for (const folder of peerFolders(this.#home, this.#deps.env)[peer]) if (await isFolder(folder)) folders.push(folder);
    if (folders.length === 0) throw new SkillImportError('not_found', `${PEER_NAMES[peer]} has no skills folder on this machine.`);
    const all: OpenSource = { entries: [], problems: [], close: () => undefined };
    for (const [i, folder] of folders.entries()) {
      const { entries, problems } = await openFolder(folder, signal);
      // "skills" says where the order of the source ends and that of its skills begins
      const prefix = i === 0 ? 'skills' : `${folder.split(/[/\\]/).at(-1)}-${i + 1}`;
      all.entries.push(...entries.map((entry) => ({ ...entry, path: `${prefix}/${entry.path}` })));
      all.problems.push(...problems);
    }
    return all;
  }

  async #keep(id: string, waiting: Waiting): Promise<void> {
    this.#waiting.set(id, waiting);
    const oldest = [...this.#waiting].find(([, one]) => !one.busy)?.[0];
    if (this.#waiting.size > MAX_WAITING && oldest !== undefined) await this.discard(oldest);
  }

  #get(id: string): Waiting {
    const waiting = this.#waiting.get(id);
    if (!waiting) throw new SkillImportError('not_found', 'This import is no longer there. Begin again.');
    return waiting;
  }

  get #home(): string {
    return this.#deps.userHome ?? homedir();
  }
}

const PEER_NAMES: Record<Peer, string> = { hermes: 'Hermes Agent', openclaw: 'OpenClaw', claude: 'Claude Code' };
