import { randomUUID } from 'node:crypto';
import { createRouterClient } from '@orpc/server';
import type { Client } from '#shared/contract/index.ts';
import type { RunSpec } from '#shared/contract/runs.ts';
import { type AppRouter, createRouter } from './api/router.ts';
import { DatasetService } from './batch/datasets.ts';
import { BatchService } from './batch/service.ts';
import { createOfflineModel } from './model/offline/offline-model.ts';
import { createOpenAiChatModel } from './model/openai-chat.ts';
import { listModels, testEndpoint } from './model/probe.ts';
import { OFFLINE_PROVIDER, PROVIDER_PRESETS } from './model/providers.ts';
import { createRateGate, type RateGate } from './model/rate-gate.ts';
import { realSleep } from './model/sleep.ts';
import type { ChatModel } from './model/types.ts';
import type { EnginePaths } from './paths.ts';
import type { EngineServices } from './services.ts';
import { StatusService } from './status.ts';
import { ConfigFile } from './store/config.ts';
import { emptiedStore, ensureHome, type HomePaths } from './store/home.ts';
import { acquireHome, type HomeLock } from './store/instance.ts';
import { type FileLogger, openLog } from './store/log.ts';
import { Readers } from './store/readers.ts';
import { Redactor, redactingLogger } from './store/redact.ts';
import { Secrets } from './store/secrets.ts';
import { SettingsService } from './store/settings.ts';
import { openStore, type Store, storeError } from './store/store.ts';
import type { HostKind, Keychain, Logger } from './store/types.ts';
import { ExportService } from './trajectories/export/service.ts';
import { LiveHub } from './trajectories/live.ts';
import { recoverTrajectories } from './trajectories/record.ts';

export interface EngineOptions {
  /** Absolute path of the Talaria home; made when missing. */
  home: string;
  host: HostKind;
  paths: EnginePaths;
  version: string;
  env: NodeJS.ProcessEnv;
  /** Only the desktop has one. */
  keychain?: Keychain;
  /** The host's own log; the engine also keeps one in the home. */
  log: Logger;
  /** Default folder of run outputs; `<home>/data` when absent. */
  outputDir?: string;
  /** Where this instance can be reached, noted for a second one. */
  address?: string;
}

export interface Engine {
  /** Differs after each start. */
  readonly epoch: string;
  readonly router: AppRouter;
  /** Calls without a transport, for the command line and tests. */
  readonly client: Client;
  readonly home: HomePaths;
  readonly lock: HomeLock;
  /** A run with a key that is given for this run only, never stored. */
  startRun(spec: RunSpec, key?: { apiKey?: string }): { id: string } | Promise<{ id: string }>;
  resumeRun(id: string, key?: { apiKey?: string }): unknown;
  /** Stops what runs (it can be resumed), closes the store and gives the home back. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * The composition root: takes the home, opens the store, mends what a crash left, builds the services.
 * Throws HomeBusyError when another instance holds the home, HomeError or StoreVersionError when it cannot be used.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const home = ensureHome(options.home);
  const lock = acquireHome(options.home, { host: options.host, address: options.address });
  try {
    return await compose(options, home, lock);
  } catch (error) {
    lock.release();
    throw storeError(options.home, error);
  }
}

async function compose(options: EngineOptions, home: HomePaths, lock: HomeLock): Promise<Engine> {
  const now = Date.now;
  const redactor = new Redactor(options.env);
  const file = openLog(home.logs, { redactor });
  const log = both(file, redactingLogger(options.log, redactor));
  const secrets = new Secrets({ paths: home, env: options.env, keychain: options.keychain, redactor, log });
  const settings = new SettingsService({
    home: home.root,
    config: new ConfigFile(home.config),
    secrets,
    presets: PROVIDER_PRESETS,
    listModels,
    testEndpoint,
  });
  const emptied = emptiedStore(home);
  if (emptied !== null) log.error(emptied);
  const store = openStore(home.root, options.paths);
  const exporter = new Readers(options.paths.reader, store.file, 1);
  const recovered = recoverTrajectories(store.db);
  if (recovered > 0) log.info(`${recovered} trajectories had been interrupted; they are in the Library.`);

  const hub = new LiveHub();
  const epoch = randomUUID();
  const runs = new BatchService({
    db: store.db,
    hub,
    now,
    log,
    home: home.root,
    resources: options.paths.resources,
    defaultOutputDir: options.outputDir ?? home.data,
    createModel: modelFactory(settings, secrets, options.paths.resources),
    redact: (text) => redactor.redactData(text),
  });
  runs.recover();

  const services: EngineServices = {
    info: { version: options.version, host: options.host, home: home.root, engineEpoch: epoch },
    store,
    hub,
    log,
    status: new StatusService(store.db, hub, now),
    settings,
    datasets: new DatasetService(home.uploads),
    runs,
    exports: new ExportService(home.exports, exporter),
  };
  const router = createRouter(services);
  let closing: Promise<void> | null = null;
  return {
    epoch,
    router,
    client: createRouterClient(router),
    home,
    lock,
    startRun: (spec, key) => runs.start(spec, key),
    resumeRun: (id, key) => runs.resume(id, key),
    close: () => (closing ??= shut({ runs, exporter, store, file, lock })),
  };
}

async function shut(parts: { runs: BatchService; exporter: Readers; store: Store; file: FileLogger; lock: HomeLock }): Promise<void> {
  await parts.runs.close();
  await parts.exporter.close();
  await parts.store.close();
  parts.file.close();
  parts.lock.release();
}

/** Models by run; runs on one endpoint slow down together on its rate limit. */
function modelFactory(settings: SettingsService, secrets: Secrets, resources: string) {
  const gates = new Map<string, RateGate>();
  return async (spec: RunSpec, key: { apiKey?: string } = {}): Promise<ChatModel> => {
    if (spec.provider === OFFLINE_PROVIDER && spec.baseUrl === undefined) return createOfflineModel({ resources });
    const endpoint = await settings.endpointFor(spec.provider, spec.model, spec.baseUrl);
    if (key.apiKey) {
      secrets.protect(key.apiKey);
      endpoint.apiKey = key.apiKey;
    }
    const gate = gates.get(endpoint.baseUrl) ?? createRateGate({ sleep: realSleep });
    gates.set(endpoint.baseUrl, gate);
    return createOpenAiChatModel(endpoint, { gate });
  };
}

function both(a: Logger, b: Logger): Logger {
  return {
    info: (message) => {
      a.info(message);
      b.info(message);
    },
    error: (message, error) => {
      a.error(message, error);
      b.error(message, error);
    },
  };
}
