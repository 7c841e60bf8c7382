import type { Attachment, Message } from '#shared/trajectory.ts';
import { isToolFailure } from '../tools/failure.ts';
import { runTool } from '../tools/registry.ts';
import type { ToolContext, ToolRegistry } from '../tools/types.ts';
import type { CheckedCall } from './calls.ts';
import { graceAfter } from './grace.ts';

const MAX_PARALLEL = 8;
/** Made once: it would else be made, with a stack, for every turn. */
const LEFT = new DOMException('Nobody waits for this call any more.', 'AbortError');

/** What all calls of a turn share. */
export type CallContext = Omit<ToolContext, 'callId' | 'show' | 'onOutput'>;

export type CallEvent =
  | { type: 'start'; checked: CheckedCall }
  | { type: 'output'; callId: string; text: string }
  | { type: 'result'; message: Message };

/** The result message of a call that was not run. */
export function refusal(call: CheckedCall['call'], text: string, now: number): Message {
  return { role: 'tool', content: JSON.stringify({ error: text }), toolCallId: call.id, toolName: call.name, isError: true, createdAt: now };
}

/** The result of a call of which nothing is known: synthetic, for exports leave such a call out. */
export function lostResult(call: CheckedCall['call'], text: string, now: number): Message {
  return { ...refusal(call, text, now), synthetic: true };
}

function cancelled(call: CheckedCall['call'], now: number): Message {
  return lostResult(call, `Cancelled by the person: the run was interrupted before ${call.name} had ended.`, now);
}

/**
 * Runs the calls of one turn, together where all are safe to (read-only, or on different paths), else one after another. Gives one
 * result per call in call order, and before it what the call says while it runs. After an interrupt every call that has not ended
 * gets a result that says so, within a second. When the consumer leaves early, what runs is interrupted.
 */
export async function* executeCalls(
  calls: readonly CheckedCall[],
  tools: ToolRegistry,
  shared: CallContext,
  now: () => number,
): AsyncGenerator<CallEvent> {
  const together = calls.length > 1 && canRunTogether(calls, tools) ? MAX_PARALLEL : 1;
  const leaving = new AbortController();
  const context = { ...shared, signal: AbortSignal.any([shared.signal, leaving.signal]) };
  const results = new Map<number, Message>();
  let queue: CallEvent[] = [];
  let wake: () => void = () => undefined;
  let defect: { error: unknown } | null = null;
  let begun = 0;

  const say = (callId: string, text: string): void => {
    const last = queue.at(-1);
    if (last?.type === 'output' && last.callId === callId) last.text += text;
    else queue.push({ type: 'output', callId, text });
    wake();
  };
  const begin = (at: number): void => {
    const checked = calls[at]!;
    if (!context.signal.aborted) queue.push({ type: 'start', checked });
    execute(checked, tools, context, say, now)
      .then((message) => void results.set(at, message))
      .catch((error: unknown) => (defect = { error }))
      .finally(() => wake());
  };

  try {
    for (let given = 0; given < calls.length; ) {
      while (begun < calls.length && begun < given + together) begin(begun++);
      const events = queue;
      queue = [];
      yield* events;
      const message = results.get(given);
      // what it said while the consumer took the events goes before its result
      if (queue.length > 0) continue;
      if (message) {
        given++;
        yield { type: 'result', message };
        continue;
      }
      if (defect) throw (defect as { error: unknown }).error;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (queue.length > 0 || results.has(given) || defect) resolve();
      });
    }
  } finally {
    leaving.abort(LEFT);
  }
}

function canRunTogether(calls: readonly CheckedCall[], tools: ToolRegistry): boolean {
  const paths = new Set<string>();
  for (const { call, args } of calls) {
    const tool = tools.get(call.name);
    if (!tool || tool.parallel === 'never' || !args) return false;
    if (tool.parallel === 'safe') continue;
    const path = tool.pathOf?.(args);
    if (!path || [...paths].some((p) => overlap(p, path))) return false;
    paths.add(path);
  }
  return true;
}

function overlap(a: string, b: string): boolean {
  const x = normal(a);
  const y = normal(b);
  return x === y || x.startsWith(`${y}/`) || y.startsWith(`${x}/`);
}

function normal(path: string): string {
  return path.replace(/\\/g, '/').replace(/\/\.(?=\/|$)/g, '').replace(/^\.\//, '').replace(/\/+/g, '/').replace(/\/$/, '');
}

async function execute(checked: CheckedCall, tools: ToolRegistry, shared: CallContext, say: (callId: string, text: string) => void, now: () => number): Promise<Message> {
  const started = now();
  const { call, args } = checked;
  const tool = tools.get(call.name);
  if (!tool || !args) return refusal(call, checked.message ?? 'This call cannot be run.', started);
  if (shared.signal.aborted) return cancelled(call, started);
  const pictures: Attachment[] = [];
  // after its end a tool has nothing more to say or to show
  let ended = false;
  const context: ToolContext = {
    ...shared,
    callId: call.id,
    show: (picture) => void (ended || pictures.push(picture)),
    onOutput: (text) => void (ended || text === '' || say(call.id, text)),
  };
  const grace = graceAfter(shared.signal);
  try {
    const content = await grace.wait(runTool(tool, args, context));
    ended = true;
    if (content === null) return cancelled(call, now());
    return {
      role: 'tool',
      content,
      toolCallId: call.id,
      toolName: call.name,
      isError: isToolFailure(content),
      ...(pictures.length > 0 ? { attachments: pictures } : {}),
      createdAt: now(),
      durationMs: now() - started,
    };
  } finally {
    ended = true;
    grace.dispose();
  }
}
