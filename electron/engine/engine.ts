import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import type { AdoptEvent } from '#shared/contract/adopt.ts';
import type { CompressorEvent, CompressorRequest } from '#shared/contract/compressor.ts';
import type { Client } from '#shared/contract/index.ts';
import type { RunSpec, RunSummary } from '#shared/contract/runs.ts';
import type { AgentSpec } from './agent/types.ts';
import { type AppRouter, createRouter } from './api/router.ts';
import { CompressorService } from './batch/compressor/service.ts';
import { DatasetService } from './batch/datasets.ts';
import { dockerMissing } from './batch/plan/docker.ts';
import { DistributionService } from './batch/plan/distributions.ts';
import { PlanService } from './batch/plan/service.ts';
import { AdoptService } from './batch/adopt/service.ts';
import { FilterService } from './batch/filters/service.ts';
import { BatchService } from './batch/service.ts';
import type { ChatExtension } from './chat/extensions.ts';
import { ChatService } from './chat/service.ts';
import { DelegationService } from './delegation/service.ts';
import { TaskService } from './delegation/tasks.ts';
import { MemoryFiles } from './memory/files.ts';
import { findLocalServers } from './model/local-servers.ts';
import { listModels, testEndpoint } from './model/probe.ts';
import { PROVIDER_PRESETS } from './model/providers.ts';
import { choiceOfRun, RUN_PATIENCE_MS } from './model/run-model.ts';
import { ModelService } from './model/service.ts';
import { findPrice } from './model/prices.ts';
import { SpendLedger } from './model/spend.ts';
import type { ChatModel } from './model/types.ts';
import type { EnginePaths } from './paths.ts';
import { Approvals } from './sandbox/approvals.ts';
import { sandboxAvailability } from './sandbox/bubblewrap.ts';
import { Checkpoints } from './sandbox/checkpoints.ts';
import { endLeftovers } from './sandbox/processes.ts';
import { ScoresService } from './rewards/service.ts';
import type { EngineServices } from './services.ts';
import { ReviewService } from './review/service.ts';
import { SkillImportService } from './skills/import/service.ts';
import { TrialService } from './skills/trials/service.ts';
import { skillsInChats } from './skills/extension.ts';
import { SkillLibrary } from './skills/library.ts';
import { SkillService } from './skills/service.ts';
import { SkillTextSearch } from './skills/text-search.ts';
import { StatusService } from './status.ts';
import { ConfigFile } from './store/config.ts';
import { sqlFor } from './store/database.ts';
import { emptiedStore, ensureHome, type HomePaths } from './store/home.ts';
import { acquireHome, type HomeLock } from './store/instance.ts';
import { type FileLogger, openLog } from './store/log.ts';
import { PreferencesService } from './store/preferences.ts';
import { Readers } from './store/readers.ts';
import { Redactor, redactingLogger } from './store/redact.ts';
import { Secrets } from './store/secrets.ts';
import { SettingsService } from './store/settings.ts';
import { openStore, type Store, storeError } from './store/store.ts';
import type { HostKind, Keychain, Logger } from './store/types.ts';
import { ExportService } from './trajectories/export/service.ts';
import { servicesOfChats, servicesOfRollouts } from './tools/configured.ts';
import { ToolsService } from './tools/service.ts';
import { availableToolsets } from './tools/toolsets.ts';
import { PageConverter } from './tools/web/converter.ts';
import { createWebService } from './tools/web/service.ts';
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

/** What one call gives beside the run's own options. */
export interface RunCall {
  /** Used for this pass and stored nowhere. */
  apiKey?: string;
  changes?: Partial<RunSpec>;
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
  /** Goes on with a run; limits that are among `changes` are new ones. */
  resumeRun(id: string, call?: RunCall): Promise<RunSummary>;
  /** Runs what failed, or what was discarded, again. */
  retryRun(id: string, what: 'failed' | 'discarded', call?: RunCall): unknown;
  /** Takes over a run of Hermes Agent. Ending the iteration, or `signal`, before it is done leaves nothing. */
  adoptRun(folder: string, spec: RunSpec, key?: { apiKey?: string }, signal?: AbortSignal): AsyncGenerator<AdoptEvent>;
  /** The trajectory compressor. Ending the iteration, or `signal`, cancels. */
  compress(request: CompressorRequest, key?: { apiKey?: string }, signal?: AbortSignal): AsyncGenerator<CompressorEvent>;
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
  const config = new ConfigFile(home.config);
  const settings = new SettingsService({
    home: home.root,
    config,
    secrets,
    presets: PROVIDER_PRESETS,
    listModels,
    testEndpoint,
    findLocal: findLocalServers,
  });
  const emptied = emptiedStore(home);
  if (emptied !== null) log.error(emptied);
  const store = openStore(home.root, options.paths);
  const exporter = new Readers(options.paths.reader, store.file, 1);
  const recovered = recoverTrajectories(store.db);
  if (recovered > 0) log.info(`${recovered} trajectories had been interrupted; they are in the Library.`);

