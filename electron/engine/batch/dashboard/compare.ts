import { sql } from 'kysely';
import { type ComparedRow, type ComparedSide, QUADRANTS, type Quadrant, type RunComparison } from '#shared/contract/dashboards.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import { exitReasonCounts } from './ended.ts';
import { percentiles } from './numbers.ts';
import { bestRollout, readSide, type Side } from './side.ts';

export interface CompareInput {
  a: string;
  b: string;
  threshold?: number | undefined;
  quadrant?: Quadrant | undefined;
  after: number;
  limit: number;
}

interface Compared {
  key: string;
  /** `PRAGMA data_version`: differs once another connection has written. */
  version: number;
  a: Side;
  b: Side;
  solvedBy: RunComparison['solvedBy'];
  /** Rows of both runs: their prompt indexes, in the order of `a`. */
  pairs: { a: Int32Array; b: Int32Array };
  /** By place among the pairs; null: not ended in both. */
  quadrants: (Quadrant | null)[];
}

/** The last comparison of each connection: paging through its rows must not make it again. */
const last = new WeakMap<Database, Compared>();

/** Two runs over the rows they have in common; null when one of them is not in the store. */
export function compareRuns(db: Database, input: CompareInput): RunComparison | null {
  const compared = prepared(db, input);
  if (!compared) return null;
  const { quadrants } = compared;
  const counts: Record<Quadrant, number> = { both: 0, onlyA: 0, onlyB: 0, neither: 0 };
  let open = 0;
  for (const q of quadrants) {
    if (q) counts[q] += 1;
    else open += 1;
  }
  const places: number[] = [];
  for (let place = input.after + 1; place < quadrants.length && places.length <= input.limit; place += 1) {
    const q = quadrants[place];
    if (q && (input.quadrant === undefined || q === input.quadrant)) places.push(place);
  }
  return {
    solvedBy: compared.solvedBy,
    a: summaryOf(compared, 'a'),
    b: summaryOf(compared, 'b'),
    quadrants: counts,
    open,
    items: places.slice(0, input.limit).map((place) => rowAt(db, compared, place)),
    more: places.length > input.limit,
  };
}

function prepared(db: Database, { a, b, threshold }: CompareInput): Compared | null {
  const key = JSON.stringify([a, b, threshold ?? null]);
  const version = db.connection.pragma('data_version', { simple: true }) as number;
  const kept = last.get(db);
  if (kept?.key === key && kept.version === version) return kept;
  const sideA = readSide(db, a);
  const sideB = readSide(db, b);
  if (!sideA || !sideB) return null;
  const solvedBy = sideA.rewards && sideB.rewards ? 'reward' : 'completed';
  for (const side of [sideA, sideB]) side.count(solvedBy, threshold);
  const pairs = matching(db, sideA, sideB);
  const quadrants = Array.from(pairs.a, (rowA, place): Quadrant | null => {
    const rowB = pairs.b[place]!;
    if (sideA.ended[rowA] === 0 || sideB.ended[rowB] === 0) return null;
    const byA = sideA.solved[rowA]! > 0;
    const byB = sideB.solved[rowB]! > 0;
    return byA ? (byB ? 'both' : 'onlyA') : byB ? 'onlyB' : 'neither';
  });
  const compared: Compared = { key, version, a: sideA, b: sideB, solvedBy, pairs, quadrants };
  last.set(db, compared);
  return compared;
}

/** Rows with the same content, the first with the first, the second with the second…: what `row_key` says of rollout 0. */
function matching(db: Database, a: Side, b: Side): { a: Int32Array; b: Int32Array } {
  const rows = db.connection
    .prepare(
      `SELECT a.idx / :ra, b.idx / :rb FROM prompts a JOIN prompts b ON b.run_id = :b AND b.row_key = a.row_key
       WHERE a.run_id = :a AND a.idx % :ra = 0 AND b.idx % :rb = 0 ORDER BY a.idx`,
    )
    .raw()
    .all({ a: a.runId, b: b.runId, ra: a.rollouts, rb: b.rollouts }) as [number, number][];
  const both = rows.filter(([rowA, rowB]) => !a.removed.has(rowA) && !b.removed.has(rowB));
  return { a: Int32Array.from(both, (r) => r[0]), b: Int32Array.from(both, (r) => r[1]) };
}

function summaryOf(compared: Compared, which: 'a' | 'b'): ComparedSide {
  const side = compared[which];
  const rows = compared.pairs[which];
  let solved = 0;
  let ended = 0;
  let rollouts = 0;
  for (let place = 0; place < rows.length; place += 1) {
    if (!compared.quadrants[place]) continue;
    const row = rows[place]!;
    if (side.solved[row]! > 0) solved += 1;
    ended += side.ended[row]!;
    rollouts += side.solved[row]!;
  }
  return {
    rows: side.rows,
    alone: side.rows - rows.length,
    solved,
    solvedOfAll: side.solved.reduce((sum, n) => sum + (n > 0 ? 1 : 0), 0),
    share: ended === 0 ? null : rollouts / ended,
    meanReward: side.meanReward,
    exitReasons: exitReasonCounts(side.exitReasons),
    duration: percentiles(side.durations),
  };
}

const PROMPT_CHARS = 300;

function rowAt(db: Database, compared: Compared, place: number): ComparedRow {
  const { a, b, pairs, quadrants } = compared;
  const rowA = pairs.a[place]!;
  const prompt = db.get(
    sqlFor.selectFrom('prompts').select(sql<string>`substr(prompt, 1, ${PROMPT_CHARS})`.as('prompt')).where('run_id', '=', a.runId).where('idx', '=', rowA * a.rollouts),
  );
  return {
    place,
    quadrant: quadrants[place] ?? QUADRANTS[3],
    prompt: prompt?.prompt ?? '',
    a: rolloutsAt(db, a, rowA),
    b: rolloutsAt(db, b, pairs.b[place]!),
  };
}

function rolloutsAt(db: Database, side: Side, row: number): ComparedRow['a'] {
  return { promptIndex: row, ended: side.ended[row] ?? 0, solved: side.solved[row] ?? 0, ...bestRollout(db, side.runId, row) };
}
