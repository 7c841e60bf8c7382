import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ExportRequest, ExportSummary } from '#shared/contract/exports.ts';
import type { Database } from '../../store/database.ts';
import { countMatching } from '../query.ts';
import { FILE_EXISTS, SYSTEM_FAILURE } from './codes.ts';
import type { ExportFormat } from './format.ts';
import { PartFile } from './part-file.ts';
import { shareGptFormat } from './rows.ts';
import { Tally } from './tally.ts';

const PROGRESS_MS = 200;

export interface ExportJob {
  request: Omit<ExportRequest, 'file'> & { file: string | null };
  /** Set to 1 from outside to cancel. */
  cancel: Int32Array;
}

export class ExportCancelled extends Error {
  override name = 'ExportCancelled';
}

type Progress = (progress: { done: number; total: number; bytes: number }) => void;

/**
 * Writes the trajectories of a filter to one JSONL file in the format asked for, holding one line's worth at a time. The file appears
 * under its name only when it is whole, and not at all when nothing is fit for it. With `file: null` nothing is written (a preview).
 */
export async function exportTrajectories(db: Database, job: ExportJob, onProgress: Progress): Promise<ExportSummary> {
  const { file, overwrite } = job.request;
  if (file !== null && !overwrite && existsSync(file)) throw new Error(`${FILE_EXISTS}: ${file} exists already.`);
  const check = (): void => {
    if (Atomics.load(job.cancel, 0) === 1) throw new ExportCancelled('The export was cancelled.');
  };
  return writeSteps(db, job.request, await openFormat(db, job.request, check), check, onProgress);
}

async function openFormat(db: Database, request: ExportJob['request'], check: () => void): Promise<ExportFormat> {
  switch (request.format) {
    case 'sharegpt':
      return shareGptFormat(db, request);
    case 'atropos':
      // loaded on first use: tokenizers and templates are only needed here
      return (await import('./atropos/groups.ts')).atroposFormat(db, request, { check, preview: request.file === null });
  }
}

function writeSteps(db: Database, request: ExportJob['request'], format: ExportFormat, check: () => void, onProgress: Progress): ExportSummary {
  const started = Date.now();
  const total = countMatching(db, request.filter);
  const [leftOut, warnings, groupsOut] = [new Tally(), new Tally(), new Tally()];
  const sizes = new Map<number, number>();
  const tokens = { rollouts: 0, total: 0, trained: 0 };
  const out = request.file === null ? null : withCode(() => new PartFile(request.file ?? ''));
  let [done, written, groups, lastProgress] = [0, 0, 0, 0];
  let companions: string[] = [];
  try {
    for (const step of format.steps()) {
      check();
      if (step.line !== null) withCode(() => out?.write(`${step.line}\n`));
      for (const remark of step.leftOut) leftOut.add(remark);
      for (const remark of step.warnings) warnings.add(remark);
      if (step.group) {
        if (step.group.leftOut) groupsOut.add(step.group.leftOut);
        else {
          groups++;
          sizes.set(step.group.size, (sizes.get(step.group.size) ?? 0) + 1);
        }
      }
      if (step.tokens) {
        tokens.rollouts += step.tokens.rollouts;
        tokens.total += step.tokens.total;
        tokens.trained += step.tokens.trained;
      }
      written += step.written;
      done += step.seen;
      if (Date.now() - lastProgress > PROGRESS_MS) {
        lastProgress = Date.now();
        onProgress({ done, total, bytes: out?.bytes ?? 0 });
      }
    }
    for (const remark of format.atEnd?.() ?? []) warnings.add(remark);
    if (written > 0) {
      withCode(() => out?.finish(request.overwrite));
      if (request.file !== null) companions = withCode(() => writeCompanions(request.file!, format, request.overwrite));
    } else out?.discard();
  } catch (error) {
    out?.discard();
    throw error;
  }
  return {
    file: written > 0 ? (request.file ?? '') : '',
    format: request.format,
    bytes: out?.bytes ?? 0,
    written,
    leftOut: leftOut.list(),
    warnings: warnings.list(),
    groups: request.format === 'atropos' ? { written: groups, sizes: [...sizes].map(([size, count]) => ({ size, count })).sort((a, b) => b.count - a.count), leftOut: groupsOut.list() } : null,
    tokens: format.tokenized ? { ...tokens, ...format.tokenized } : null,
    companions,
    durationMs: Date.now() - started,
  };
}

/** Names those that now lie beside the export as they should; a different file of the same name is only replaced when that was asked for. */
function writeCompanions(file: string, format: ExportFormat, overwrite: boolean): string[] {
  const beside: string[] = [];
  for (const { name, text } of format.companions ?? []) {
    const path = join(dirname(file), name);
    if (overwrite) rmSync(path, { force: true });
    if (!existsSync(path)) writeFileSync(path, text, { flag: 'wx' });
    if (readFileSync(path, 'utf8') === text) beside.push(path);
  }
  return beside;
}

/** Puts the code of a failure of the file system in front. */
function withCode<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw typeof code === 'string' ? new Error(`${SYSTEM_FAILURE} ${code}: ${message}`, { cause: error }) : error;
  }
}
