import { saidByPerson, type StoredMessage } from '#shared/trajectory.ts';
import { answerIndex, type Turn } from './turns.ts';

/** One line of the outline: what a message is, in a word or two. The words are chosen by the view. */
export interface OutlineEntry {
  /** Index of the turn it belongs to. */
  turn: number;
  seq: number;
  role: 'human' | 'agent' | 'tool' | 'harness' | 'system';
  failed: boolean;
  label:
    | { is: 'system' | 'task' | 'user' | 'harness' | 'answer' | 'text' | 'result' | 'error' | 'waiting' }
    | { is: 'tool'; name: string; times: number }
    | { is: 'exit'; code: number }
    | { is: 'hits'; count: number };
}

/** The outline of turns: one entry per message, results of one turn together. Reads no result whole: large ones stay cheap. */
export function outlineOf(turns: readonly Turn[]): OutlineEntry[] {
  const entries: OutlineEntry[] = [];
  const answer = answerIndex(turns);
  let asked = false;
  turns.forEach((turn, i) => {
    const seq = turn.key;
    if (turn.kind === 'assistant') {
      const [first] = turn.calls;
      const label: OutlineEntry['label'] = first ? { is: 'tool', name: first.call.name, times: turn.calls.length } : { is: i === answer ? 'answer' : 'text' };
      entries.push({ turn: i, seq, role: 'agent', failed: false, label });
      if (turn.calls.length > 0) entries.push(resultEntry(turn, i));
    } else if (turn.kind === 'system') {
      entries.push({ turn: i, seq, role: 'system', failed: false, label: { is: 'system' } });
    } else if (turn.kind === 'orphan') {
      entries.push({ turn: i, seq, role: 'tool', failed: true, label: { is: 'result' } });
    } else {
      // results that came between turns and texts of skills are not synthetic, but no request of a person
      const harness = !saidByPerson(turn.message);
      entries.push({ turn: i, seq, role: harness ? 'harness' : 'human', failed: false, label: { is: harness ? 'harness' : asked ? 'user' : 'task' } });
      asked ||= !harness;
    }
  });
  return entries;
}

function resultEntry(turn: Extract<Turn, { kind: 'assistant' }>, index: number): OutlineEntry {
  const results = turn.calls.map((pair) => pair.result);
  const failed = results.find((r) => r !== null && (r.isError === true || exitCode(r) > 0));
  const seq = results.find((r) => r !== null)?.seq ?? turn.key;
  const telling = failed ?? (results.length === 1 ? results[0] : null);
  const label: OutlineEntry['label'] = results.includes(null) ? { is: 'waiting' } : (telling && shortResult(telling, failed !== undefined)) || { is: failed ? 'error' : 'result' };
  return { turn: index, seq, role: 'tool', failed: failed !== undefined, label };
}

function exitCode(message: StoredMessage): number {
  const label = shortResult(message, false);
  return label?.is === 'exit' ? Math.abs(label.code) : 0;
}

/** Exit code or number of hits, found at either end of the content without parsing it. */
function shortResult(message: StoredMessage, failed: boolean): OutlineEntry['label'] | null {
  const ends = message.content.length > 800 ? message.content.slice(0, 400) + message.content.slice(-400) : message.content;
  const exit = /"exit_code":\s*(-?\d+)/.exec(ends);
  // "exit 0" would belie a result that failed for another reason.
  if (exit && !(failed && Number(exit[1]) === 0)) return { is: 'exit', code: Number(exit[1]) };
  const hits = /"total_count":\s*(\d+)/.exec(ends);
  return hits && !failed ? { is: 'hits', count: Number(hits[1]) } : null;
}
