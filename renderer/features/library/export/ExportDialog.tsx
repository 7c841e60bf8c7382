import { CircleCheck, Download } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import { useClient, useLoad } from '../../../lib/engine-context.tsx';
import { errorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { hostKind } from '../../../lib/transports.ts';
import { Button } from '../../../ui/Button.tsx';
import { Checkbox } from '../../../ui/Checkbox.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Banner, CopyButton, Progress, Skeleton } from '../../../ui/Feedback.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import type { Selection } from '../list/selection.ts';
import { isFiltered, type LibraryFilter } from '../url.ts';
import { downloadPath, filterOfSelection, MAX_IDS, suggestedFile } from './request.ts';
import { whyNothing } from './reasons.ts';
import { Tally } from './Tally.tsx';
import { useExport } from './use-export.ts';

export interface ExportScope {
  filter: LibraryFilter;
  selection: Selection;
  /** Trajectories meant. */
  count: number;
  /** The run that the list is filtered by. */
  runName: string | null;
}

/** Exports the selected, else the filtered trajectories: what will be in the file first, then progress, then what was written. */
export function ExportDialog({ scope, onClose }: { scope: ExportScope; onClose: () => void }): ReactNode {
  const { t } = useTranslation('library');
  const app = useTranslation('app').t;
  const format = useFormat();
  const [file, setFile] = useState(() => suggestedFile(scope.runName, new Date()));
  const [includePartial, setIncludePartial] = useState(false);
  const [includeScripted, setIncludeScripted] = useState(false);
  const [overwrite, setOverwrite] = useState(false);
  const target = useTarget(scope);
  const folder = useLoad((c, signal) => c.exports.folder(undefined, { signal }), []);
  const options = { format: 'sharegpt' as const, includePartial, includeScripted };
  const preview = useLoad(
    (c, signal) => (target.filter ? c.exports.preview({ filter: target.filter, ...options }, { signal }) : Promise.resolve(null)),
    [target.filter !== null, includePartial, includeScripted],
  );
  const { state, start, cancel, reset } = useExport();
  const kept = useKept(preview.data ?? null);
  const selected = scope.selection.ids.size > 0 || scope.selection.mode === 'all';
  const scopeText = selected ? t('export.scopeSelected') : isFiltered(scope.filter) ? t('export.scopeFiltered') : t('export.scopeAll');
  const written = preview.data?.written ?? 0;
  const ready = preview.data != null && written > 0 && file.trim() !== '';
  const nothing = preview.data?.written === 0 && !preview.loading ? whyNothing(preview.data.leftOut, { includePartial, includeScripted }) : null;
  const run = (): void => {
    if (target.filter && ready) start({ filter: target.filter, ...options, file: file.trim(), overwrite });
  };

  if (state.phase === 'done') {
    const { summary } = state;
    const link = summary.file !== '' && hostKind(document) === 'browser' && folder.data ? downloadPath(summary.file, folder.data.path) : null;
    return (
      <Dialog
        open
        onClose={onClose}
        title={t(summary.file === '' ? 'export.nothingDoneTitle' : 'export.doneTitle')}
        footer={
          <>
            <Button onClick={() => { reset(); setOverwrite(false); }}>{t('export.another')}</Button>
            <Button variant="primary" onClick={onClose}>{app('action.close')}</Button>
          </>
        }
      >
        <div className="grid gap-4">
          {summary.file === '' ? (
            <p role="status">{t('export.nothingDone')}</p>
          ) : (
            <>
              <p role="status" className="flex items-center gap-2">
                <CircleCheck className="size-4 shrink-0 text-good" aria-hidden="true" />
                {t('export.doneText', { count: summary.written, shown: format.exact(summary.written), size: format.bytes(summary.bytes), time: format.duration(summary.durationMs) })}
              </p>
              <div className="flex flex-wrap items-center gap-2 rounded-m border border-line bg-code px-2.5 py-1.5">
                <code className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{summary.file}</code>
                <CopyButton text={() => summary.file} label={t('export.copyPath')} />
                {link && (
                  <a href={link} download className="inline-flex h-[26px] items-center gap-1.5 rounded-m border border-line-strong bg-raised px-2.5 text-sm font-medium hover:bg-hover">
                    <Download className="size-3.5" aria-hidden="true" />
                    {t('export.download')}
                  </a>
                )}
              </div>
            </>
          )}
          <Tally summary={summary} onLeave={onClose} />
        </div>
      </Dialog>
    );
  }

  const running = state.phase === 'running';
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('export.title', { count: scope.count, shown: format.exact(scope.count) })}
      description={scopeText}
      footer={
        running ? (
          <Button onClick={cancel}>{t('export.cancel')}</Button>
        ) : (
          <>
            {nothing && <p role="status" className="min-w-40 flex-1 self-center text-sm text-fg-2">{t(`export.nothing.${nothing}`)}</p>}
            <Button onClick={onClose}>{app('action.cancel')}</Button>
            <Button variant="primary" disabled={!ready || (state.phase === 'form' && state.exists && !overwrite)} onClick={run}>
              {t('export.run', { count: written, shown: format.exact(written) })}
            </Button>
          </>
        )
      }
    >
      {running ? (
        <div className="grid gap-2 py-2" role="status">
          <Progress value={state.total > 0 ? state.done / state.total : null} label={t('export.runningLabel')} />
          <p className="num text-sm text-fg-2">{t('export.running', { done: format.exact(state.done), total: format.exact(state.total), size: format.bytes(state.bytes) })}</p>
        </div>
      ) : (
        <div className="grid gap-4">
          {state.phase === 'form' && state.cancelled && <Banner tone="info" live title={t('export.cancelled')} />}
          {state.phase === 'form' && state.error !== null && <Banner tone="bad" live title={t('export.failed')}>{errorText(state.error, app)}</Banner>}
          <div className="grid gap-1">
            <span className="text-sm font-medium text-fg-2">{t('export.format')}</span>
            <p className="text-sm text-fg-2">{t('export.formatText')}</p>
          </div>
          <Field
            label={t('export.file')}
            hint={folder.data ? t('export.fileHint', { folder: folder.data.path }) : t('export.fileHintShort')}
            error={file.trim() === '' ? t('export.fileEmpty') : state.phase === 'form' && state.exists ? t('export.exists') : null}
          >
            {(props) => (
              <Input
                {...props}
                mono
                autoFocus
                value={file}
                onChange={(e) => {
                  setFile(e.target.value);
                  if (state.phase === 'form' && state.exists) reset();
                  setOverwrite(false);
                }}
                onKeyDown={(e) => e.key === 'Enter' && !e.nativeEvent.isComposing && run()}
              />
            )}
          </Field>
          {state.phase === 'form' && state.exists && <Checkbox checked={overwrite} onChange={setOverwrite} label={t('export.overwrite')} />}
          <div className="grid gap-2">
            <Checkbox checked={includePartial} onChange={setIncludePartial} label={t('export.includePartial')} hint={t('export.includePartialHint')} />
            <Checkbox checked={includeScripted} onChange={setIncludeScripted} label={t('export.includeScripted')} hint={t('export.includeScriptedHint')} />
          </div>
          <section aria-label={t('export.previewTitle')} aria-busy={preview.loading} className="grid min-h-36 content-start gap-2 rounded-m border border-line bg-bg px-3 py-2.5">
            <h3 className="flex items-center gap-2 text-sm font-medium text-fg-2">
              {t('export.previewTitle')}
              {(preview.loading || target.collecting) && <Spinner label={target.collecting ? t('export.collecting') : t('export.previewing', { shown: format.exact(scope.count) })} />}
            </h3>
            {target.tooMany ? (
              <p role="alert" className="text-sm text-bad">{t('export.tooMany', { max: format.exact(MAX_IDS) })}</p>
            ) : target.error !== null || preview.error !== null ? (
              <p role="alert" className="text-sm text-bad">{errorText(target.error ?? preview.error, app)}</p>
            ) : kept ? (
              <div className={preview.loading ? 'opacity-60' : undefined}>
                <Tally summary={kept} onLeave={onClose} />
              </div>
            ) : (
              <div className="grid gap-2">
                <Skeleton className="h-4" />
                <Skeleton className="h-4 w-4/5" />
                <Skeleton className="h-4 w-3/5" />
              </div>
            )}
          </section>
        </div>
      )}
    </Dialog>
  );
}

interface Target {
  filter: TrajectoryFilter | null;
  tooMany: boolean;
  collecting: boolean;
  error: unknown;
}

/** The selection as a filter of the contract, worked out once. */
function useTarget({ filter, selection }: ExportScope): Target {
  const client = useClient();
  const [answer, setAnswer] = useState<Target>({ filter: null, tooMany: false, collecting: true, error: null });
  useEffect(() => {
    const abort = new AbortController();
    filterOfSelection(client.trajectories.list, filter, selection, abort.signal).then(
      (found) => !abort.signal.aborted && setAnswer({ filter: found, tooMany: found === null, collecting: false, error: null }),
      (error: unknown) => !abort.signal.aborted && setAnswer({ filter: null, tooMany: false, collecting: false, error }),
    );
    return () => abort.abort();
  }, [client, filter, selection]);
  return answer;
}

/** The newest value that was there: the old counts stay, dimmed, while new ones are on their way. */
function useKept<T>(value: T | null): T | null {
  const [kept, setKept] = useState(value);
  if (value !== null && value !== kept) setKept(value);
  return value ?? kept;
}
