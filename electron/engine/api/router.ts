import { implement, ORPCError } from '@orpc/server';
import { contract } from '#shared/contract/index.ts';
import type { EngineServices } from '../services.ts';
import { getContent, getDetail, getMessages, listTrajectories } from '../trajectories/query.ts';
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
    },
    datasets: {
      inspect: api.datasets.inspect.handler(({ input }) => s.datasets.inspect(input.path)),
      upload: api.datasets.upload.handler(({ input }) => s.datasets.upload(input)),
    },
    runs: {
      list: api.runs.list.handler(() => ({ items: s.runs.list() })),
      get: api.runs.get.handler(({ input }) => s.runs.get(input.id)),
      start: api.runs.start.handler(({ input }) => s.runs.start(input)),
      pause: api.runs.pause.handler(({ input }) => s.runs.pause(input.id)),
      resume: api.runs.resume.handler(({ input }) => s.runs.resume(input.id)),
      cancel: api.runs.cancel.handler(({ input }) => s.runs.cancel(input.id)),
      remove: api.runs.remove.handler(({ input }) => s.runs.remove(input.id)),
      prompts: api.runs.prompts.handler(({ input }) => s.runs.prompts(input)),
      watch: api.runs.watch.handler(({ input, signal }) => guarded(s.runs.watch(input.id, signal))),
      options: api.runs.options.handler(() => s.runs.options()),
    },
    trajectories: {
      // ranked and filtered searches run in a reader; a plain page is cheaper here than the hop
      list: api.trajectories.list.handler(({ input }) =>
        input.filter.query ? s.store.readers.run('list', input) : listTrajectories(s.store.db, input.filter, input.before, input.limit),
      ),
      counts: api.trajectories.counts.handler(({ input }) => s.store.readers.run('counts', input)),
      get: api.trajectories.get.handler(({ input }) => detailOf(input.id)),
      messages: api.trajectories.messages.handler(({ input }) => {
        const items = getMessages(s.store.db, detailOf(input.id).n, input.after, input.limit + 1);
        return { items: items.slice(0, input.limit), more: items.length > input.limit };
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
      preview: api.exports.preview.handler(({ input }) => s.exports.preview(input)),
      folder: api.exports.folder.handler(() => ({ path: s.exports.folder })),
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
