import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { Banner } from '../../ui/Feedback.tsx';
import { reasonText } from './reasons.ts';
import { doneCount, lacksReasoning, overBudget } from './run-codes.ts';

/** What a person should know of a run before its numbers. */
export function RunMessages({ run, onBudget }: { run: RunSummary; onBudget: () => void }): ReactNode {
  return (
    <>
      <StopMessage run={run} onBudget={onBudget} />
      <ChangesMessage run={run} />
      <ReasoningMessage run={run} />
    </>
  );
}

/** Why a run is not simply going on, and what to do. */
function StopMessage({ run, onBudget }: { run: RunSummary; onBudget: () => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  if (run.state === 'failed') {
    return (
      <Banner live tone="bad" title={run.message ?? t('message.failed')} action={<LinkButton to="/settings">{t('message.toSettings')}</LinkButton>}>
        {t('message.failedHint')}
      </Banner>
    );
  }
  if (run.state === 'interrupted') {
    return (
      <Banner live tone="warn" title={t('message.interrupted')}>
        {t('message.interruptedHint')}
      </Banner>
    );
  }
  if (run.message) {
    return (
      <Banner live tone={run.state === 'paused' ? 'warn' : 'info'} title={reasonText(run.message, t)} action={overBudget(run) && <Button onClick={onBudget}>{t('action.raiseBudget')}</Button>}>
        {run.state === 'paused' ? t('message.interruptedHint') : null}
      </Banner>
    );
  }
  return null;
}

/** The last resume found another dataset than the one before. */
function ChangesMessage({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const { changes, removed } = run;
  if (!changes || changes.added + changes.removed + changes.returned === 0) return null;
  const parts = [
    changes.added > 0 ? t('changes.added', { count: changes.added, shown: f.exact(changes.added) }) : null,
    changes.removed > 0 ? t('changes.removed', { count: changes.removed, shown: f.exact(changes.removed) }) : null,
    changes.returned > 0 ? t('changes.returned', { count: changes.returned, shown: f.exact(changes.returned) }) : null,
  ].filter((part) => part !== null);
  return (
    <Banner tone="info" title={t('changes.title', { parts: parts.join(t('changes.and')), when: f.ago(changes.at) })}>
      {removed > 0 ? t('changes.removedHint', { count: removed, shown: f.exact(removed) }) : null}
    </Banner>
  );
}

/** Most answers of this model cannot be used for training; said as soon as it is plain, not at the end. */
function ReasoningMessage({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  if (!lacksReasoning(run)) return null;
  const shown = run.causes.no_reasoning ?? 0;
  return (
    <Banner live tone="warn" title={t('message.noReasoning', { shown: f.exact(shown), done: f.exact(doneCount(run)), count: doneCount(run) })}>
      {t('message.noReasoningHint')}
    </Banner>
  );
}

/** Tells screen readers about every tenth of the way, not about every number. */
export function Announcer({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const tenth = run.total === 0 ? 0 : Math.floor((doneCount(run) / run.total) * 10);
  const [said, setSaid] = useState('');
  useEffect(() => {
    setSaid(tenth > 0 ? t('run.announce', { percent: tenth * 10 }) : '');
  }, [tenth, t]);
  return (
    <div aria-live="polite" className="sr-only">
      {said}
    </div>
  );
}
