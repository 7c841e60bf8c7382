import type { TFunction } from 'i18next';
import { CircleAlert, Info } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Estimate, Plan, PlanProblem } from '#shared/contract/plans.ts';
import { RUN_OPTIONS, type RunOptionKey } from '#shared/run-options.ts';
import { cx } from '../../../lib/cx.ts';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat, type Format } from '../../../lib/i18n.ts';
import { Spinner } from '../../../ui/Spinner.tsx';
import type { PlanState } from './use-plan.ts';

type T = TFunction<['batch', 'app']>;
const COMBINATIONS = 4;

/** What the run would do, what it may cost, and what stands in its way. @param complete whether the form describes a run @param perRow rollouts of each row */
export function PlanPanel({ state, complete, perRow }: { state: PlanState; complete: boolean; perRow: number }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const { plan, busy, error } = state;
  const title = t('runForm.plan.title');
  return (
    <section aria-label={title} aria-busy={busy} className="grid shrink-0 grid-rows-[auto_minmax(0,1fr)] border-t border-line bg-sunken @min-[700px]:h-52">
      <h2 className="flex items-center gap-2 px-4 pt-2.5 pb-1.5 text-xs font-semibold tracking-wide text-fg-3 uppercase">
        {title}
        {busy && <Spinner className="size-3" />}
        {complete && plan && <Verdict problems={plan.problems} />}
      </h2>
      <div className={cx('min-h-[88px] overflow-y-auto px-4 pb-3 text-sm', busy && plan && 'opacity-60')}>
        {!complete ? (
          <p className="text-fg-3">{t('runForm.plan.incomplete')}</p>
        ) : error ? (
          <p className="text-bad">{t('runForm.plan.failed', { why: errorText(error) })}</p>
        ) : plan ? (
          <Found plan={plan} perRow={perRow} />
        ) : (
          <p className="text-fg-3">{t('runForm.plan.checking')}</p>
        )}
      </div>
    </section>
  );
}

function Verdict({ problems }: { problems: readonly PlanProblem[] }): ReactNode {
  const { t } = useTranslation('batch');
  const errors = problems.filter(({ level }) => level === 'error').length;
  const notes = problems.length - errors;
  return (
    <span className={cx('ml-auto text-xs font-medium tracking-normal normal-case', errors > 0 ? 'text-bad' : 'text-good')} role="status">
      {errors > 0 ? t('runForm.plan.problems', { count: errors }) : t('runForm.plan.good')}
      {notes > 0 && <span className="text-fg-3"> · {t('runForm.plan.notes', { count: notes })}</span>}
    </span>
  );
}

function Found({ plan, perRow }: { plan: Plan; perRow: number }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const { rollouts, used, draws, estimate } = plan;
  return (
    <div className="grid gap-2">
      {plan.problems.length > 0 && (
        <ul className="grid gap-1">
          {plan.problems.map((problem, i) => (
            <ProblemLine key={i} problem={problem} />
          ))}
        </ul>
      )}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-0.5">
        {rollouts !== null && used !== null && (
          <Row name={t('runForm.plan.rollouts')}>
            <span className="num font-medium">{f.exact(rollouts)}</span>
            {perRow > 1 && <span className="num text-fg-3"> = {t('runForm.plan.rows', { count: used, shown: f.exact(used) })} × {f.exact(perRow)}</span>}
          </Row>
        )}
        {estimate && (
          <Row name={t('runForm.plan.cost')}>
            <span className="num font-medium">{costText(estimate, f, t)}</span>
            <span className="num text-fg-3"> · {t('runForm.plan.tokens', { low: f.compact(estimate.tokensLow), high: f.compact(estimate.tokensHigh) })}</span>
            <span className="block text-xs text-fg-3">
              {t('runForm.plan.assumed', {
                turns: estimate.turnsLow === estimate.turnsHigh ? estimate.turnsLow : t('runForm.plan.turnsRange', { low: estimate.turnsLow, high: estimate.turnsHigh }),
                answer: estimate.answerTokens,
                prompt: f.exact(estimate.promptTokens),
                system: f.exact(estimate.systemTokens),
              })}
            </span>
          </Row>
        )}
        {draws && (
          <Row name={t('runForm.plan.toolsets')}>
            <span className="num">
              {draws.combinations.slice(0, COMBINATIONS).map((one, i) => (
                <span key={one.toolsets.join(' ')}>
                  {i > 0 && ' · '}
                  {one.toolsets.join(' + ')} <span className="text-fg-3">{f.percent(one.count / draws.draws)}</span>
                </span>
              ))}
              {draws.combinations.length > COMBINATIONS && ' · …'}
            </span>
            <span className="text-xs text-fg-3"> {t(draws.seeded ? 'runForm.plan.ofSeed' : 'runForm.plan.sample')}</span>
          </Row>
        )}
        <Row name={t('runForm.plan.folder')}>
          <code className="font-mono text-xs break-all text-fg-2">{plan.outputDir}</code>
        </Row>
      </dl>
    </div>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <>
      <dt className="text-fg-3">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

function costText({ lowUsd, highUsd }: Estimate, f: Format, t: T): string {
  if (lowUsd === null || highUsd === null) return t('runForm.plan.noPrice');
  return highUsd === 0 ? t('runForm.plan.free') : t('runForm.plan.costRange', { low: f.money(lowUsd), high: f.money(highUsd) });
}

function ProblemLine({ problem }: { problem: PlanProblem }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const { level, field } = problem;
  const Icon = level === 'error' ? CircleAlert : Info;
  return (
    <li className="flex items-start gap-2">
      <Icon className={cx('mt-0.5 size-3.5 shrink-0', level === 'error' ? 'text-bad' : 'text-warn')} aria-hidden="true" />
      <span className="min-w-0 break-words">
        {field !== null && field in RUN_OPTIONS && <span className="text-fg-3">{t('runForm.plan.field', { field: t(`runForm.label.${field as RunOptionKey}`) })} </span>}
        {problemText(problem, t)}
      </span>
    </li>
  );
}

/** A problem of a plan in the page's language; the engine's own sentence where it has one of its own. */
function problemText({ code, params = {}, message }: PlanProblem, t: T): string {
  switch (code) {
    case 'run_exists':
    case 'no_key':
    case 'nothing_kept':
    case 'network_host':
    case 'openrouter_only':
    case 'no_answers':
    case 'over_budget':
    case 'budget_unpriced':
      return t(`runForm.planProblem.${code}`, params);
    case 'rejected':
    case 'docker':
      return t(`runForm.planProblem.${code}`, { ...params, count: Number(params.count) });
    default:
      return message;
  }
}
