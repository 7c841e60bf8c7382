import { useCallback, useEffect, useRef, useState } from 'react';
import type { ImportChoice, ImportEvent, ImportReport, ImportResult, ImportSource } from '#shared/contract/skill-imports.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { uploadFile } from '../../batch/new-run/upload.ts';
import { type Dropped, stageFiles } from './dropped.ts';

export type Working = { stage: 'uploading' | 'importing' | 'undoing' | Extract<ImportEvent, { type: 'progress' }>['stage']; done: number; total: number; text: string };

export type ImportStep =
  | { kind: 'source'; error: unknown }
  | { kind: 'working'; work: Working }
  | { kind: 'report'; report: ImportReport; error: unknown }
  | { kind: 'done'; report: ImportReport; results: ImportResult[]; undone: boolean; error: unknown };

export interface ImportFlow {
  step: ImportStep;
  look: (source: ImportSource | Dropped) => void;
  take: (choices: ImportChoice[]) => void;
  undo: () => void;
  /** Ends what goes on. */
  cancel: () => void;
  /** Another source; the report is given up. */
  again: () => void;
}

const NOTHING: ImportStep = { kind: 'source', error: null };

/** The steps of an import. Leaving ends what goes on and gives up a report that was not used. */
export function useImport(): ImportFlow {
  const client = useClient();
  const [step, setStep] = useState<ImportStep>(NOTHING);
  const abort = useRef<AbortController | null>(null);
  const open = useRef<string | null>(null);
  const giveUp = useCallback(() => {
    abort.current?.abort();
    abort.current = null;
    const id = open.current;
    open.current = null;
    if (id !== null) client.skillImports.discard({ id }).catch(() => undefined);
  }, [client]);
  useEffect(() => giveUp, [giveUp]);

  const begin = (stage: Working['stage'], total = 0): { signal: AbortSignal; say: (done: number, total: number, text?: string) => void } => {
    abort.current?.abort();
    const control = new AbortController();
    abort.current = control;
    const say = (done: number, of: number, text = ''): void => {
      if (!control.signal.aborted) setStep({ kind: 'working', work: { stage, done, total: of, text } });
    };
    say(0, total);
    return { signal: control.signal, say };
  };

  const look = (from: ImportSource | Dropped): void => {
    void (async () => {
      giveUp();
      const { signal, say } = begin('file' in from || 'files' in from ? 'uploading' : 'copying');
      try {
        const source = await sourceOf(from, client, say, signal);
        for await (const event of await client.skillImports.scan(source, { signal })) {
          if (signal.aborted) return;
          if (event.type === 'progress') setStep({ kind: 'working', work: event });
          else {
            open.current = event.report.id;
            setStep({ kind: 'report', report: event.report, error: null });
          }
        }
      } catch (error) {
        if (!signal.aborted) setStep({ kind: 'source', error });
      }
    })();
  };

  const take = (choices: ImportChoice[]): void => {
    if (step.kind !== 'report') return;
    const { report } = step;
    void (async () => {
      const { signal } = begin('importing', choices.length);
      try {
        const { results } = await client.skillImports.apply({ id: report.id, choices });
        if (!results.some((result) => result.outcome === 'failed')) open.current = null;
        if (!signal.aborted) setStep({ kind: 'done', report, results, undone: false, error: null });
      } catch (error) {
        if (!signal.aborted) setStep({ kind: 'report', report, error });
      }
    })();
  };

  const undo = (): void => {
    if (step.kind !== 'done') return;
    const versionIds = step.results.flatMap(({ versionId }) => versionId ?? []);
    void (async () => {
      const { signal } = begin('undoing', versionIds.length);
      try {
        const { failed } = await client.skillImports.undo({ versionIds });
        if (!signal.aborted) setStep({ ...step, undone: failed.length === 0, error: failed[0] ? new Error(failed[0].message) : null });
      } catch (error) {
        if (!signal.aborted) setStep({ ...step, error });
      }
    })();
  };

  const reset = (): void => {
    giveUp();
    setStep(NOTHING);
  };
  return { step, look, take, undo, cancel: reset, again: reset };
}

async function sourceOf(from: ImportSource | Dropped, client: ReturnType<typeof useClient>, say: (done: number, total: number, text?: string) => void, signal: AbortSignal): Promise<ImportSource> {
  if ('file' in from) return { kind: 'zip', path: await uploadFile(client.datasets, from.file, (sent) => say(sent, from.file.size), signal) };
  if ('files' in from) return { kind: 'staged', id: await stageFiles(client.skillImports, from.files, (done) => say(done, from.files.length), signal) };
  return from;
}
