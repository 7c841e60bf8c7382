import { ORPCError } from '@orpc/client';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ExportRequest, ExportSummary } from '#shared/contract/exports.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { errorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { useToasts } from '../../../ui/Toasts.tsx';

export type ExportState =
  | { phase: 'form'; error: unknown; exists: boolean; cancelled: boolean }
  | { phase: 'running'; done: number; total: number; bytes: number }
  | { phase: 'done'; summary: ExportSummary };

const FORM: ExportState = { phase: 'form', error: null, exists: false, cancelled: false };

/** Runs one export. It goes on when the dialog is closed, and then tells of its end in a toast. */
export function useExport(): { state: ExportState; start: (request: ExportRequest) => void; cancel: () => void; reset: () => void } {
  const client = useClient();
  const toast = useToasts();
  const format = useFormat();
  const { t } = useTranslation('library');
  const app = useTranslation('app').t;
  const [state, setState] = useState<ExportState>(FORM);
  const running = useRef<AbortController | null>(null);
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);

  const start = (request: ExportRequest): void => {
    const abort = new AbortController();
    running.current = abort;
    setState({ phase: 'running', done: 0, total: 0, bytes: 0 });
    void (async () => {
      try {
        for await (const event of await client.exports.run(request, { signal: abort.signal })) {
          if (event.type === 'progress') setState({ phase: 'running', done: event.done, total: event.total, bytes: event.bytes });
          else {
            setState({ phase: 'done', summary: event.summary });
            if (!here.current) toast(event.summary.file === '' ? { title: t('export.nothingDoneTitle'), description: t('export.nothingDone'), kind: 'info' } : { title: t('export.doneTitle'), description: `${event.summary.file} · ${format.exact(event.summary.written)}`, kind: 'good' });
          }
        }
      } catch (error) {
        const cancelled = abort.signal.aborted;
        const exists = error instanceof ORPCError && error.code === 'CONFLICT';
        setState({ phase: 'form', error: cancelled || exists ? null : error, exists, cancelled });
        if (!here.current && !cancelled) toast({ title: t('export.failed'), description: errorText(error, app), kind: 'bad' });
      }
    })();
  };
  return { state, start, cancel: () => running.current?.abort(), reset: () => setState(FORM) };
}
