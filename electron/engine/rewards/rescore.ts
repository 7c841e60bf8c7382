import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { RescoreEvent, RescoreSummary } from '#shared/contract/scores.ts';
import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import type { ScoreRule } from '#shared/scoring.ts';
import type { ScoreResult } from '../batch/queue/types.ts';
import { openSandbox } from '../sandbox/open.ts';
import type { Sandbox } from '../sandbox/types.ts';
import type { Database } from '../store/database.ts';
import { countMatching, walkSubjects } from '../trajectories/query.ts';
import { rulesFor } from './hook.ts';
import { scoreRollout } from './score.ts';
import { addScores, ruleScores } from './store.ts';
import { runSpecs, type StoredSubject, storedSubject } from './subject.ts';
import { unknown } from './types.ts';
import { because } from './why.ts';

/** Trajectories that are scored, then stored, at once. */
const PIECE = 50;
/** Of a piece, how many run tests at the same time. */
const AT_ONCE = 2;

export interface RescoreDeps {
  db: Database;
  /** Folder that holds the workspaces of runs, each in a folder of its name. */
  workspaces: string;
  /** Folders that tests may not look into. */
  hidden: readonly string[];
  now: () => number;
}

/**
 * Scores what matches a filter again, from what is stored, in pieces between which others get their turn. Progress, then what it did.
 * @param scoring rules for all; null for those of each one's run.
 */
export async function* rescore(deps: RescoreDeps, filter: TrajectoryFilter, scoring: readonly string[] | null, signal: AbortSignal): AsyncGenerator<RescoreEvent> {
  const { db, now } = deps;
  const startedAt = now();
  const total = countMatching(db, filter);
  const specOf = runSpecs(db);
  const summary: RescoreSummary = { scored: 0, changed: 0, kept: 0, unknown: 0, skipped: 0, durationMs: 0 };
  let done = 0;
  yield { type: 'progress', done, total };
  for (let after = 0; ; ) {
    const rows = walkSubjects(db, filter, after, PIECE);
    if (rows.length === 0 || signal.aborted) break;
    after = rows.at(-1)!.n;
    const outcomes = await mapSome(rows, AT_ONCE, async (row) => {
      const stored = storedSubject(db, row, specOf);
      return stored && (await scoreStored(deps, stored, scoring ?? stored.run?.spec.scoring ?? [], signal));
    });
    // what was stopped in the middle says nothing
    if (signal.aborted) break;
    db.transaction(() => {
      for (const one of outcomes) {
        if (one === null) summary.skipped += 1;
        else note(summary, one, addScores(db, one.stored.n, one.results, now()));
      }
    });
    done += rows.length;
    yield { type: 'progress', done, total };
    await yieldToOthers();
  }
  yield { type: 'done', summary: { ...summary, durationMs: now() - startedAt } };
}

interface Rescored {
  stored: StoredSubject;
  results: ScoreResult[];
  kept: boolean;
}

function note(summary: RescoreSummary, { stored, results, kept }: Rescored, reward: number | null): void {
  summary.scored += 1;
  if (reward !== stored.reward) summary.changed += 1;
  if (kept) summary.kept += 1;
  if (results.some((r) => r.value === null)) summary.unknown += 1;
}

/** Null when nothing names rules for it. */
async function scoreStored(deps: RescoreDeps, stored: StoredSubject, scoring: readonly string[], signal: AbortSignal): Promise<Rescored | null> {
  const { subject } = stored;
  const rules = rulesFor(subject.row, scoring);
  if ('error' in rules) return { stored, results: [rules.error], kept: false };
  // without rules what rules said before goes; a chat that never had any is left alone
  if (rules.rules.length === 0) return stored.run === null ? null : { stored, results: [], kept: false };
  const before = ruleScores(deps.db, stored.n);
  const place = needsPlace(rules.rules) ? await openPlace(deps, stored) : null;
  try {
    const results = await scoreRollout(rules.rules, subject, { sandbox: place?.sandbox ?? null, fresh: place?.fresh ?? true, signal });
    let kept = false;
    const merged = results.map((result, i) => {
      const old = before.get(result.name);
      const cannot = rules.rules[i]!.kind === 'tests' && (place === null || result.detail['code'] === 'workspace_gone');
      if (!cannot) return result;
      if (old?.value === undefined || old.value === null || old.rule.split('*')[0] !== result.rule.split('*')[0]) return { ...result, ...(place === null ? unknown(because('container_gone')) : {}) };
      kept = true;
      return { ...result, value: old.value, detail: { ...old.detail, kept: true } };
    });
    return { stored, results: merged, kept };
  } finally {
    await place?.close();
  }
}

function needsPlace(rules: readonly ScoreRule[]): boolean {
  return rules.some((r) => r.kind === 'tests');
}

/** The workspace that the attempt left, where it was kept; else a fresh one. Null for an attempt in a container: elsewhere its tests mean something else. */
async function openPlace({ workspaces, hidden }: RescoreDeps, { subject, run }: StoredSubject): Promise<{ sandbox: Sandbox; fresh: boolean; close: () => Promise<void> } | null> {
  if (typeof subject.row['image'] === 'string' && subject.row['image'] !== '') return null;
  const left = run?.spec.keepWorkspaces === true ? join(workspaces, run.name, `task_${run.index}`) : null;
  const kept = left !== null && existsSync(left);
  const root = kept ? left : join(workspaces, `score-${randomUUID()}`);
  const sandbox = await openSandbox({ kind: run?.spec.sandbox ?? 'host', root, hidden, network: run?.spec.network ?? true });
  return { sandbox, fresh: !kept, close: () => sandbox.dispose({ remove: !kept }).catch(() => undefined) };
}

async function mapSome<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i]!);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
