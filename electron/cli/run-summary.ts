import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '#engine/engine.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { count, duration, plain, type Terminal } from './terminal.ts';

const FAILURES_SHOWN = 5;
const REASON_CHARS = 300;

/** The options of this call that the next one needs again. */
export interface CallOptions {
  home?: string | undefined;
  /** A key that was given for this call only: it is stored nowhere, so it must be given again. It is never shown. */
  api_key?: string | undefined;
}

/** How to go on with a run, as a command. */
export function resumeHint(runName: string, { home, api_key }: CallOptions): string {
  const key = api_key === undefined ? '' : ' --api_key=…';
  return `npm run talaria -- batch --run_name=${runName} --resume${key}${home === undefined ? '' : ` --home=${home}`}`;
}

/** What became of a run: outcomes, files, reasons. */
export async function printRunSummary(run: RunSummary, engine: Engine, terminal: Terminal, call: CallOptions): Promise<void> {
  const { states, usage } = run;
  const outcomes = (['completed', 'partial', 'failed', 'discarded', 'cancelled', 'pending'] as const).filter((s) => states[s] > 0);
  const how = { completed: 'ended', paused: 'is paused', cancelled: 'was stopped', interrupted: 'was interrupted' } as Record<string, string>;
  terminal.out(`Run ${run.name} ${how[run.state] ?? 'had to stop'} after ${duration(run.elapsedMs)}: ${outcomes.map((s) => `${states[s].toLocaleString('en-US')} ${s === 'pending' ? 'not run' : s}`).join(', ')}.`);
  if (run.removed > 0) terminal.out(`${count(run.removed, 'rollout')} ${run.removed === 1 ? 'belongs' : 'belong'} to rows that are gone from the dataset; what they made stays in the files.`);
  if (run.message) terminal.out(plain(run.message));
  if (run.scripted) terminal.out('SCRIPTED: made by the offline demo model. For trying things out, not for training.');
  terminal.out(`Tokens: ${usage.promptTokens.toLocaleString('en-US')} prompt, ${usage.completionTokens.toLocaleString('en-US')} completion. Turns: ${run.turns}, ${run.turnsWithReasoning} with reasoning.`);
  const causes = Object.entries(run.causes).filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a);
  if (causes.length > 0) terminal.out(`Failed or discarded for: ${causes.map(([cause, n]) => `${plain(cause)} ${n.toLocaleString('en-US')}`).join(', ')}.`);
  if (run.costUsd > 0) terminal.out(`Cost: $${run.costUsd >= 0.1 ? run.costUsd.toFixed(2) : run.costUsd.toPrecision(2)}.`);
  if (run.rewards?.mean != null) terminal.out(`Mean reward: ${Number(run.rewards.mean.toPrecision(4))} over ${count(run.rewards.count, 'rollout')}.`);
  if (run.state === 'completed' && keptCount(run) === 0) terminal.out('No prompt was completed or partial: there is no trajectory in its files.');
  printFiles(run, terminal);
  await printFailures(run, engine, terminal);
  if (states.failed + states.cancelled + states.pending > 0) terminal.out(`To go on: ${resumeHint(run.name, call)}`);
}

/** Prompts whose trajectories are in the files of the run. */
export function keptCount({ states }: Pick<RunSummary, 'states'>): number {
  return states.completed + states.partial;
}

function printFiles(run: RunSummary, terminal: Terminal): void {
  let names: string[];
  try {
    names = readdirSync(run.outputDir);
  } catch {
    return;
  }
  const batches = names.filter((n) => /^batch_\d+\.jsonl$/.test(n)).length;
  const rows = keptCount(run);
  terminal.out(`Files in ${run.outputDir}:`);
  if (names.includes('trajectories.jsonl')) terminal.out(`  trajectories.jsonl  ${count(rows, 'row')}`);
  if (batches > 0) terminal.out(`  batch_<n>.jsonl     ${count(batches, 'file')}`);
  for (const name of ['checkpoint.json', 'statistics.json']) if (names.includes(name)) terminal.out(`  ${name}`);
  if (names.length === 0) terminal.out(`  none in ${join(run.outputDir)}`);
}

async function printFailures(run: RunSummary, engine: Engine, terminal: Terminal): Promise<void> {
  if (run.states.failed === 0) return;
  const { items } = await engine.client.runs.prompts({ id: run.id, states: ['failed'], limit: FAILURES_SHOWN });
  for (const p of items) terminal.out(`  prompt_index ${p.index} failed: ${plain(p.reason ?? 'no reason given').slice(0, REASON_CHARS)}`);
  if (run.states.failed > items.length) terminal.out(`  … and ${count(run.states.failed - items.length, 'more')}`.replace(/mores$/, 'more'));
}
