import type { TFunction } from 'i18next';
import { FileUp, FlaskConical } from 'lucide-react';
import { useEffect, useRef, useState, type DragEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Banner, Progress, Skeleton } from '../../../ui/Feedback.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { DatasetReportView } from './DatasetReportView.tsx';
import { FOUND_MAPPING, type Mapping } from './mapping.ts';
import type { DatasetChoice } from './use-dataset.ts';

/** Where the prompts come from: a file dropped or picked, a path on the engine's machine, or the bundled demo. */
export function DatasetPicker({
  dataset,
  demoPath,
  problem,
  mapping,
  onMapping,
}: {
  dataset: DatasetChoice;
  demoPath: string | undefined;
  problem: string | null;
  mapping: Mapping;
  onMapping: (mapping: Mapping) => void;
}): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  // A path that was typed: the focus stays at the field when it was wrong, and goes to what was found when it was right.
  const typed = useRef(false);
  const { kind } = dataset.state;
  useEffect(() => {
    if (kind === 'reading' || !typed.current) return;
    typed.current = false;
    const active = document.activeElement;
    // Whoever has moved on meanwhile is left alone.
    if (active && active !== document.body && active.tagName !== 'MAIN') return;
    box.current?.querySelector<HTMLElement>(kind === 'ready' ? '[data-preview]' : '[data-path]')?.focus();
  }, [kind]);
  // What was said of the columns of one file says nothing of another.
  const another: DatasetChoice = {
    ...dataset,
    inspect: (path) => {
      onMapping(FOUND_MAPPING);
      dataset.inspect(path);
    },
    upload: (file) => {
      onMapping(FOUND_MAPPING);
      dataset.upload(file);
    },
    clear: () => {
      onMapping(FOUND_MAPPING);
      dataset.clear();
    },
  };
  const byPath = (path: string): void => {
    typed.current = true;
    another.inspect(path);
  };
  return (
    <div ref={box} className="h-full">
      <PickerState dataset={another} demoPath={demoPath} problem={problem} mapping={mapping} onMapping={onMapping} onPath={byPath} />
    </div>
  );
}

interface PickerProps {
  dataset: DatasetChoice;
  demoPath: string | undefined;
  problem: string | null;
  onPath: (path: string) => void;
}

function PickerState({ dataset, demoPath, problem, onPath, mapping, onMapping }: PickerProps & { mapping: Mapping; onMapping: (mapping: Mapping) => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const f = useFormat();
  const { state } = dataset;
  if (state.kind === 'uploading') {
    return (
      <div className="mx-auto grid h-full max-w-[640px] content-center gap-2 p-8">
        <div className="num flex justify-between gap-4 text-sm">
          <span className="truncate">{t('dataset.uploading', { name: state.name })}</span>
          <span className="shrink-0 text-fg-3">
            {f.bytes(state.sent)} / {f.bytes(state.size)}
          </span>
        </div>
        <Progress value={state.size === 0 ? null : state.sent / state.size} label={t('dataset.uploading', { name: state.name })} />
        <div>
          <Button onClick={dataset.cancel}>{t('app:action.cancel')}</Button>
        </div>
      </div>
    );
  }
  if (state.kind === 'reading') {
    return (
      <div className="grid content-start gap-2 p-4" role="status" aria-label={t('dataset.reading')}>
        <Skeleton className="h-9" />
        {Array.from({ length: 8 }, (_, i) => (
          <Skeleton key={i} className="h-6" />
        ))}
      </div>
    );
  }
  if (state.kind === 'ready')
    return (
      <DatasetReportView
        key={state.report.path}
        report={state.report}
        busy={state.busy}
        isDemo={state.report.path === demoPath}
        mapping={mapping}
        onMapping={onMapping}
        onChange={dataset.clear}
      />
    );
  return (
    <Source
      dataset={dataset}
      demoPath={demoPath}
      problem={problem}
      onPath={onPath}
      failure={state.kind === 'failed' ? failureText(errorText(state.error), t) : null}
      failedPath={state.kind === 'failed' ? state.path : null}
    />
  );
}

const NO_FILE = /^There is no file (.+)\.$/s;

/** The commonest of the engine's sentences in the page's language; the others as they are. */
function failureText(sentence: string, t: TFunction<['batch', 'app']>): string {
  const path = NO_FILE.exec(sentence)?.[1];
  return path === undefined ? sentence : t('dataset.noFile', { path });
}

function Source({
  dataset,
  demoPath,
  problem,
  onPath,
  failure,
  failedPath,
}: PickerProps & {
  failure: string | null;
  failedPath: string | null;
}): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const picker = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [path, setPath] = useState(failedPath ?? '');
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) dataset.upload(file);
  };
  return (
    <div className="h-full overflow-y-auto p-5">
      <div className="mx-auto grid max-w-[640px] gap-4">
        {failure && <Banner tone="bad" live title={failure} />}
        <div
          onDragOver={(e) => {
            e.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
          className={cx(
            'grid justify-items-center gap-2 rounded-l border border-dashed px-6 py-9 text-center transition-colors',
            over ? 'border-accent bg-accent-soft' : 'border-line-strong bg-raised',
          )}
        >
          <FileUp className="size-7 text-fg-3" strokeWidth={1.5} aria-hidden="true" />
          <p className="text-lg font-semibold">{t('dataset.drop')}</p>
          <p className="max-w-[52ch] text-sm text-fg-2">{t('dataset.dropHint')}</p>
          <p className="font-mono text-xs text-fg-3">.jsonl .json .csv .tsv .parquet · .gz .zst</p>
          <div className="mt-1">
            <Button icon={FileUp} hotkey="f" onClick={() => picker.current?.click()}>
              {t('dataset.pick')}
            </Button>
          </div>
          <input
            ref={picker}
            type="file"
            accept=".jsonl,.ndjson,.json,.csv,.tsv,.parquet,.gz,.zst,.txt"
            tabIndex={-1}
            aria-hidden="true"
            className="hidden"
            onChange={(e) => {
              const file = e.target.files?.[0];
              e.target.value = '';
              if (file) dataset.upload(file);
            }}
          />
          {problem && !failure && (
            <p role="alert" className="text-xs text-bad">
              {problem}
            </p>
          )}
        </div>
        <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_auto] sm:items-end">
          <form
            onSubmit={(e) => {
              e.preventDefault();
              if (path.trim()) onPath(path.trim());
            }}
          >
            <Field label={t('dataset.path')}>
              {(props) => (
                <div className="flex gap-2">
                  <Input {...props} data-path="" mono value={path} placeholder="/data/prompts.jsonl" onChange={(e) => setPath(e.target.value)} />
                  <Button type="submit" className="h-7!" disabled={path.trim() === ''}>
                    {t('dataset.read')}
                  </Button>
                </div>
              )}
            </Field>
          </form>
          {demoPath !== undefined && (
            <Button icon={FlaskConical} className="h-7!" hotkey="d" onClick={() => dataset.inspect(demoPath)}>
              {t('dataset.demo')}
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}
