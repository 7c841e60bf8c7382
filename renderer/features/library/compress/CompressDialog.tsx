import { CircleCheck, TriangleAlert } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type CompressorOptions, compressorOptionsSchema, type CompressorSource, type CompressorSummary } from '#shared/contract/compressor.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { errorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { likeliestProvider } from '../../../lib/providers.ts';
import { Button } from '../../../ui/Button.tsx';
import { Checkbox } from '../../../ui/Checkbox.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Banner, CopyButton, Progress, Skeleton } from '../../../ui/Feedback.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input, NumberInput } from '../../../ui/Input.tsx';
import { Select } from '../../../ui/Select.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { useCompressor } from './use-compressor.ts';

const DEFAULTS = compressorOptionsSchema.parse({});
const NUMBERS = ['targetMaxTokens', 'summaryTargetTokens', 'protectLastTurns', 'maxConcurrentRequests'] as const;

interface Props {
  name: string;
  /** Null while it is being worked out, or when it cannot be: then `problem` says why. */
  source: CompressorSource | null;
  problem?: string | null;
  onClose: () => void;
}

/** Shortens trajectories that are too long to train on: what it would do first, then progress, then what was written. */
export function CompressDialog({ name, source, problem: noSource = null, onClose }: Props): ReactNode {
  const { t } = useTranslation('library');
  const app = useTranslation('app').t;
  const format = useFormat();
  const providers = useLoad((c, signal) => c.settings.get(undefined, { signal }), []);
  const real = (providers.data?.providers ?? []).filter((p) => !p.scripted);
  const [chosen, setChosen] = useState<string | null>(null);
  const provider = chosen ?? likeliestProvider(real)?.id ?? '';
  const [typedModel, setModel] = useState<string | null>(null);
  const model = typedModel ?? real.find((p) => p.id === provider)?.defaultModel ?? (provider === DEFAULTS.provider ? DEFAULTS.model : '');
  const [numbers, setNumbers] = useState<Record<string, string>>({});
  const [tokenizer, setTokenizer] = useState('');
  const [overwrite, setOverwrite] = useState(false);
  const { state, start, cancel, reset } = useCompressor();
  const { options, problem } = readOptions({ numbers, tokenizer, provider, model });
  const previewed = options ?? DEFAULTS;
  const preview = useLoad(
    (c, signal) => (source ? c.compressor.preview({ source, options: previewed }, { signal }) : Promise.resolve(null)),
    [JSON.stringify(source), previewed.targetMaxTokens, previewed.summaryTargetTokens, previewed.protectLastTurns, previewed.tokenizer],
  );
  const toDo = preview.data?.compressible ?? 0;
  const ready = options !== null && provider !== '' && model.trim() !== '' && toDo > 0 && !preview.loading;
  const run = (): void => {
    if (ready && source) start({ source, options, overwrite });
  };

  if (state.phase === 'done') {
    return (
      <Dialog open onClose={onClose} title={t('compress.doneTitle')} footer={<Button variant="primary" onClick={onClose}>{app('action.close')}</Button>}>
        <Done summary={state.summary} />
      </Dialog>
    );
  }
  const running = state.phase === 'running';
  const exists = state.phase === 'form' && state.exists;
  return (
    <Dialog
      open
      width="lg"
      onClose={onClose}
      title={t('compress.title', { name })}
      description={t('compress.text')}
      footer={
        running ? (
          <Button onClick={cancel}>{t('compress.cancel')}</Button>
        ) : (
          <>
            <Button onClick={onClose}>{app('action.cancel')}</Button>
            <Button variant="primary" disabled={!ready || (exists && !overwrite)} onClick={run}>
              {toDo === 0 ? t('compress.runNone') : t('compress.run', { count: toDo, shown: format.exact(toDo) })}
            </Button>
          </>
        )
      }
    >
      {running ? (
        <div className="grid gap-2 py-2" role="status">
          <Progress value={state.total > 0 ? state.done / state.total : null} label={t('compress.runningLabel')} />
          <p className="num text-sm text-fg-2">{t('compress.running', { done: format.exact(state.done), total: format.exact(state.total), compressed: format.exact(state.compressed), saved: format.exact(state.tokensSaved) })}</p>
        </div>
      ) : (
        <div className="grid gap-4">
          {state.phase === 'form' && state.cancelled && <Banner tone="info" live title={t('compress.cancelled')} />}
          {state.phase === 'form' && state.error !== null && <Banner tone="bad" live title={t('compress.failed')}>{errorText(state.error, app)}</Banner>}
          <div className="grid grid-cols-2 items-start gap-3 sm:grid-cols-4">
            {NUMBERS.map((key) => (
              <Field key={key} label={t(`compress.${key}`)} hint={t(`compress.${key}Hint`)} error={problem === key ? t('compress.badNumber') : null}>
                {(props) => <NumberInput {...props} value={numbers[key] ?? ''} placeholder={String(DEFAULTS[key])} onChange={(text) => setNumbers({ ...numbers, [key]: text })} />}
              </Field>
            ))}
          </div>
          <div className="grid items-start gap-3 sm:grid-cols-3">
            <Field label={t('compress.provider')} hint={providers.data && real.length === 0 ? t('compress.noProvider') : undefined}>
              {(props) => <Select {...props} value={provider} onChange={(id) => { setChosen(id); setModel(null); }} options={real.map((p) => ({ value: p.id, label: p.name }))} />}
            </Field>
            <Field label={t('compress.model')} hint={t('compress.modelHint')}>
              {(props) => <Input {...props} mono value={model} onChange={(e) => setModel(e.target.value)} />}
            </Field>
            <Field label={t('compress.tokenizer')} hint={t('compress.tokenizerHint')}>
              {(props) => <Input {...props} mono value={tokenizer} placeholder={t('compress.tokenizerNone')} onChange={(e) => setTokenizer(e.target.value)} />}
            </Field>
          </div>
          {exists && (
            <div className="grid gap-1">
              <p role="alert" className="text-sm text-bad">{t('compress.exists')}</p>
              <Checkbox checked={overwrite} onChange={(on) => { setOverwrite(on); if (!on) reset(); }} label={t('compress.overwrite')} />
            </div>
          )}
          <section aria-label={t('compress.previewTitle')} aria-busy={preview.loading} className="grid min-h-24 content-start gap-2 rounded-m border border-line bg-bg px-3 py-2.5">
            <h3 className="flex items-center gap-2 text-sm font-medium text-fg-2">
              {t('compress.previewTitle')}
              {preview.loading && <Spinner label={t('compress.previewing')} />}
            </h3>
            {noSource !== null ? (
              <p role="alert" className="text-sm text-bad">{noSource}</p>
            ) : preview.error !== null ? (
              <p role="alert" className="text-sm text-bad">{errorText(preview.error, app)}</p>
            ) : preview.data ? (
              <dl className="num grid grid-cols-[1fr_auto] gap-x-4 gap-y-0.5 text-sm">
                <Fact name={t('compress.rows')} value={format.exact(preview.data.rows)} />
                <Fact name={t('compress.longest')} value={format.exact(preview.data.largest)} />
                <Fact name={t('compress.over')} value={format.exact(preview.data.overTarget)} />
                <Fact name={t('compress.can')} value={format.exact(preview.data.compressible)} />
              </dl>
            ) : (
              <Skeleton className="h-16" />
            )}
            {preview.data && !preview.loading && toDo === 0 && <p className="text-sm text-fg-2">{t(preview.data.overTarget === 0 ? 'compress.noneLong' : 'compress.noneCan')}</p>}
            {preview.data?.tokenizer === 'estimate' && <p className="text-xs text-fg-3">{t('compress.estimate')}</p>}
          </section>
        </div>
      )}
    </Dialog>
  );
}