  const leftovers = await endLeftovers();
  if (leftovers > 0) log.info(`${leftovers} processes of commands were still running from a Talaria that was killed; they were ended.`);

  const hub = new LiveHub();
  const epoch = randomUUID();
  const models = new ModelService({ settings, config, secrets, resources: options.paths.resources });
  const spend = new SpendLedger({ db: store.db, config, now, listPrice: (provider, model) => models.listedPrice(provider, model) });
  const redact = Object.assign((text: string) => redactor.redactData(text), { openEnd: (text: string) => redactor.openEndOfData(text) });
  const pages = new PageConverter(options.paths.reader, store.file);
  const web = createWebService({ config, secrets, version: options.version, toMarkdown: (page, signal) => pages.convert(page, signal) });
  const rolloutTools = () => servicesOfRollouts(web, config.read().vision.model);
  const runs = new BatchService({
    db: store.db,
    hub,
    spend,
    now,
    log,
    home: home.root,
    resources: options.paths.resources,
    defaultOutputDir: options.outputDir ?? home.data,
    createModel: (spec, key) => models.create(choiceOfRun(spec), { ...key, patienceMs: RUN_PATIENCE_MS }),
    contextLength: (provider, model) => models.contextLength(provider, model),
    compression: () => compressionOf(config),
    distributions: () => config.read().distributions,
    toolServices: rolloutTools,
    visionModel: () => visionModel(models, config, log),
    redact,
  });
  runs.recover();
  const distributions = new DistributionService({ config, available: () => availableToolsets(rolloutTools()) });
  const plans = new PlanService({
    home: home.root,
    defaultOutputDir: options.outputDir ?? home.data,
    demoDataset: join(options.paths.resources, 'demo', 'prompts.jsonl'),
    runNamed: (name) => store.db.get(sqlFor.selectFrom('runs').select('state').where('name', '=', name))?.state ?? null,
    providers: () => settings.get().providers,
    createModel: (spec, key) => models.create(choiceOfRun(spec), key),
    dockerMissing,
    distributions,
    toolServices: rolloutTools,
    async price(provider, model) {
      const own = findPrice(config.read().prices, provider, model);
      if (own === null) await models.contextLength(provider, model);
      return own ?? models.listedPrice(provider, model);
    },
  });

  const approvals = new Approvals({ config });
  const skills = new SkillLibrary({ db: store.db, home, config, now, log, env: options.env });
  const mended = await skills.recover();
  if (mended > 0) log.info(`${mended} changes of skills that were begun before Talaria ended were finished.`);
  const skillImports = new SkillImportService({ db: store.db, library: skills, quarantine: join(home.root, 'quarantine'), exportsFolder: home.exports, env: options.env, log });
  await skillImports.recover();
  const checkpoints = new Checkpoints({ db: store.db, folder: join(home.root, 'checkpoints'), now, log });
  const memory = new MemoryFiles({ db: store.db, folder: home.memories, config, now, log });
  const delegations: DelegationService = new DelegationService({
    db: store.db, hub, now, log, home, config, models, spend, approvals, redact,
    skillsFor: (of) => skills.toolsFor({ author: 'agent', ...of }),
    chats: () => chats,
  });
  const reviews = new ReviewService({ db: store.db, hub, now, log, home: home.root, config, models, spend, skills, memory, redact, toolServices: { web, searchSessions: (input) => store.readers.run('sessions', { ...input, without: null }) } });
  const extensions: ChatExtension[] = [skillsInChats(skills, now), memory.extension(), reviews.extension(), delegations.extension()];
  const chats: ChatService = new ChatService({ db: store.db, readers: store.readers, hub, now, log, home, config, models, spend, approvals, checkpoints, toolServices: { web }, extensions, redact });
  await chats.recover();
  // a command line ends with its command: it begins no turns
  delegations.recover({ deliver: options.host !== 'cli' });
  const interrupted = reviews.recover();
  if (interrupted > 0) log.info(`${interrupted} reviews had been running; they are in Reviews with what they had done.`);
  if (options.host !== 'cli') reviews.begin();
  const tools = new ToolsService({ config, secrets, services: () => servicesOfChats(web, { memory: memory.enabled }), approvals, sandboxes: sandboxAvailability, trySearch: web.trySearch, now });

