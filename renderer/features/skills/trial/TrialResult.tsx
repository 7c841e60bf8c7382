import { CircleDashed, ExternalLink, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Trial, TrialRun } from '#shared/contract/trials.ts';
import { cx } from '../../../lib/cx.ts';
import { type Format, useFormat } from '../../../lib/i18n.ts';
import { Chip, OutcomeIcon, type Tone } from '../../../ui/Chip.tsx';
import { Banner, Progress } from '../../../ui/Feedback.tsx';
import { RowExtras } from './RowExtras.tsx';
import { linesOf, type TotalLine, type Verdict, verdictOf } from './verdict.ts';

const STATE_TONES: Record<Trial['state'], Tone> = { running: 'accent', done: 'good', cancelled: 'neutral', interrupted: 'warn', paused: 'warn', failed: 'bad' };
const VERDICT_TONES: Record<Verdict, 'info' | 'good' | 'warn'> = { none: 'info', hint: 'info', unclear: 'info', equal: 'info', better: 'good', worse: 'warn' };

/** Both sides of a trial: what they come to, how much that says, and every prompt with its two attempts. */
export function TrialResult({ trial }: { trial: Trial }): ReactNode {
  const { t } = useTranslation('skillTrial');
  const f = useFormat();
  const runs = trial.rows.flatMap((row) => [row.with, row.without]);
  const ended = runs.filter((run) => run.state === 'ended').length;
  const unread = trial.totals.pairs > 0 && trial.totals.with.usedSkill < trial.totals.pairs;
  return (
    <div className="grid gap-4">
      <div className="grid gap-1.5">
        <div className="num flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-fg-2">
          <Chip tone={STATE_TONES[trial.state]}>{t(`state.${trial.state}`)}</Chip>
          <span>{t('result.attempts', { count: runs.length, done: f.exact(ended), shown: f.exact(runs.length) })}</span>
          <span className="font-mono text-xs">{trial.spec.model}</span>
          <span className="text-xs text-fg-3">{t('result.seed', { seed: String(trial.spec.seed) })}</span>
          {trial.spentUsd > 0 && <span className="text-xs text-fg-3">{t('result.spent', { shown: f.money(trial.spentUsd) })}</span>}
        </div>
        {trial.state === 'running' && <Progress value={runs.length === 0 ? null : ended / runs.length} label={t('state.running')} />}
      </div>
      {trial.error !== null && <Banner tone={trial.state === 'failed' ? 'bad' : 'warn'} title={trial.error} />}
      {trial.stale && <Banner tone="warn" title={t('result.stale')} />}
      {trial.totals.pairs > 0 && (
        <>
          <Banner tone={VERDICT_TONES[verdictOf(trial.totals)]} title={<VerdictText trial={trial} />}>
            {unread ? t(trial.totals.with.usedSkill === 0 ? 'verdict.neverRead' : 'verdict.notAlwaysRead', { count: trial.totals.pairs, used: f.exact(trial.totals.with.usedSkill), pairs: f.exact(trial.totals.pairs) }) : undefined}
          </Banner>
          <Totals trial={trial} />
        </>
      )}
      <ol className="grid gap-3" aria-label={t('result.prompts')}>
        {trial.rows.map((row) => (
          <li key={row.index} className="rounded-m border border-line bg-bg">
            <p className="flex items-baseline gap-2 border-b border-line px-3 py-1.5 text-sm font-medium">
              <span className="min-w-0 flex-1 wrap-anywhere whitespace-pre-wrap">{row.prompt.length > 400 ? `${row.prompt.slice(0, 400)}…` : row.prompt}</span>
              <RowExtras row={trial.spec.prompts[row.index]?.row ?? {}} />
            </p>
            <div className="grid grid-cols-2 divide-x divide-line">
              <Side run={row.with} title={t('arm.with')} />
              <Side run={row.without} title={t('arm.without')} />
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

function VerdictText({ trial }: { trial: Trial }): ReactNode {
  const { t } = useTranslation('skillTrial');
  const f = useFormat();
  const { pairs, better, worse, equal, chance } = trial.totals;
  const split = t('verdict.split', { better: f.exact(better), worse: f.exact(worse), equal: f.exact(equal) });
  const verdict = verdictOf(trial.totals);
  const said = verdict === 'none' ? '' : t(`verdict.${verdict}`, { count: pairs, shown: f.exact(pairs), chance: f.percent(chance ?? 1) });
  return <>{[said, split].join(' ')}</>;
}

function valueOf(key: TotalLine['key'], value: number, f: Format): string {
  if (key === 'costUsd') return f.money(value);
  if (key === 'durationMs') return f.duration(value);
  if (key === 'tokens') return f.compact(value);
  return key === 'score' ? String(Number(value.toFixed(3))) : f.exact(value);
}

function Totals({ trial }: { trial: Trial }): ReactNode {
  const { t } = useTranslation('skillTrial');
  const f = useFormat();
  const { pairs } = trial.totals;
  return (
    <table className="num w-full text-sm">
      <caption className="sr-only">{t('result.totals')}</caption>
      <thead>
        <tr className="border-b border-line text-left text-xs text-fg-3">
          <th scope="col" className="py-1 font-normal">{t('result.over', { count: pairs, shown: f.exact(pairs) })}</th>
          <th scope="col" className="py-1 text-right font-medium">{t('arm.with')}</th>
          <th scope="col" className="py-1 text-right font-medium">{t('arm.without')}</th>
          <th scope="col" className="py-1 text-right font-medium">{t('result.difference')}</th>
        </tr>
      </thead>
      <tbody>
        {linesOf(trial.totals).map((line) => {
          const { key, difference, more } = line;
          const good = difference === null || difference === 0 || more === null ? null : difference > 0 === more;
          return (
            <tr key={key} className="border-b border-line last:border-b-0">
              <th scope="row" className="py-1 text-left font-normal text-fg-2">{t(`total.${key}`)}</th>
              <td className="py-1 text-right">{line.with === null ? '–' : valueOf(key, line.with, f)}</td>
              <td className="py-1 text-right">{line.without === null ? '–' : valueOf(key, line.without, f)}</td>
              <td className={cx('py-1 text-right', good === null ? 'text-fg-3' : good ? 'text-good' : 'text-warn')}>{difference === null ? '–' : difference === 0 ? '0' : `${difference > 0 ? '+' : '−'}${valueOf(key, Math.abs(difference), f)}`}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Side({ run, title }: { run: TrialRun; title: string }): ReactNode {
  const { t } = useTranslation(['skillTrial', 'app']);
  const f = useFormat();
  const facts = [
    run.score === null ? null : t('run.score', { shown: String(Number(run.score.toFixed(3))) }),
    run.turns === null ? null : t('run.turns', { count: run.turns, shown: f.exact(run.turns) }),
    run.toolCalls === null ? null : t('run.calls', { count: run.toolCalls, shown: f.exact(run.toolCalls) }),
    run.tokens === null ? null : t('run.tokens', { shown: f.compact(run.tokens) }),
    run.costUsd === null ? null : f.money(run.costUsd),
    run.durationMs === null ? null : f.duration(run.durationMs),
  ].filter((fact) => fact !== null);
  return (
    <section aria-label={title} className="grid min-w-0 content-start gap-1 px-3 py-2">
      <div className="flex items-center gap-2 text-xs text-fg-3">
        {run.state === 'ended' && run.outcome ? <OutcomeIcon state={run.outcome} /> : run.state === 'running' ? <LoaderCircle role="img" aria-label={t('run.running')} className="size-3.5 animate-spin text-accent [animation-duration:1.6s]" /> : <CircleDashed role="img" aria-label={t('app:outcome.pending')} className="size-3.5" />}
        <span className="font-medium text-fg-2">{title}</span>
        {run.arm === 'with' && run.state === 'ended' && <span>{t(run.usedSkill ? 'run.read' : 'run.notRead')}</span>}
        <span className="flex-1" />
        {run.trajectoryId !== null && (
          <a href={`#/library/${encodeURIComponent(run.trajectoryId)}`} className="inline-flex items-center gap-1 hover:text-fg" aria-label={t('run.openOf', { title })}>
            {t('run.open')}
            <ExternalLink className="size-3" aria-hidden="true" />
          </a>
        )}
      </div>
      <p className={cx('line-clamp-6 min-h-10 text-sm wrap-anywhere whitespace-pre-wrap', run.answer === null && 'text-fg-3')}>{run.answer ?? (run.state === 'ended' ? (run.error ?? t('run.noAnswer')) : run.state === 'running' ? t('run.running') : t('run.waiting'))}</p>
      <p className="num min-h-4 text-xs text-fg-3">{facts.join(' · ')}</p>
    </section>
  );
}
