import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { FilterSummary } from '#shared/contract/filters.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { parseFilter } from '#shared/filters.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Progress } from '../../../ui/Feedback.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { ExpressionList } from '../new-run/ExpressionList.tsx';
import { useJob } from './use-job.ts';

/** Typing goes on this long before the counts are asked for, ms. */
const PAUSE_MS = 350;

/** Other filters for a run that ended: what they would leave out is shown before they are applied, and all of it can be taken back. */
export function FiltersDialog({ run, open, onClose }: { run: RunSummary; open: boolean; onClose: () => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const errorText = useErrorText();
  const client = useClient();
  const toast = useToasts();
  const [filters, setFilters] = useState<readonly string[]>(run.spec.filters);
  const preview = useJob<FilterSummary>();
  const work = useJob<FilterSummary>();
  const key = JSON.stringify(filters);
  const stored = JSON.stringify(run.spec.filters);
  useEffect(() => {
    if (open) setFilters(JSON.parse(stored) as string[]);
  }, [open, stored]);
  const { start: look, cancel: stopLooking } = preview;
  useEffect(() => {
    if (!open) {
      stopLooking();
      return;
    }
    const timer = setTimeout(() => void look((signal) => client.filters.preview({ runId: run.id, filters: JSON.parse(key) as string[] }, { signal })), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [client, run.id, open, key, look, stopLooking]);
  const apply = async (): Promise<void> => {
    const summary = await work.start((signal) => client.filters.refilter({ runId: run.id, filters: [...filters] }, { signal }));
    if (!summary) return;
    toast({ title: t('filters.applied', { kept: f.exact(summary.kept), discarded: f.exact(summary.discarded) }), kind: 'good' });
    onClose();
  };
  const close = (): void => {
    work.cancel();
    onClose();
  };
  const { summary } = preview;
  const problem = work.error ?? preview.error;
  const unchanged = key === stored;
  return (
    <Dialog
      open={open}
      onClose={close}
      title={t('filters.title')}
      description={t('filters.text')}
      footer={
        <>
          <Button onClick={close}>{t('app:action.cancel')}</Button>
          <Button variant="primary" disabled={unchanged || preview.busy || problem !== null} busy={work.busy} onClick={() => void apply()}>
            {summary && !unchanged && !preview.busy ? t('filters.apply', { out: f.exact(summary.newlyDiscarded), back: f.exact(summary.newlyKept) }) : t('filters.applyPlain')}
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        <ExpressionList name="filters" items={filters} onChange={setFilters} error={problem ? errorText(problem) : null} />
        <div className="min-h-[124px]">
          {(work.busy || preview.busy) && <Progress value={work.busy ? work.progress : preview.progress} label={t('filters.counting')} />}
          {summary && <Counts summary={summary} filters={filters} stale={preview.busy} />}
        </div>
      </div>
    </Dialog>
  );
}

function Counts({ summary, filters, stale }: { summary: FilterSummary; filters: readonly string[]; stale: boolean }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  return (
    <div aria-live="polite" className={stale ? 'opacity-50' : ''}>
      <p className="num pt-1.5 pb-1 text-sm">
        {t('filters.result', { total: f.exact(summary.total), kept: f.exact(summary.kept), discarded: f.exact(summary.discarded) })}
        {summary.keptAnyway > 0 && <span className="text-fg-3"> {t('filters.byHand', { count: summary.keptAnyway, shown: f.exact(summary.keptAnyway) })}</span>}
      </p>
      {filters.length > 0 && (
        <table className="num w-full text-sm">
          <thead className="text-xs text-fg-3">
            <tr className="border-b border-line">
              <th scope="col" className="py-1 text-left font-normal">
                {t('report.filter')}
              </th>
              <th scope="col" className="py-1 pl-3 text-right font-normal">
                {t('filters.matches')}
              </th>
              <th scope="col" className="py-1 pl-3 text-right font-normal">
                {t('filters.first')}
              </th>
            </tr>
          </thead>
          <tbody>
            {filters.map((text) => (
              <tr key={text} className="border-b border-line">
                <td className="max-w-0 truncate py-1 font-mono text-xs" title={text}>
                  {text}
                </td>
                <td className="w-28 py-1 pl-3 text-right">{f.exact(summary.alone[nameOf(text)] ?? 0)}</td>
                <td className="w-28 py-1 pl-3 text-right">{f.exact(summary.causes[nameOf(text)] ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function nameOf(text: string): string {
  try {
    return parseFilter(text).name;
  } catch {
    return text;
  }
}
