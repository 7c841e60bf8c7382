import { RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Score } from '#shared/contract/scores.ts';
import { cx } from '../../../lib/cx.ts';
import { Button } from '../../../ui/Button.tsx';
import { ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { readDetail, scoreText } from './detail.ts';
import type { Scores } from './use-scores.ts';

/** Every rule (and person) that scored the open trajectory: what it said, what that weighs, and why. @param props.fromRun it has rules that it can be scored by again */
export function ScoresPanel({ scores, fromRun }: { scores: Scores; fromRun: boolean }): ReactNode {
  const { t } = useTranslation('library');
  const { shown, error } = scores;
  return (
    <section aria-label={t('scores.title')} aria-busy={shown === null && error === null} className="max-h-[45%] shrink-0 overflow-y-auto border-b border-line bg-sunken px-4 py-2 text-sm">
      {shown === null ? (
        error !== null ? <ErrorState error={error} onRetry={scores.reload} /> : <Skeleton className="my-1 h-4 w-1/2" />
      ) : shown.scores.length === 0 ? (
        <p className="flex items-center gap-3 py-0.5 text-fg-3">
          <span className="min-w-0 flex-1">{t(fromRun ? 'scores.noneOfRun' : 'scores.none')}</span>
          {fromRun && <Again scores={scores} />}
        </p>
      ) : (
        <table className="num w-full table-fixed border-collapse">
          <thead>
            <tr className="text-left text-xs text-fg-3">
              <th scope="col" className="w-[30%] pb-1 font-medium">{t('scores.rule')}</th>
              <th scope="col" className="w-14 pb-1 text-right font-medium">{t('scores.value')}</th>
              <th scope="col" className="w-[72px] pb-1 text-right font-medium">{t('scores.weight')}</th>
              <th scope="col" className="pb-1 pl-5 font-medium">{t('scores.detail')}</th>
            </tr>
          </thead>
          <tbody>{shown.scores.map((score) => <ScoreRow key={score.name} score={score} />)}</tbody>
          <tfoot>
            <tr className="border-t border-line-strong align-baseline">
              <th scope="row" className="pt-1 text-left font-semibold">{t('scores.reward')}</th>
              <td className="pt-1 text-right font-semibold">{shown.reward === null ? '–' : scoreText(shown.reward)}</td>
              <td />
              <td className="pt-1 text-right">{fromRun && <Again scores={scores} />}</td>
            </tr>
          </tfoot>
        </table>
      )}
    </section>
  );
}

function Again({ scores }: { scores: Scores }): ReactNode {
  const { t } = useTranslation('library');
  return <Button variant="ghost" icon={RotateCw} busy={scores.busy} title={t('scores.againHint')} onClick={scores.rescore}>{t('scores.again')}</Button>;
}

function ScoreRow({ score }: { score: Score }): ReactNode {
  const { t } = useTranslation('library');
  const { why, facts, output } = readDetail(score);
  const person = score.source === 'person';
  return (
    <>
      <tr className="border-t border-line align-baseline">
        <th scope="row" className="py-1 text-left font-normal">
          <span className="block truncate" title={score.name}>{person ? t('scores.person') : score.name}</span>
          {!person && score.rule !== '' && score.rule !== score.name && <code className="block truncate font-mono text-2xs text-fg-3" title={score.rule}>{score.rule}</code>}
        </th>
        <td className={cx('py-1 text-right', score.value === null && 'text-fg-3')}>{score.value === null ? '–' : scoreText(score.value)}</td>
        <td className="py-1 text-right whitespace-nowrap text-fg-3" title={score.weight === 0 ? t('scores.weightless') : undefined}>{score.weight === 0 ? '–' : `× ${scoreText(score.weight)}`}</td>
        <td className="py-1 pl-5 text-fg-2 wrap-anywhere">
          {why !== null && <span className={cx('mr-3', score.value === null && 'text-warn')}>{why.code === null ? why.sentence : t(`scores.why.${why.code}`, why.facts)}</span>}
          {facts.map(({ key, text }) => (
            <span key={key} className="mr-3">
              <span className="text-fg-3">{t(`scores.fact.${key}`)}</span>{text !== '' && <> <span>{text}</span></>}
            </span>
          ))}
        </td>
      </tr>
      {output !== null && (
        <tr>
          <td colSpan={4} className="pb-1.5">
            <details>
              <summary className="w-fit cursor-pointer text-xs text-fg-3 hover:text-fg">{t('scores.output')}</summary>
              <pre className="mt-1 max-h-48 overflow-auto rounded-s border border-line bg-bg p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">{output}</pre>
            </details>
          </td>
        </tr>
      )}
    </>
  );
}
