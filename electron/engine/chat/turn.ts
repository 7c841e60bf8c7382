import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { LOST_RESULT, missingResults } from '../agent/messages.ts';
import type { AgentEvent, AgentResult } from '../agent/types.ts';
import { ZERO_USAGE, type Message } from '#shared/trajectory.ts';
import type { TrajectoryRecorder } from '../trajectories/record.ts';
import type { LiveSession } from './live-session.ts';
import type { Rooms } from './rooms.ts';

/** How long an agent may take to end after it was interrupted, before the turn ends without it. */
const STOP_GRACE_MS = 900;
/** Tokens of streamed text are estimated at so many characters. */
const CHARS_PER_TOKEN = 4;

const DOING = { content: 'answering', reasoning: 'thinking', tool: 'calling a tool' };

/** Stores what the agent does and shows it, up to its end. The messages are in the store when this resolves; the end is not. */
export async function followAgent(rooms: Rooms, live: LiveSession, recorder: TrajectoryRecorder, agent: AsyncGenerator<AgentEvent>, signal: AbortSignal, stored: (message: Message) => void = () => undefined): Promise<AgentResult> {
  const rate = new Rate(rooms.deps.now);
  const show = (change: Partial<Pick<LiveSession, 'activity' | 'retry' | 'compressing'>>, list = true): void => {
    Object.assign(live, change);
    rooms.feed.changed(live.id, { list });
  };
  const overdue = afterAbort(signal);
  let last: Message[] = [];
  try {
    for (;;) {
      const next = await Promise.race([agent.next(), overdue.promise]);
      if (next === 'overdue') return endWithout(recorder, last, rooms.deps.now());
      if (next.done) throw new Error('The agent ended without a result');
      const event = next.value;
      switch (event.type) {
        case 'message':
          recorder.append(event.message);
          stored(event.message);
          last = event.message.role === 'assistant' ? [event.message] : [...last, event.message];
          if (event.message.role === 'assistant') {
            live.tokensPerSecond = rate.ofAnswer(event.message) ?? live.tokensPerSecond;
            show({ retry: null, compressing: false });
          } else rooms.feed.changed(live.id);
          break;
        case 'delta':
          recorder.delta(event.channel, event.text);
          live.tokensPerSecond = rate.streamed(event.text) ?? live.tokensPerSecond;
          show({ activity: DOING[event.channel], retry: null, compressing: false }, live.activity !== DOING[event.channel]);
          break;
        case 'discard_deltas':
          rate.restart();
          recorder.discardDeltas();
          break;
        case 'turn':
          rate.restart();
          show({ activity: 'waiting for the model', compressing: false });
          // a model that answers without real waiting must not keep others from their turn
          await yieldToOthers();
          break;
        case 'tool_start':
          recorder.toolStart(event.callId, event.name, event.summary);
          show({ activity: event.summary });
          break;
        case 'tool_output':
          recorder.toolOutput(event.callId, event.text);
          break;
        case 'usage':
          rooms.deps.spend.record({
            purpose: event.purpose ?? 'chat',
            provider: event.provider,
            model: event.model,
            usage: event.usage,
            costUsd: event.costUsd,
            trajectoryN: recorder.n,
          });
          rooms.feed.changed(live.id);
          break;
        case 'context':
          live.meter = event.meter;
          rooms.feed.changed(live.id, { list: false });
          break;
        case 'compressing':
          show({ activity: 'compressing', compressing: true });
          break;
        case 'retry':
          show({ activity: 'waiting to try again', retry: { at: rooms.deps.now() + event.waitMs, message: event.error.message } });
          break;
        case 'end':
          return event.result;
      }
    }
  } finally {
    overdue.cancel();
    // stops what still runs when the turn ended without the agent; not awaited, for that is what hung
    void agent.return(undefined).catch(() => undefined);
  }
}

/** An agent that does not end in time is left behind; what it does later changes nothing any more. */
function endWithout(recorder: TrajectoryRecorder, last: readonly Message[], now: number): AgentResult {
  for (const result of missingResults(last, LOST_RESULT, now)) recorder.append(result);
  return { exitReason: 'interrupted', error: 'The run was interrupted.', modelError: null, finalAnswer: null, apiCalls: 0, usage: ZERO_USAGE };
}

function afterAbort(signal: AbortSignal): { promise: Promise<'overdue'>; cancel: () => void } {
  const { promise, resolve } = Promise.withResolvers<'overdue'>();
  let timer: NodeJS.Timeout | null = null;
  const arm = (): void => {
    timer = setTimeout(() => resolve('overdue'), STOP_GRACE_MS);
  };
  if (signal.aborted) arm();
  else signal.addEventListener('abort', arm, { once: true });
  return {
    promise,
    cancel: () => {
      signal.removeEventListener('abort', arm);
      if (timer) clearTimeout(timer);
    },
  };
}

/** Output tokens per second: estimated while an answer streams, counted when the provider has said. */
class Rate {
  readonly #now: () => number;
  #since: number | null = null;
  #chars = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  restart(): void {
    this.#since = null;
    this.#chars = 0;
  }

  streamed(text: string): number | null {
    this.#since ??= this.#now();
    this.#chars += text.length;
    const seconds = (this.#now() - this.#since) / 1000;
    return seconds < 0.5 ? null : this.#chars / CHARS_PER_TOKEN / seconds;
  }

  ofAnswer(message: Message): number | null {
    const seconds = this.#since === null ? 0 : (this.#now() - this.#since) / 1000;
    const tokens = message.usage?.completionTokens ?? Math.round(this.#chars / CHARS_PER_TOKEN);
    this.restart();
    return seconds < 0.1 || tokens === 0 ? null : tokens / seconds;
  }
}