  const tasks = new TaskService({ db: store.db, chats });

  const trials = new TrialService({
    db: store.db,
    hub,
    spend,
    library: skills,
    now,
    log,
    folder: join(home.root, 'trials'),
    hidden: [home.root],
    redact,
    toolServices: rolloutTools,
    createModel: (choice) => models.create(choice, { patienceMs: RUN_PATIENCE_MS }),
    contextLength: (provider, model) => models.contextLength(provider, model),
    compression: () => compressionOf(config),
    price: async (provider, model) => {
      const own = findPrice(config.read().prices, provider, model);
      if (own === null) await models.contextLength(provider, model);
      return own ?? models.listedPrice(provider, model);
    },
  });
  trials.recover();

  const exports = new ExportService(home.exports, exporter);
  const services: EngineServices = {
    info: { version: options.version, host: options.host, home: home.root, engineEpoch: epoch },
    store,
    hub,
    log,
    status: new StatusService({ db: store.db, hub, spend, chatsWaiting: () => chats.waiting(), tasks: () => tasks.counts(), reviews: () => reviews.counts() }),
    settings,
    datasets: new DatasetService(home.uploads),
    runs,
    adopt: new AdoptService({ db: store.db, now, start: (spec, key, prepare) => runs.start(spec, key, prepare) }),
    filters: new FilterService({ db: store.db, now, atRest: (id, work) => runs.atRest(id, work) }),
    plans,
    distributions,
    exports,
    compressor: new CompressorService({
      createModel: (choice, key) => models.create(choice, { ...key, patienceMs: RUN_PATIENCE_MS }),
      spend,
      run: (id) => runs.get(id),
      exportRows: (request, signal) => exports.run(request, signal),
      exportsFolder: home.exports,
      now,
    }),
    chats,
    tasks,
    delegations,
    tools,
    spend,
    preferences: new PreferencesService(config),
    skills: new SkillService(skills),
    skillTexts: new SkillTextSearch(skills),
    skillImports,
    trials,
    memory,
    scores: new ScoresService({ db: store.db, home: home.root, now, atRest: (id, work) => runs.atRest(id, work), changed: () => hub.listChanged() }),
    reviews,
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
    resumeRun: (id, call) => runs.resume(id, call),
    retryRun: (id, what, call) => runs.retry({ id, what }, call),
    adoptRun: (folder, spec, key, signal) => services.adopt.run({ folder, spec }, signal, key),
    compress: (request, key, signal) => services.compressor.run(request, signal, key),
    close: () => (closing ??= shut({ runs, trials, reviews, delegations, chats, pages, exporter, store, file, lock })),
  };
}

async function shut(parts: { runs: BatchService; trials: TrialService; reviews: ReviewService; delegations: DelegationService; chats: ChatService; pages: PageConverter; exporter: Readers; store: Store; file: FileLogger; lock: HomeLock }): Promise<void> {
  await parts.reviews.close();
  await Promise.all([parts.runs.close(), parts.trials.close(), parts.delegations.close(), parts.chats.close()]);
  await parts.pages.close();
  await parts.exporter.close();
  await parts.store.close();
  parts.file.close();
  parts.lock.release();
}

/** `vision.model` of config.yaml; null when there is none or it cannot be used. */
async function visionModel(models: ModelService, config: ConfigFile, log: Logger): Promise<ChatModel | null> {
  const route = config.read().vision.model;
  if (route === undefined) return null;
  try {
    return await models.create(models.parse(route), { patienceMs: RUN_PATIENCE_MS });
  } catch (error) {
    log.error(`Pictures are not looked at in batch runs: the model ${route} (vision.model in config.yaml) cannot be used`, error);
    return null;
  }
}

/** `compression:` of config.yaml; undefined when it is off. */
function compressionOf(config: ConfigFile): AgentSpec['compression'] {
  const { enabled, threshold, target_ratio, protect_last_n } = config.read().compression;
  return enabled ? { threshold, tailRatio: target_ratio, protectLast: protect_last_n } : undefined;
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
