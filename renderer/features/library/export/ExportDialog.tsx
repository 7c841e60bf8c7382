import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { EXPORT_CONTEXTS, EXPORT_FORMATS, type ExportContext, type ExportFormatName } from '#shared/contract/exports.ts';
import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import { useClient, useLoad } from '../../../lib/engine-context.tsx';
import { errorField, errorText } from '../../../lib/errors.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Checkbox } from '../../../ui/Checkbox.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Banner, Progress, Skeleton } from '../../../ui/Feedback.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { Segmented, Select } from '../../../ui/Select.tsx';
import type { Selection } from '../list/selection.ts';
import { isFiltered, type LibraryFilter } from '../url.ts';
import { ExportDone } from './ExportDone.tsx';
import { EMPTY_GROUP_FORM, readGroupForm } from './group-form.ts';
import { type FieldError, GroupFields } from './GroupFields.tsx';
import { filterOfSelection, MAX_IDS, suggestedFile } from './request.ts';
import { whyNothing } from './reasons.ts';
import { groupsText, Tally } from './Tally.tsx';
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
  const [kind, setKind] = useState<ExportFormatName>('sharegpt');
  const [form, setForm] = useState(EMPTY_GROUP_FORM);
  const { options: groups, errors } = readGroupForm(form);
  const ofGroups = kind === 'atropos';
  const [opened] = useState(() => new Date());
  const [typed, setFile] = useState<string | null>(null);
  const file = typed ?? suggestedFile(scope.runName, opened, ofGroups ? (groups.tokenizer === null ? '-groups.messages' : '-groups') : '');
  const [context, setContext] = useState<ExportContext>('full');
  const [includePartial, setIncludePartial] = useState(false);
  const [includeScripted, setIncludeScripted] = useState(false);
  const [overwrite, setOverwrite] = useState(false);
  const target = useTarget(scope);
  const folder = useLoad((c, signal) => c.exports.folder(undefined, { signal }), []);
  const options = { format: kind, context, includePartial, includeScripted, groups };
  const settled = useSettled(JSON.stringify(options), TYPING_MS);
  const preview = useLoad(
    (c, signal) => (target.filter ? c.exports.preview({ filter: target.filter, ...(JSON.parse(settled) as typeof options) }, { signal }) : Promise.resolve(null)),
    [target.filter !== null, settled],
  );
  const { state, start, cancel, reset } = useExport();
  const current = settled === JSON.stringify(options) && preview.data != null && !preview.loading;
  const kept = useKept(current ? (preview.data ?? null) : null, kind);
  const selected = scope.selection.ids.size > 0 || scope.selection.mode === 'all';
  const scopeText = selected ? t('export.scopeSelected') : isFiltered(scope.filter) ? t('export.scopeFiltered') : t('export.scopeAll');
  const written = kept?.written ?? 0;
  const lines = (ofGroups ? kept?.groups?.written : written) ?? 0;
  const failed = fieldError(preview.error ?? (state.phase === 'form' ? state.error : null), (error) => errorText(error, app));
  const ready = current && written > 0 && file.trim() !== '' && !(ofGroups && Object.keys(errors).length > 0);
  const nothing = preview.data?.written === 0 && !preview.loading ? whyNothing(preview.data.leftOut, { includePartial, includeScripted }) : null;
  const run = (): void => {
    if (target.filter && ready) start({ filter: target.filter, ...options, file: file.trim(), overwrite });
  };

  if (state.phase === 'done') {
    const again = (): void => {
      reset();
      setOverwrite(false);
    };
    return <ExportDone summary={state.summary} folder={folder.data?.path ?? null} onAgain={again} onClose={onClose} />;
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
            {nothing ? (
              <p role="status" className="min-w-40 flex-1 self-center text-sm text-fg-2">{t(`export.nothing.${nothing}`)}</p>
            ) : (
              kept?.groups && !failed && <p role="status" className={cx('num min-w-40 flex-1 self-center text-sm text-fg-2', !current && 'opacity-60')}>{groupsText(kept.groups, t, format.exact)}</p>
            )}
            <Button onClick={onClose}>{app('action.cancel')}</Button>
            <Button variant="primary" disabled={!ready || (state.phase === 'form' && state.exists && !overwrite)} onClick={run}>
              {t(ofGroups ? 'export.groups.run' : 'export.run', { count: lines, shown: format.exact(lines) })}
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
          {state.phase === 'form' && state.error !== null && !failed && <Banner tone="bad" live title={t('export.failed')}>{errorText(state.error, app)}</Banner>}
          <Field label={t('export.format')} hint={t(`export.formatText.${kind}`)}>
            {(props) => <Select {...props} className="w-full" value={kind} onChange={setKind} options={EXPORT_FORMATS.map((value) => ({ value, label: t(`export.formatName.${value}`) }))} />}
          </Field>
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
          {ofGroups && (
            <GroupFields
              form={form}
              errors={errors}
              failed={failed}
              onChange={(next) => {
                setForm(next);
                if (state.phase === 'form' && state.error !== null) reset();
              }}
            />
          )}
          <div className="grid gap-1">
            <span className="text-sm font-medium text-fg-2" aria-hidden="true">{t('export.context')}</span>
            <Segmented label={t('export.context')} value={context} onChange={setContext} options={EXPORT_CONTEXTS.map((value) => ({ value, label: t(`export.contextForm.${value}`) }))} />
            <p className="min-h-8 text-sm text-fg-2">{t(`export.contextText.${context}`)}</p>
          </div>
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
            ) : target.error !== null || (preview.error !== null && !failed) ? (
              <p role="alert" className="text-sm text-bad">{errorText(target.error ?? preview.error, app)}</p>
            ) : failed ? (
              <p className="text-sm text-fg-2">{t('export.fieldFirst')}</p>
            ) : kept ? (
              <div className={current ? undefined : 'opacity-60'}>
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

/** While somebody types, only the last of it is worth counting for. */
const TYPING_MS = 300;

/** A value once it has not changed for so long. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** An error that belongs to one of the fields of groups. */
function fieldError(error: unknown, say: (error: unknown) => string): FieldError | null {
  const field = errorField(error);
  return field !== null && field in EMPTY_GROUP_FORM ? { field, text: say(error) } : null;
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

/** The newest value that was there of this kind: the old counts stay, dimmed, while new ones are on their way. */
function useKept<T>(value: T | null, kind: string): T | null {
  const [kept, setKept] = useState({ value, kind });
  if (kind !== kept.kind) setKept({ value: null, kind });
  else if (value !== null && value !== kept.value) setKept({ value, kind });
  return kept.kind === kind ? (value ?? kept.value) : null;
}
