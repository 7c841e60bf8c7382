import { ORPCError } from '@orpc/client';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CompressorRequest, CompressorSummary } from '#shared/contract/compressor.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { errorText } from '../../../lib/errors.ts';
import { useToasts } from '../../../ui/Toasts.tsx';

type CompressorState =
  | { phase: 'form'; error: unknown; exists: boolean; cancelled: boolean }
  | { phase: 'running'; done: number; total: number; compressed: number; tokensSaved: number }
  | { phase: 'done'; summary: CompressorSummary };

const FORM: CompressorState = { phase: 'form', error: null, exists: false, cancelled: false };

/** Runs one pass of the compressor. It goes on when the dialog is closed, and then tells of its end in a toast. */
export function useCompressor(): { state: CompressorState; start: (request: CompressorRequest) => void; cancel: () => void; reset: () => void } {
  const client = useClient();
  const toast = useToasts();
  const { t } = useTranslation('library');
  const app = useTranslation('app').t;
  const [state, setState] = useState<CompressorState>(FORM);
  const running = useRef<AbortController | null>(null);
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
    };
  }, []);

  const start = (request: CompressorRequest): void => {
    const abort = new AbortController();
    running.current = abort;
    setState({ phase: 'running', done: 0, total: 0, compressed: 0, tokensSaved: 0 });
    void (async () => {
      try {
        for await (const event of await client.compressor.run(request, { signal: abort.signal })) {
          if (event.type === 'progress') setState({ phase: 'running', done: event.done, total: event.total, compressed: event.compressed, tokensSaved: event.tokensSaved });
          else {
            setState({ phase: 'done', summary: event.summary });
            if (!here.current) toast({ title: t('compress.doneTitle'), description: event.summary.files.map((file) => file.output).join(', '), kind: 'good' });
          }
        }
      } catch (error) {
        const cancelled = abort.signal.aborted;
        const exists = error instanceof ORPCError && error.code === 'CONFLICT';
        setState({ phase: 'form', error: cancelled || exists ? null : error, exists, cancelled });
        if (!here.current && !cancelled) toast({ title: t('compress.failed'), description: errorText(error, app), kind: 'bad' });
      }
    })();
  };
  return { state, start, cancel: () => running.current?.abort(), reset: () => setState(FORM) };
}
