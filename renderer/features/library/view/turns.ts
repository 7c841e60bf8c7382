import type { StoredMessage, ToolCall } from '#shared/trajectory.ts';

/** One tool call and what it answered; `result` is null while it runs or when it was never answered. */
export interface CallPair {
  call: ToolCall;
  result: StoredMessage | null;
}

/** What the view shows as one block. `key` is stable while messages arrive. */
export type Turn =
  | { kind: 'system' | 'user' | 'orphan'; key: number; message: StoredMessage }
  | {
      kind: 'assistant';
      key: number;
      message: StoredMessage;
      /** Number of this assistant turn, from 1. */
      step: number;
      calls: readonly CallPair[];
      /** Results that came before the next turn and answer no call of it. */
      strays: readonly StoredMessage[];
    };

/**
 * Adds messages to the turns of a trajectory: each result goes to its call by id, within the assistant turn before it (ids may
 * repeat later, or even within a turn: then in order). Turns that did not change keep their identity, so rows can be memoised.
 * @param messages in seq order, all after those already in `turns`
 */
export function appendMessages(turns: readonly Turn[], messages: readonly StoredMessage[]): Turn[] {
  const out = [...turns];
  let step = 0;
  for (let i = out.length - 1; i >= 0 && step === 0; i--) {
    const turn = out[i];
    if (turn?.kind === 'assistant') step = turn.step;
  }
  for (const message of messages) {
    if (message.role === 'assistant') {
      step++;
      const calls = (message.toolCalls ?? []).map((call) => ({ call, result: null }));
      out.push({ kind: 'assistant', key: message.seq, message, step, calls, strays: [] });
    } else if (message.role === 'tool') {
      const last = out.at(-1);
      if (last?.kind === 'assistant') out[out.length - 1] = withResult(last, message);
      else out.push({ kind: 'orphan', key: message.seq, message });
    } else {
      out.push({ kind: message.role, key: message.seq, message });
    }
  }
  return out;
}

function withResult(turn: Extract<Turn, { kind: 'assistant' }>, result: StoredMessage): Turn {
  const open = turn.calls.findIndex((pair) => pair.result === null && pair.call.id === result.toolCallId);
  if (open < 0) return { ...turn, strays: [...turn.strays, result] };
  return { ...turn, calls: turn.calls.map((pair, i) => (i === open ? { ...pair, result } : pair)) };
}

/** The turn that is the final answer: the last one, by the assistant, without calls. -1 when there is none (yet). */
export function answerIndex(turns: readonly Turn[]): number {
  const last = turns.at(-1);
  return last?.kind === 'assistant' && last.calls.length === 0 && last.message.content.trim() !== '' ? turns.length - 1 : -1;
}