function Done({ summary: s }: { summary: CompressorSummary }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  return (
    <div className="grid gap-4">
      <p role="status" className="flex items-center gap-2">
        {s.failed + s.summaryErrors > 0 ? <TriangleAlert className="size-4 shrink-0 text-warn" aria-hidden="true" /> : <CircleCheck className="size-4 shrink-0 text-good" aria-hidden="true" />}
        {t('compress.doneText', { count: s.rows, shown: format.exact(s.rows), compressed: format.exact(s.compressed), before: format.exact(s.tokensBefore), after: format.exact(s.tokensAfter) })}
      </p>
      {s.files.map((file) => (
        <div key={file.output} className="flex items-center gap-2 rounded-m border border-line bg-code px-2.5 py-1.5">
          <code className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{file.output}</code>
          <CopyButton text={() => file.output} label={t('export.copyPath')} />
        </div>
      ))}
      <dl className="num grid grid-cols-[1fr_auto] gap-x-4 gap-y-0.5 text-sm">
        <Fact name={t('compress.under')} value={format.exact(s.underTarget)} />
        <Fact name={t('compress.still')} value={format.exact(s.stillOverLimit)} />
        {s.timedOut > 0 && <Fact name={t('compress.timedOut')} value={format.exact(s.timedOut)} />}
        {s.summaryErrors > 0 && <Fact name={t('compress.errors')} value={format.exact(s.summaryErrors)} />}
        {s.unreadable.length > 0 && <Fact name={t('compress.unreadable')} value={format.exact(s.unreadable.length)} />}
        <Fact name={t('compress.calls')} value={format.exact(s.summaryCalls)} />
      </dl>
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }): ReactNode {
  return (
    <>
      <dt className="text-fg-2">{name}</dt>
      <dd className="text-right">{value}</dd>
    </>
  );
}

/** What the fields say, or which of them is wrong. */
function readOptions({ numbers, tokenizer, provider, model }: { numbers: Record<string, string>; tokenizer: string; provider: string; model: string }): { options: CompressorOptions | null; problem: string | null } {
  const given = Object.fromEntries(Object.entries(numbers).filter(([, text]) => text !== '').map(([key, text]) => [key, Number(text)]));
  const parsed = compressorOptionsSchema.safeParse({ ...given, ...(provider === '' ? {} : { provider }), ...(model.trim() === '' ? {} : { model: model.trim() }), ...(tokenizer.trim() === '' ? {} : { tokenizer: tokenizer.trim() }) });
  return parsed.success ? { options: parsed.data, problem: null } : { options: null, problem: String(parsed.error.issues[0]?.path[0] ?? '') };
}
