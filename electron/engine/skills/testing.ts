import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { READER, RESOURCES } from '../trajectories/testing.ts';
import { ConfigFile } from '../store/config.ts';
import { ensureHome } from '../store/home.ts';
import { openStore } from '../store/store.ts';
import type { ToolContext } from '../tools/types.ts';
import { SkillLibrary } from './library.ts';
import { SkillService } from './service.ts';
import type { ChangeBy, SkillDeps } from './types.ts';

export const PERSON: ChangeBy = { author: 'person', trajectoryId: null, reviewId: null, reason: '' };
export const AGENT: ChangeBy = { author: 'agent', trajectoryId: 't1', reviewId: null, reason: '' };

export function skillText(name: string, body = 'Do it.', description = `All about ${name}, and when it is of use`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
}

export type SkillGround = Awaited<ReturnType<typeof openSkills>>;

/** A library on a real home, as the engine opens it, for tests. `home` goes on with an earlier one. */
export async function openSkills(more: Partial<SkillDeps> & { at?: string } = {}) {
  const root = more.at ?? mkdtempSync(join(tmpdir(), 'talaria-skills-'));
  const home = ensureHome(join(root, 'home'));
  const store = openStore(home.root, { resources: RESOURCES, reader: READER });
  const config = new ConfigFile(home.config);
  const errors: string[] = [];
  const log = { info: () => undefined, error: (message: string, error?: unknown) => void errors.push(`${message}: ${String(error)}`) };
  const library = new SkillLibrary({ db: store.db, home, config, now: Date.now, log, env: {}, platform: 'linux', ...more });
  const recovered = await library.recover();
  return {
    root,
    home,
    store,
    config,
    library,
    recovered,
    errors,
    service: new SkillService(library),
    /** Writes a file below the skills of the home, as another program would. */
    put(path: string, content: string | Buffer): string {
      const file = join(home.skills, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    async close({ keep = false } = {}): Promise<void> {
      await store.close();
      if (!keep) rmSync(root, { recursive: true, force: true });
    },
  };
}

/** The context of a tool call, for what asks the person. */
export function contextOf(approve?: ToolContext['approve']): ToolContext {
  return { sandbox: {} as ToolContext['sandbox'], callId: 'call', services: {}, signal: new AbortController().signal, state: new Map(), show: () => undefined, onOutput: () => undefined, ...(approve ? { approve } : {}) };
}
