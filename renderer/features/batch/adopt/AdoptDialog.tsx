import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { AdoptReport } from '#shared/contract/adopt.ts';
import { runSpecSchema } from '#shared/contract/runs.ts';
import { useClient, useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { navigate } from '../../../lib/hash-location.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { likeliestProvider } from '../../../lib/providers.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Progress } from '../../../ui/Feedback.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { Select } from '../../../ui/Select.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { useJob } from '../change/use-job.ts';
import { fileName } from '../run-codes.ts';

/** Typing goes on this long before the engine looks, ms. */
const PAUSE_MS = 350;

/** Takes over a run that Hermes Agent's batch runner made, and finishes it: what would be taken over is shown first. The old folder is only read. */
export function AdoptDialog({ onClose }: { onClose: () => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const errorText = useErrorText();
  const client = useClient();
  const [folder, setFolder] = useState('');
  const [datasetFile, setDatasetFile] = useState('');
  const [typedName, setName] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [typedModel, setModel] = useState<string | null>(null);
  const where = useSettled(JSON.stringify({ folder: folder.trim(), datasetFile: datasetFile.trim() }));
  const settings = useLoad((c, signal) => c.settings.get(undefined, { signal }), []);
  const found = useLoad(
    async (c, signal) => {
      const asked = JSON.parse(where) as { folder: string; datasetFile: string };
      if (asked.folder === '') return null;
      return await c.adopt.inspect({ folder: asked.folder, ...(asked.datasetFile === '' ? {} : { dataset: { ...PLAIN, datasetFile: asked.datasetFile } }) }, { signal });
    },
    [where],
  );
  const work = useJob<{ id: string }>();
  const report = found.data ?? null;
  const providers = settings.data?.providers ?? [];
  const provider = chosen ?? likeliestProvider(providers)?.id ?? '';
  const model = typedModel ?? (report?.model || (providers.find((p) => p.id === provider)?.defaultModel ?? ''));
  const name = typedName ?? ((report?.runName || fileName(folder)).replace(/[^\w.-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '').slice(0, 100));
  const spec = runSpecSchema.safeParse({
    datasetFile: datasetFile.trim(),
    runName: name,
    provider,
    model: model.trim(),
    ...(report?.batchSize ? { batchSize: report.batchSize } : {}),
    ...(report?.distribution ? { distribution: report.distribution } : {}),
  });
  const match = report?.dataset ?? null;
  const taken = match ? match.matched + match.discarded : 0;
  const waiting = found.loading || where !== JSON.stringify({ folder: folder.trim(), datasetFile: datasetFile.trim() });
  const ready = spec.success && provider !== '' && taken > 0 && !waiting;
  const badName = name !== '' && !runSpecSchema.shape.runName.safeParse(name).success;
  const start = async (): Promise<void> => {
    if (!ready || work.busy) return;
    const done = await work.start(async (signal) => ended(await client.adopt.run({ folder: folder.trim(), spec: spec.data }, { signal })));
    if (!done) return;
    onClose();
    navigate(`/batch/${encodeURIComponent(done.id)}`);
  };
  const problem = work.error ?? found.error;
  return (
    <Dialog
      open
      onClose={() => {
        work.cancel();
        onClose();
      }}
      title={t('adopt.title')}
      description={t('adopt.text')}
      footer={
        <>
          <Button onClick={() => (work.busy ? work.cancel() : onClose())}>{t('app:action.cancel')}</Button>
          <Button variant="primary" disabled={!ready} busy={work.busy} onClick={() => void start()}>
            {match && taken > 0 ? t('adopt.start', { count: taken, shown: f.exact(taken), left: f.exact(match.pending) }) : t('adopt.startPlain')}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <Field label={t('adopt.folder')} hint={t('adopt.folderHint')}>
          {(props) => <Input {...props} mono value={folder} placeholder="/data/my_run" disabled={work.busy} onChange={(e) => setFolder(e.target.value)} />}
        </Field>
        <Field label={t('adopt.dataset')} hint={t('adopt.datasetHint')}>
          {(props) => <Input {...props} mono value={datasetFile} placeholder="/data/prompts.jsonl" disabled={work.busy} onChange={(e) => setDatasetFile(e.target.value)} />}
        </Field>
        <div className="grid grid-cols-3 items-start gap-3">
          <Field label={t('runForm.label.runName')} error={badName ? t('form.problem.name') : null}>
            {(props) => <Input {...props} mono value={name} disabled={work.busy} onChange={(e) => setName(e.target.value)} />}
          </Field>
          <Field label={t('runForm.label.provider')}>
            {(props) => (
              <Select
                {...props}
                value={provider}
                placeholder={t('form.problem.provider')}
                options={providers.map((p) => ({ value: p.id, label: p.scripted ? t('app:scripted.provider') : p.name }))}
                onChange={(id) => {
                  setChosen(id);
                  setModel(providers.find((p) => p.id === id)?.defaultModel ?? '');
                }}
              />
            )}
          </Field>
          <Field label={t('runForm.label.model')}>
            {(props) => <Input {...props} mono value={model} disabled={work.busy} onChange={(e) => setModel(e.target.value)} />}
          </Field>
        </div>
        <section aria-label={t('adopt.found')} aria-busy={waiting} className="grid min-h-[132px] content-start gap-1.5 rounded-m border border-line bg-bg px-3 py-2.5 text-sm">
          <h3 className="flex items-center gap-2 font-medium text-fg-2">
            {t('adopt.found')}
            {waiting && folder.trim() !== '' && <Spinner label={t('adopt.looking')} />}
          </h3>
          {work.busy ? (
            <Progress value={work.progress} label={t('adopt.working')} />
          ) : problem ? (
            <p role="alert" className="text-bad">
              {errorText(problem)}
            </p>
          ) : report ? (
            <Found report={report} />
          ) : (
            <p className="text-fg-3">{t('adopt.nothingYet')}</p>
          )}
        </section>
      </div>
    </Dialog>
  );
}

/** Which rows of the dataset are meant; the runner of Hermes Agent knows no other shapes. */
const PLAIN = { datasetShape: 'auto', columns: {} } as const;

function Found({ report }: { report: AdoptReport }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const { dataset } = report;
  const facts: [string, number][] = dataset
    ? [
        [t('adopt.matched'), dataset.matched],
        [t('adopt.discarded'), dataset.discarded],
        [t('adopt.pending'), dataset.pending],
      ]
    : [];
  const notes = [
    report.badLines > 0 ? t('adopt.badLines', { count: report.badLines, shown: f.exact(report.badLines) }) : null,
    report.failedRows > 0 ? t('adopt.failedRows', { count: report.failedRows, shown: f.exact(report.failedRows) }) : null,
    dataset && dataset.moved > 0 ? t('adopt.moved', { count: dataset.moved, shown: f.exact(dataset.moved) }) : null,
    dataset && dataset.repeats > 0 ? t('adopt.repeats', { count: dataset.repeats, shown: f.exact(dataset.repeats) }) : null,
    dataset && dataset.strangers > 0 ? t('adopt.strangers', { count: dataset.strangers, shown: f.exact(dataset.strangers) }) : null,
  ].filter((note) => note !== null);
  return (
    <>
      <dl className="num grid grid-cols-[1fr_auto] gap-x-4 gap-y-0.5">
        {[[t('adopt.rows', { count: report.files.length, shown: f.exact(report.files.length) }), report.rows] as const, ...facts].map(([label, value]) => (
          <div key={label} className="contents">
            <dt className="text-fg-2">{label}</dt>
            <dd className="text-right">{f.exact(value)}</dd>
          </div>
        ))}
      </dl>
      {notes.map((note) => (
        <p key={note} className="text-xs text-fg-3">
          {note}
        </p>
      ))}
      {!dataset && <p className="text-fg-3">{t('adopt.needsDataset')}</p>}
      {dataset && dataset.matched + dataset.discarded === 0 && <p className="text-warn">{t('adopt.noMatch')}</p>}
    </>
  );
}

/** The events of taking over in the form of a piece of work: its result is the new run. */
async function* ended(events: AsyncIterable<{ type: 'progress'; done: number; total: number } | { type: 'done'; id: string }>): AsyncGenerator<{ type: 'progress' | 'done'; done?: number; total?: number; summary?: { id: string } }> {
  for await (const event of events) yield event.type === 'done' ? { type: 'done', summary: { id: event.id } } : event;
}

/** A text once it has rested for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
