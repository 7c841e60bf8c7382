import { Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { cx } from '../../lib/cx.ts';
import { useFormat } from '../../lib/i18n.ts';
import { IconButton } from '../../ui/Button.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { fileName, keptCount } from './run-codes.ts';

export function Card({
  title,
  aside,
  children,
  className,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
  className?: string;
}): ReactNode {
  return (
    <section aria-label={title} className={cx('min-w-0 rounded-l border border-line bg-raised', className)}>
      <h2 className="flex items-baseline justify-between gap-3 px-3.5 pt-2.5 text-sm font-semibold">
        {title}
        {aside && <span className="num text-xs font-normal text-fg-3">{aside}</span>}
      </h2>
      {children}
    </section>
  );
}

/** Shares as bars, each with a label and a number. */
export function Bars({
  rows,
}: {
  rows: readonly { key: string; label: string; share: number; color: string; text: string; title?: string }[];
}): ReactNode {
  return (
    <ul className="grid gap-1.5 px-3.5 pt-2 pb-3 text-sm">
      {rows.map((r) => (
        <li key={r.key} title={r.title} className="grid grid-cols-[minmax(0,96px)_minmax(0,1fr)_auto] items-center gap-2.5">
          <span className="truncate">{r.label}</span>
          <span className="h-1.5 overflow-hidden rounded-full bg-hover">
            <i
              className="block h-full rounded-full"
              style={{ width: `${Math.max(r.share > 0 ? 2 : 0, r.share * 100)}%`, background: r.color }}
            />
          </span>
          <span className="num min-w-[76px] text-right text-xs text-fg-3">{r.text}</span>
        </li>
      ))}
    </ul>
  );
}

/** Success below this share is worth a look. */
const WORRYING = 0.8;

/** How often each tool was called, and how often that worked. */
export function ToolsCard({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const tools = Object.entries(run.toolStats)
    .filter(([, s]) => s.count > 0)
    .toSorted(([, a], [, b]) => b.count - a.count);
  return (
    <Card title={t('tools.title')}>
      {tools.length === 0 ? (
        <p className="px-3.5 pt-1.5 pb-3 text-sm text-fg-3">{t('tools.none')}</p>
      ) : (
        <Bars
          rows={tools.map(([name, s]) => {
            const share = s.success / s.count;
            return {
              key: name,
              label: name,
              share,
              color: share < WORRYING ? 'var(--warn)' : 'var(--accent)',
              text: `${f.compact(s.count)} · ${f.percent(share)}`,
              title: t('tools.hover', {
                name,
                count: s.count,
                shown: f.exact(s.count),
                success: f.exact(s.success),
                failure: f.exact(s.failure),
              }),
            };
          })}
        />
      )}
    </Card>
  );
}

/** Where the output files are and what each is for. */
export function FilesCard({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const toast = useToasts();
  const last = Math.max(0, Math.ceil(run.total / run.spec.batchSize) - 1);
  const copy = (): void => {
    navigator.clipboard.writeText(run.outputDir).then(
      () => toast({ title: t('files.copied'), kind: 'good' }),
      () => toast({ title: t('app:action.copyFailed'), kind: 'bad' }),
    );
  };
  return (
    <Card title={t('files.title')}>
      <div className="flex items-center gap-1 px-3.5 pt-1">
        <code title={run.outputDir} className="min-w-0 flex-1 truncate font-mono text-xs text-fg-2">
          {run.outputDir}
        </code>
        <IconButton icon={Copy} label={t('files.copy')} size="sm" onClick={copy} />
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3.5 gap-y-1 px-3.5 pt-1 pb-3 text-sm">
        <FileRow name="trajectories.jsonl" use={t('files.all')} />
        {keptCount(run) > 0 ? (
          <FileRow
            name={last === 0 ? 'batch_0.jsonl' : `batch_0 … batch_${last}.jsonl`}
            use={t('files.perBatch', { count: run.spec.batchSize })}
          />
        ) : null}
        <FileRow name="checkpoint.json" use={t('files.checkpoint')} />
        <FileRow name="statistics.json" use={t('files.statistics')} />
      </dl>
    </Card>
  );
}

function FileRow({ name, use }: { name: string; use: string }): ReactNode {
  return (
    <>
      <dt className="text-fg-2">{name}</dt>
      <dd className="truncate text-right text-fg-3">{use}</dd>
    </>
  );
}

/** The options the run was started with. */
export function OptionsCard({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const { spec } = run;
  const rows: [string, string][] = [
    [t('form.dataset'), fileName(spec.datasetFile)],
    [t('form.provider'), spec.baseUrl ?? spec.provider],
    [t('form.model'), spec.model],
    [t('form.numWorkers'), f.exact(spec.numWorkers)],
    [t('form.maxTurns'), f.exact(spec.maxTurns)],
    [t('form.batchSize'), f.exact(spec.batchSize)],
    [t('form.distribution'), spec.distribution],
    ...(spec.rollouts > 1 ? [[t('options.rollouts'), f.exact(spec.rollouts)] as [string, string]] : []),
    ...(spec.temperature !== undefined ? [[t('options.temperature'), String(spec.temperature)] as [string, string]] : []),
    ...(spec.budgetUsd !== undefined ? [[t('options.budget'), f.money(spec.budgetUsd)] as [string, string]] : []),
    ...(spec.timeoutPerPrompt !== undefined ? [[t('options.timeout'), f.duration(spec.timeoutPerPrompt * 1000)] as [string, string]] : []),
    ...(spec.scoring.length > 0 ? [[t('options.scoring'), spec.scoring.join(', ')] as [string, string]] : []),
    [t('options.filters'), spec.filters.length > 0 ? spec.filters.join(', ') : t('options.noFilters')],
  ];
  if (spec.maxSamples !== undefined) rows.push([t('form.maxSamples'), f.exact(spec.maxSamples)]);
  if (spec.reasoningEffort) rows.push([t('form.reasoningEffort'), t(`effort.${spec.reasoningEffort}`)]);
  return (
    <Card title={t('options.title')}>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3.5 gap-y-1 px-3.5 pt-2 pb-3 text-sm">
        {rows.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-fg-3">{name}</dt>
            <dd title={value} className="num truncate text-right">
              {value}
            </dd>
          </div>
        ))}
      </dl>
      {run.scripted && <p className="border-t border-line px-3.5 py-2 text-xs text-fg-2">{t('options.scripted')}</p>}
    </Card>
  );
}
