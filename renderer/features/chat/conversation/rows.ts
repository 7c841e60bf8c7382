import { saidByPerson, type StoredMessage } from '#shared/trajectory.ts';
import { splitPieces, type Piece } from '../../../ui/markdown-pieces.ts';
import type { CallPair, Turn } from '../../library/view/turns.ts';
import type { LiveAnswer } from './live.ts';

/** One row of the conversation. `key` stays the same from the first streamed word on; `head`: a message begins here. */
export type Row = { key: string; seq: number; head: boolean } & (
  | { kind: 'user'; message: StoredMessage; steered: boolean }
  | { kind: 'note' | 'compaction' | 'stray' | 'more' | 'nothing'; message: StoredMessage }
  /** `message` null: it is being thought. */
  | { kind: 'think'; message: StoredMessage | null }
  /** `piece` null: the last one, which grows, number `index`. */
  | { kind: 'piece'; piece: Piece | null; index: number }
  | { kind: 'call'; pair: CallPair; index: number }
  | { kind: 'args' }
  | { kind: 'foot'; message: StoredMessage }
  | { kind: 'end' }
);

type AssistantTurn = Extract<Turn, { kind: 'assistant' }>;

/** Longer texts open in a viewer of their own instead of as rows, characters. */
export const ROWS_MAX_CHARS = 2_000_000;

/** Makes rows of turns, and keeps those of turns that did not change. */
export class RowMaker {
  readonly #kept = new WeakMap<Turn, { whole: string | undefined; rows: readonly Row[] }>();

  /**
   * @param complete the first turn is the first of all; else results whose call is not here yet are left out, so that nothing moves
   * when it comes
   */
  rows(turns: readonly Turn[], wholes: ReadonlyMap<number, string>, complete: boolean): Row[] {
    const out: Row[] = [];
    let before: Turn | null = null;
    for (const turn of turns) {
      if (turn.kind !== 'orphan' || complete || before !== null) for (const row of this.#of(turn, before, wholes.get(turn.key))) out.push(row);
      if (turn.kind !== 'orphan' || complete) before = turn;
    }
    return out;
  }

  #of(turn: Turn, before: Turn | null, whole: string | undefined): readonly Row[] {
    const known = this.#kept.get(turn);
    if (known && known.whole === whole) return known.rows;
    const rows = rowsOf(turn, before, whole);
    this.#kept.set(turn, { whole, rows });
    return rows;
  }
}

function rowsOf(turn: Turn, before: Turn | null, whole: string | undefined): Row[] {
  const { message, key: seq } = turn;
  const base = { seq, head: true };
  if (turn.kind === 'assistant') return assistantRows(turn, whole);
  if (message.compaction) return [{ ...base, key: `${seq}:compaction`, kind: 'compaction', message }];
  if (turn.kind === 'system') return [];
  if (turn.kind === 'orphan') return [{ ...base, key: `${seq}:stray`, kind: 'stray', message }];
  // not all of these are synthetic, but nobody typed them
  if (!saidByPerson(message)) return [{ ...base, key: `${seq}:note`, kind: 'note', message }];
  return [{ ...base, key: `${seq}:user`, kind: 'user', message, steered: before?.kind === 'assistant' && steers(message, before) }];
}

/**
 * Whether it was said while calls were running. Behind calls alone is not enough: a turn may have ended there, by a failure, a limit or a
 * kill, and then what follows was said later. Synthetic results are of calls that never ended.
 */
function steers(message: StoredMessage, { calls }: AssistantTurn): boolean {
  const results = calls.map((pair) => pair.result);
  return results.every((result) => result && !result.synthetic) && results.some((result) => result && message.createdAt <= result.createdAt);
}

function assistantRows({ message, key: seq, calls, strays }: AssistantTurn, whole: string | undefined): Row[] {
  const rows: Row[] = [];
  const add = (row: Row): void => void rows.push(rows.length === 0 ? { ...row, head: true } : row);
  if (message.compaction) return [{ key: `${seq}:compaction`, seq, head: true, kind: 'compaction', message }];
  if (message.reasoning?.trim()) add({ key: thinkKey(seq), seq, head: false, kind: 'think', message });
  const text = whole !== undefined && whole.length <= ROWS_MAX_CHARS ? whole : message.content;
  splitPieces(text).forEach((piece, index) => add({ key: pieceKey(seq, index), seq, head: false, kind: 'piece', piece, index }));
  if (message.contentBytes !== undefined && text === message.content) add({ key: `${seq}:more`, seq, head: false, kind: 'more', message });
  calls.forEach((pair, index) => add({ key: `${seq}:call:${index}`, seq, head: false, kind: 'call', pair, index }));
  for (const stray of strays) add({ key: `${stray.seq}:stray`, seq, head: false, kind: 'stray', message: stray });
  if (rows.every((row) => row.kind === 'think') && calls.length === 0) add({ key: `${seq}:nothing`, seq, head: false, kind: 'nothing', message });
  if (calls.length === 0) add({ key: `${seq}:foot`, seq, head: false, kind: 'foot', message });
  return rows;
}

/** Rows of what is being written. Only the last piece is without its text: it reads that itself, so that the list stays as it is. */
export function liveRows(answer: LiveAnswer | null): Row[] {
  if (!answer) return [];
  const { seq } = answer;
  const rows: Row[] = [];
  if (answer.reasoning.trim() !== '') rows.push({ key: thinkKey(seq), seq, head: true, kind: 'think', message: null });
  answer.pieces.forEach((piece, index) => {
    const grows = index === answer.pieces.length - 1;
    rows.push({ key: pieceKey(seq, index), seq, head: rows.length === 0, kind: 'piece', piece: grows ? null : piece, index });
  });
  if (answer.argsChars > 0) rows.push({ key: `${seq}:args`, seq, head: rows.length === 0, kind: 'args' });
  return rows;
}

/** Changes only when `liveRows` would give other rows. */
export function liveShape(answer: LiveAnswer | null): string {
  return answer === null ? '' : `${answer.seq}:${answer.reasoning.trim() === '' ? 0 : 1}:${answer.pieces.length}:${answer.argsChars > 0 ? 1 : 0}`;
}

const thinkKey = (seq: number): string => `${seq}:think`;
const pieceKey = (seq: number, index: number): string => `${seq}:piece:${index}`;

/** Characters of a line at the usual width; a guess that only has to be near, what is measured replaces it. */
const LINE_CHARS = 95;
const LINE_PX = 21;

export function estimateRow(row: Row | undefined): number {
  switch (row?.kind) {
    case 'user':
      return 48 + Math.ceil(Math.min(row.message.content.length, 1_600) / LINE_CHARS) * LINE_PX + (row.message.attachments?.length ? 140 : 0);
    case 'piece':
      return row.piece === null ? 60 : pieceHeight(row.piece);
    case 'call':
      return 40;
    case 'compaction':
    case 'note':
    case 'think':
      return 30;
    default:
      return 36;
  }
}

function pieceHeight(piece: Piece): number {
  const lines = piece.text.split('\n');
  if (piece.kind === 'code') return 34 + lines.length * 17;
  return 10 + lines.reduce((sum, line) => sum + (line.trim() === '' ? 4 : Math.ceil(line.length / LINE_CHARS) * LINE_PX), 0);
}
