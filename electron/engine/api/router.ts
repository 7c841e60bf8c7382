import { implement, ORPCError } from '@orpc/server';
import { contract } from '#shared/contract/index.ts';
import type { EngineServices } from '../services.ts';
import { getContent, getDetail, getMessages, listTrajectories, pageMessages } from '../trajectories/query.ts';
import { toContractError } from './errors.ts';

/** The whole API: contract in, service calls out, expected failures as the contract's errors. No behaviour of its own. */
export function createRouter(s: EngineServices) {
  const api = implement(contract).use(async ({ next }) => {
    try {
      return await next();
    } catch (error) {
      const known = toContractError(error);
      if (!(known instanceof ORPCError)) s.log.error('A request failed unexpectedly', error);
      throw known;
    }
  });
  const detailOf = (id: string) => {
    const detail = getDetail(s.store.db, id);
    if (!detail) throw new ORPCError('NOT_FOUND', { defined: true, message: 'This trajectory is no longer in the store.' });
    return detail;
  };
  const runGone = (): never => {
    throw new ORPCError('NOT_FOUND', { defined: true, message: 'This run is no longer in the store.' });
  };

  return api.router({
    app: {
      info: api.app.info.handler(() => s.info),
      status: api.app.status.handler(({ signal }) => guarded(s.status.watch(signal))),
    },
    settings: {
      get: api.settings.get.handler(() => s.settings.get()),
      update: api.settings.update.handler(({ input }) => s.settings.update(input)),
      saveProvider: api.settings.saveProvider.handler(({ input }) => s.settings.saveProvider(input)),
      removeProvider: api.settings.removeProvider.handler(({ input }) => s.settings.removeProvider(input.id)),
      testProvider: api.settings.testProvider.handler(({ input, signal }) => s.settings.testProvider(input, signal)),
      models: api.settings.models.handler(({ input, signal }) => s.settings.models(input.provider, signal)),
      findLocal: api.settings.findLocal.handler(({ signal }) => s.settings.findLocal(signal)),
    },
    datasets: {
      inspect: api.datasets.inspect.handler(({ input, signal }) => s.datasets.inspect(input, signal)),
      upload: api.datasets.upload.handler(({ input }) => s.datasets.upload(input)),
    },
    runs: {
      list: api.runs.list.handler(() => ({ items: s.runs.list() })),
      get: api.runs.get.handler(({ input }) => s.runs.get(input.id)),
      start: api.runs.start.handler(({ input }) => s.runs.start(input)),
      pause: api.runs.pause.handler(({ input }) => s.runs.pause(input.id)),
      resume: api.runs.resume.handler(({ input }) => s.runs.resume(input.id, input.budgetUsd === undefined ? {} : { changes: { budgetUsd: input.budgetUsd ?? undefined } })),
      retry: api.runs.retry.handler(({ input }) => s.runs.retry(input)),
      cancel: api.runs.cancel.handler(({ input }) => s.runs.cancel(input.id)),
      remove: api.runs.remove.handler(({ input }) => s.runs.remove(input.id)),
      prompts: api.runs.prompts.handler(({ input }) => s.runs.prompts(input)),
      watch: api.runs.watch.handler(({ input, signal }) => guarded(s.runs.watch(input.id, signal))),
      options: api.runs.options.handler(() => s.runs.options()),
    },
    plans: {
      dryRun: api.plans.dryRun.handler(({ input }) => s.plans.dryRun(input)),
      readRunFile: api.plans.readRunFile.handler(async ({ input }) => {
        const { values } = await s.plans.readRunFile(input);
        return { values: values as Record<string, string> };
      }),
      runFile: api.plans.runFile.handler(({ input }) => s.plans.runFile(input)),
    },
    distributions: {
      list: api.distributions.list.handler(() => s.distributions.list()),
      preview: api.distributions.preview.handler(({ input }) => s.distributions.preview(input)),
      save: api.distributions.save.handler(({ input }) => s.distributions.save(input)),
      remove: api.distributions.remove.handler(({ input }) => s.distributions.remove(input)),
    },
    dashboards: {
      get: api.dashboards.get.handler(async ({ input }) => (await s.store.readers.run('dashboard', input)) ?? runGone()),
      compare: api.dashboards.compare.handler(async ({ input }) => (await s.store.readers.run('compare', input)) ?? runGone()),
    },
    adopt: {
      inspect: api.adopt.inspect.handler(({ input }) => s.adopt.inspect(input)),
      run: api.adopt.run.handler(({ input, signal }) => guarded(s.adopt.run(input, signal))),
    },
    filters: {
      preview: api.filters.preview.handler(({ input, signal }) => guarded(s.filters.preview(input, signal))),
      refilter: api.filters.refilter.handler(({ input, signal }) => guarded(s.filters.refilter(input, signal))),
      keep: api.filters.keep.handler(({ input }) => s.filters.keep(input)),
      unkeep: api.filters.unkeep.handler(({ input }) => s.filters.unkeep(input)),
    },
    trajectories: {
      // searches and lists by reward run in a reader; a plain page is cheaper here than the hop
      list: api.trajectories.list.handler(({ input }) =>
        input.filter.query || input.sort !== 'newest' ? s.store.readers.run('list', input) : listTrajectories(s.store.db, input.filter, input),
      ),
      counts: api.trajectories.counts.handler(({ input }) => s.store.readers.run('counts', input)),
      get: api.trajectories.get.handler(({ input }) => detailOf(input.id)),
      messages: api.trajectories.messages.handler(({ input }) => {
        return pageMessages(s.store.db, detailOf(input.id).n, input);
      }),
      content: api.trajectories.content.handler(({ input }) => {
        const content = getContent(s.store.db, detailOf(input.id).n, input.seq);
        if (content === undefined) throw new ORPCError('NOT_FOUND', { defined: true, message: 'This message is no longer in the store.' });
        return { content };
      }),
      raw: api.trajectories.raw.handler(async ({ input }) => {
        detailOf(input.id);
        return (await s.store.readers.run('raw', input)) ?? { json: '', truncated: false };
      }),
      subscribe: api.trajectories.subscribe.handler(({ input, signal }) => {
        const { n } = detailOf(input.id);
        const stored = () => getMessages(s.store.db, n, input.since, Number.MAX_SAFE_INTEGER);
        return guarded(s.hub.subscribe(input.id, input.since, stored, () => detailOf(input.id), signal));
      }),
      changes: api.trajectories.changes.handler(({ signal }) => guarded(s.status.watchTrajectories(signal))),
    },
    exports: {
      run: api.exports.run.handler(({ input, signal }) => guarded(s.exports.run(input, signal))),
      preview: api.exports.preview.handler(({ input, signal }) => s.exports.preview(input, signal)),
      folder: api.exports.folder.handler(() => ({ path: s.exports.folder })),
    },
    compressor: {
      run: api.compressor.run.handler(({ input, signal }) => guarded(s.compressor.run(input, signal))),
      preview: api.compressor.preview.handler(({ input, signal }) => s.compressor.preview(input, signal)),
    },
    chats: {
      list: api.chats.list.handler(({ input }) => s.chats.list(input)),
      create: api.chats.create.handler(({ input }) => s.chats.create(input)),
      get: api.chats.get.handler(({ input }) => s.chats.get(input)),
      configure: api.chats.configure.handler(({ input }) => s.chats.configure(input)),
      send: api.chats.send.handler(({ input }) => s.chats.send(input)),
      unqueue: api.chats.unqueue.handler(({ input }) => s.chats.unqueue(input)),
      stop: api.chats.stop.handler(({ input }) => s.chats.stop(input)),
      killProcess: api.chats.killProcess.handler(({ input }) => s.chats.killProcess(input)),
      answer: api.chats.answer.handler(({ input }) => s.chats.answer(input)),
      edit: api.chats.edit.handler(({ input }) => s.chats.edit(input)),
      retry: api.chats.retry.handler(({ input }) => s.chats.retry(input)),
      undo: api.chats.undo.handler(({ input }) => s.chats.undo(input)),
      branch: api.chats.branch.handler(({ input }) => s.chats.branch(input)),
      fork: api.chats.fork.handler(({ input }) => s.chats.fork(input)),
      compress: api.chats.compress.handler(({ input }) => s.chats.compress(input)),
      draft: api.chats.draft.handler(({ input }) => s.chats.draft(input)),
      rename: api.chats.rename.handler(({ input }) => s.chats.rename(input)),
      mark: api.chats.mark.handler(({ input }) => s.chats.mark(input)),
      remove: api.chats.remove.handler(({ input }) => s.chats.remove(input)),
      restore: api.chats.restore.handler(({ input }) => s.chats.restore(input)),
      attach: api.chats.attach.handler(({ input }) => s.chats.attach(input)),
      picture: api.chats.picture.handler(({ input }) => s.chats.picture(input)),
      checkpoints: api.chats.checkpoints.handler(({ input }) => s.chats.checkpoints(input)),
      checkpointDiff: api.chats.checkpointDiff.handler(({ input, signal }) => s.chats.checkpointDiff(input, signal)),
      rollback: api.chats.rollback.handler(({ input }) => s.chats.rollback(input)),
      changes: api.chats.changes.handler(({ signal }) => guarded(s.chats.changes(signal))),
      watch: api.chats.watch.handler(({ input, signal }) => guarded(s.chats.watch(input, signal))),
    },
    delegations: {
      watch: api.delegations.watch.handler(({ input, signal }) => guarded(s.delegations.watch(input, signal))),
      get: api.delegations.get.handler(({ input }) => s.delegations.get(input)),
      steer: api.delegations.steer.handler(({ input }) => s.delegations.steer(input)),
      stop: api.delegations.stop.handler(({ input }) => s.delegations.stop(input)),
    },
    tasks: {
      start: api.tasks.start.handler(({ input }) => s.tasks.start(input)),
      watch: api.tasks.watch.handler(({ signal }) => guarded(s.tasks.watch(signal))),
      stop: api.tasks.stop.handler(({ input }) => s.tasks.stop(input)),
      resume: api.tasks.resume.handler(({ input }) => s.tasks.resume(input)),
      seen: api.tasks.seen.handler(({ input }) => s.tasks.seen(input)),
      remove: api.tasks.remove.handler(({ input }) => s.tasks.remove(input)),
      restore: api.tasks.restore.handler(({ input }) => s.tasks.restore(input)),
    },
    tools: {
      list: api.tools.list.handler(() => s.tools.list()),
      enable: api.tools.enable.handler(({ input }) => s.tools.enable(input)),
      allowed: api.tools.allowed.handler(() => s.tools.allowed()),
      revoke: api.tools.revoke.handler(({ input }) => s.tools.revoke(input)),
      allow: api.tools.allow.handler(({ input }) => s.tools.allow(input)),
      settings: api.tools.settings.handler(() => s.tools.settings()),
      configure: api.tools.configure.handler(({ input }) => s.tools.configure(input)),
      testSearch: api.tools.testSearch.handler(({ input, signal }) => s.tools.testSearch(input, signal)),
    },
    preferences: {
      get: api.preferences.get.handler(() => s.preferences.get()),
      update: api.preferences.update.handler(({ input }) => s.preferences.update(input)),
    },
    scores: {
      of: api.scores.of.handler(({ input }) => s.scores.of(input.trajectoryId)),
      rate: api.scores.rate.handler(({ input }) => s.scores.rate(input)),
      rescore: api.scores.rescore.handler(({ input, signal }) => guarded(s.scores.rescore(input, signal))),
    },
    reviews: {
      list: api.reviews.list.handler(({ input }) => s.reviews.list(input)),
      get: api.reviews.get.handler(({ input }) => s.reviews.get(input)),
      decide: api.reviews.decide.handler(({ input }) => s.reviews.decide(input)),
      start: api.reviews.start.handler(({ input }) => s.reviews.start(input)),
      cancel: api.reviews.cancel.handler(({ input }) => s.reviews.cancel(input)),
      settings: api.reviews.settings.handler(() => s.reviews.settings()),
      configure: api.reviews.configure.handler(({ input }) => s.reviews.configure(input)),
      changes: api.reviews.changes.handler(({ signal }) => guarded(s.reviews.changes(signal))),
    },
    memory: {
      get: api.memory.get.handler(() => s.memory.get()),
      apply: api.memory.apply.handler(({ input }) => s.memory.applyByPerson(input)),
      history: api.memory.history.handler(({ input }) => s.memory.history(input)),
      settings: api.memory.settings.handler(() => s.memory.settings()),
      configure: api.memory.configure.handler(({ input }) => s.memory.configure(input)),
      undo: api.memory.undo.handler(({ input }) => s.memory.undo(input.changeId)),
      changes: api.memory.changes.handler(({ signal }) => guarded(s.memory.changes(signal))),
    },
    skillImports: {
      sources: api.skillImports.sources.handler(() => s.skillImports.sources()),
      stage: api.skillImports.stage.handler(({ input }) => s.skillImports.stage(input)),
      scan: api.skillImports.scan.handler(({ input, signal }) => guarded(s.skillImports.scan(input, signal))),
      diff: api.skillImports.diff.handler(({ input }) => s.skillImports.diff(input)),
      apply: api.skillImports.apply.handler(({ input }) => s.skillImports.apply(input)),
      undo: api.skillImports.undo.handler(({ input }) => s.skillImports.undo(input.versionIds)),
      discard: api.skillImports.discard.handler(({ input }) => s.skillImports.discard(input.id)),
      export: api.skillImports.export.handler(({ input }) => s.skillImports.export(input)),
    },
    trials: {
      estimate: api.trials.estimate.handler(({ input }) => s.trials.estimate(input)),
      prompts: api.trials.prompts.handler(({ input, signal }) => s.trials.prompts(input.path, signal)),
      start: api.trials.start.handler(({ input }) => s.trials.start(input)),
      list: api.trials.list.handler(({ input }) => s.trials.list(input.skillId)),
      watch: api.trials.watch.handler(({ input, signal }) => guarded(s.trials.watch(input.id, signal))),
      cancel: api.trials.cancel.handler(({ input }) => s.trials.cancel(input.id)),
      resume: api.trials.resume.handler(({ input }) => s.trials.resume(input)),
      decide: api.trials.decide.handler(({ input }) => s.trials.decide(input)),
      undo: api.trials.undo.handler(({ input }) => s.trials.undo(input.id)),
      remove: api.trials.remove.handler(({ input }) => s.trials.remove(input.id)),
    },
    skillTexts: {
      find: api.skillTexts.find.handler(({ input }) => s.skillTexts.find(input.query)),
    },
    skills: {
      list: api.skills.list.handler(() => s.skills.list()),
      get: api.skills.get.handler(({ input }) => s.skills.get(input)),
      file: api.skills.file.handler(({ input }) => s.skills.file(input)),
      lint: api.skills.lint.handler(({ input }) => s.skills.lint(input)),
      create: api.skills.create.handler(({ input }) => s.skills.create(input)),
      save: api.skills.save.handler(({ input }) => s.skills.save(input)),
      removeFile: api.skills.removeFile.handler(({ input }) => s.skills.removeFile(input)),
      move: api.skills.move.handler(({ input }) => s.skills.move(input)),
      remove: api.skills.remove.handler(({ input }) => s.skills.remove(input)),
      versions: api.skills.versions.handler(({ input }) => s.skills.versions(input)),
      diff: api.skills.diff.handler(({ input }) => s.skills.diff(input)),
      restore: api.skills.restore.handler(({ input }) => s.skills.restore(input)),
      mark: api.skills.mark.handler(({ input }) => s.skills.mark(input)),
      usage: api.skills.usage.handler(({ input }) => s.skills.usage(input)),
      trash: api.skills.trash.handler(() => s.skills.trash()),
      purge: api.skills.purge.handler(({ input }) => s.skills.purge(input)),
      changes: api.skills.changes.handler(({ signal }) => guarded(s.skills.changes(signal))),
    },
    spend: {
      summary: api.spend.summary.handler(() => s.spend.summary()),
      setCaps: api.spend.setCaps.handler(({ input }) => s.spend.setCaps(input)),
      prices: api.spend.prices.handler(() => s.spend.prices()),
      setPrice: api.spend.setPrice.handler(({ input }) => ({ rows: s.spend.setPrice(input.model, input.price) })),
    },
  });
}

export type AppRouter = ReturnType<typeof createRouter>;

/** Streams fail after the handler has returned: their expected errors are turned here. */
async function* guarded<T>(stream: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* stream;
  } catch (error) {
    throw toContractError(error);
  }
}
