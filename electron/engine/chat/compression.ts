import { contextOf } from '#shared/context.ts';
import { addUsage, type Message, type Usage, ZERO_USAGE } from '#shared/trajectory.ts';
import { compactHistory } from '../agent/compress/compact.ts';
import { messagesTokens } from '../agent/tokens.ts';
import type { ChatModel } from '../model/types.ts';
import { getDetail } from '../trajectories/query.ts';
import { openTodos } from './agent-services.ts';
import { ChatError } from './errors.ts';
import { wholeHistory } from './history.ts';
import type { LiveSession, RunningTurn } from './live-session.ts';
import { compressionSettings, summaryModel } from './prepare.ts';
import type { Rooms } from './rooms.ts';
import type { Turns } from './turns.ts';

/** Assumed where nobody says how much a model can take: only sets how much of the end is kept. */
const USUAL_CONTEXT_TOKENS = 32_000;

export interface Compressed {
  message: string;
  tokensBefore: number;
  tokensAfter: number;
}

/** Compression when the person asks for it: between turns, after the one that runs. `stop` ends it without a change. */
export async function compressNow(rooms: Rooms, turns: Turns, id: string, focus: string | undefined): Promise<Compressed> {
  const live = rooms.live(id);
  for (;;) {
    while (live.turn) await live.turn.done;
    // begun alone, but not awaited there: what is said meanwhile must be able to queue
    const begun = await live.alone(async () => (live.turn ? null : { done: (await begin(rooms, turns, live, focus))() }));
    if (begun) return begun.done;
  }
}

/** Checks what can fail and makes the session busy; answers with the work. */
async function begin(rooms: Rooms, turns: Turns, live: LiveSession, focus: string | undefined): Promise<() => Promise<Compressed>> {
  const { deps } = rooms;
  const { settings, tip, queue } = rooms.session(live.id);
  if (rooms.closed) throw new ChatError('unavailable', 'Talaria is closing.');
  const before = tip === null ? undefined : getDetail(deps.db, tip);
  if (!before) throw new ChatError('invalid', 'Nothing has been said in this chat yet.');
  const over = deps.spend.overBudget({ sessionId: live.id });
  if (over !== null) throw new ChatError('conflict', over);
  const own = await deps.models.create({ provider: settings.provider, model: settings.model });
  const model = (await summaryModel(rooms)) ?? own;
  const ended = Promise.withResolvers<void>();
  const turn: RunningTurn = { startedAt: deps.now(), abort: new AbortController(), sandbox: null, done: ended.promise };
  Object.assign(live, { turn, compressing: true, activity: 'compressing' });
  rooms.feed.changed(live.id);
  return async () => {
    try {
      return await summarise(rooms, turns, live, { before, own, model, focus, signal: turn.abort.signal });
    } finally {
      Object.assign(live, { turn: null, compressing: false, activity: null });
      rooms.feed.changed(live.id);
      ended.resolve();
      // what was said meanwhile goes on; what had been waiting for the person goes on waiting
      turns.next(live, queue.length === 0 ? 'completed' : (before.exitReason ?? 'interrupted'));
    }
  };
}

interface Work {
  before: NonNullable<ReturnType<typeof getDetail>>;
  own: ChatModel;
  model: ChatModel;
  focus: string | undefined;
  signal: AbortSignal;
}

async function summarise(rooms: Rooms, turns: Turns, live: LiveSession, { before, own, model, focus, signal }: Work): Promise<Compressed> {
  const { deps } = rooms;
  const { settings } = rooms.session(live.id);
  const history: Message[] = wholeHistory(deps.db, before.id);
  const tokensBefore = messagesTokens(contextOf(history));
  const contextLength = (await deps.models.contextLength(settings.provider, settings.model)) ?? USUAL_CONTEXT_TOKENS;
  const result = await compactHistory(
    {
      messages: history,
      settings: compressionSettings(rooms),
      contextLength,
      model,
      ...(model === own ? {} : { summaryContextLength: await deps.models.contextLength(model.endpoint.provider, model.endpoint.model) }),
      carryOver: () => openTodos(rooms.store.get(live.id)?.todos ?? []),
      ...(focus?.trim() ? { focus } : {}),
      now: deps.now,
      force: true,
    },
    signal,
  );
  let usage: Usage = ZERO_USAGE;
  for (const call of result.calls) {
    usage = addUsage(usage, call.usage);
    deps.spend.record({ purpose: 'compression', ...call, trajectoryN: before.n });
  }
  const { message } = result;
  if (!message || signal.aborted) return { message: signal.aborted ? 'Compression was stopped; nothing was changed.' : (result.reason ?? 'There is nothing to gain.'), tokensBefore, tokensAfter: tokensBefore };
  const recorder = deps.db.transaction(() => {
    const opened = turns.reopen(before.id, { ...before, scripted: before.scripted });
    opened.recorder.append(message);
    opened.recorder.end({ exitReason: before.exitReason ?? 'completed', error: before.error, usage, apiCalls: result.calls.length });
    return opened.recorder;
  });
  recorder.announceEnd();
  const tokensAfter = messagesTokens(contextOf([...history, message]));
  // An estimate until the provider counts again at the next call.
  if (live.meter) live.meter = { ...live.meter, messages: tokensAfter, total: live.meter.system + live.meter.tools + tokensAfter, measured: false };
  return { message: result.reason ?? 'Older messages were replaced by a summary.', tokensBefore, tokensAfter };
}
