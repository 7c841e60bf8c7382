import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type FakeModel, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import type { SessionState } from '#shared/contract/chats.ts';
import type { StoredMessage } from '#shared/trajectory.ts';
import { listModels, testEndpoint } from '../model/probe.ts';
import { PROVIDER_PRESETS } from '../model/providers.ts';
import { ModelService } from '../model/service.ts';
import type { Sleep } from '../model/sleep.ts';
import { SpendLedger } from '../model/spend.ts';
import { Approvals } from '../sandbox/approvals.ts';
import { Checkpoints } from '../sandbox/checkpoints.ts';
import { ConfigFile } from '../store/config.ts';
import { ensureHome } from '../store/home.ts';
import { Redactor } from '../store/redact.ts';
import { Secrets } from '../store/secrets.ts';
import { SettingsService } from '../store/settings.ts';
import { openStore } from '../store/store.ts';
import { LiveHub } from '../trajectories/live.ts';
import { recoverTrajectories } from '../trajectories/record.ts';
import { READER, RESOURCES } from '../trajectories/testing.ts';
import type { ChatDeps } from './deps.ts';
import type { ChatExtension } from './extensions.ts';
import { wholeHistory } from './history.ts';
import { ChatService } from './service.ts';

/** The provider of the fake model server in tests. */
export const FAKE = { provider: 'fake', model: 'fake-model' };

export interface TestHome {
  home: string;
  remove(): void;
}

/** A folder for a home; the caller removes it. */
export function testHome(): TestHome {
  const home = mkdtempSync(join(tmpdir(), 'talaria-chat-'));
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

export type ChatGround = Awaited<ReturnType<typeof openChats>>;

/** A chat service on a real store in `home`, as the engine starts it, with the provider `fake` at `baseUrl`. */
export async function openChats(home: string, baseUrl: string, options: { now?: () => number; config?: (file: ConfigFile) => void; sleep?: Sleep; extend?: (parts: ChatDeps & { config: ConfigFile; chats: () => ChatService }) => readonly ChatExtension[] } = {}) {
  const now = options.now ?? Date.now;
  const paths = ensureHome(home);
  const errors: string[] = [];
  const log = { info: () => {}, error: (message: string, error?: unknown) => void errors.push(`${message}: ${error instanceof Error ? error.stack : String(error)}`) };
  const config = new ConfigFile(paths.config);
  config.change([[['providers', 'fake', 'base_url'], baseUrl], [['chat', 'titles'], false]]);
  options.config?.(config);
  const redactor = new Redactor({});
  const secrets = new Secrets({ paths, env: {}, redactor, log });
  const settings = new SettingsService({ home, config, secrets, presets: PROVIDER_PRESETS, listModels, testEndpoint, findLocal: () => Promise.resolve([]) });
  const models = new ModelService({ settings, config, secrets, resources: RESOURCES, sleep: options.sleep ?? (() => Promise.resolve()) });
  const store = openStore(home, { resources: RESOURCES, reader: READER });
  recoverTrajectories(store.db);
  const hub = new LiveHub();
  const spend = new SpendLedger({ db: store.db, config, now });
  const approvals = new Approvals({ config });
  const checkpoints = new Checkpoints({ db: store.db, folder: join(home, 'checkpoints'), now, log });
  const parts: ChatDeps = { db: store.db, readers: store.readers, hub, now, log, home: paths, config, models, spend, approvals, checkpoints };
  const extensions = options.extend?.({ ...parts, config, chats: () => chats }) ?? [];
  const chats: ChatService = new ChatService({ ...parts, extensions });
  await chats.recover();
  return {
    chats,
    store,
    hub,
    config,
    errors,
    /** Reads the whole trajectory of the branch that is shown. */
    messages(id: string): StoredMessage[] {
      const { tip } = chats.get({ id });
      return tip === null ? [] : wholeHistory(store.db, tip);
    },
    /** Resolves with the first state that fits. */
    async until(id: string, fits: (state: SessionState) => boolean): Promise<SessionState> {
      const abort = new AbortController();
      try {
        for await (const state of chats.watch({ id }, abort.signal)) if (fits(state)) return state;
      } finally {
        abort.abort();
      }
      throw new Error('The session ended before it came to that state');
    },
    async close(): Promise<void> {
      await chats.close();
      await store.close();
    },
    /** What is left when the process is killed: nothing is ended, the file is as it is. */
    async kill(): Promise<void> {
      await store.close();
    },
  };
}

/** The turn has ended. */
export const idle = (state: SessionState): boolean => state.session.state === 'idle' && state.session.exitReason !== null;

/**
 * Gives each test of a file a model, a home and its chats, and ends them after it.
 * @param current the chats at the end of a test, which may have opened them anew
 */
export function eachWithChats(take: (ground: { fake: FakeModel; home: TestHome; t: ChatGround }) => void, current: () => ChatGround): void {
  let fake: FakeModel;
  let home: TestHome;
  beforeEach(async () => {
    fake = await startFakeModel();
    home = testHome();
    take({ fake, home, t: await openChats(home.home, fake.url) });
  });
  afterEach(async () => {
    await current().close();
    await fake.close();
    home.remove();
  });
}
