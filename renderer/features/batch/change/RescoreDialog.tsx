import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import type { RescoreSummary } from '#shared/contract/scores.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Progress } from '../../../ui/Feedback.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { ExpressionList } from '../new-run/ExpressionList.tsx';
import { useJob } from './use-job.ts';

/** Scores a run again from what is stored, by the same rules or by others. */
export function RescoreDialog({ run, open, onClose }: { run: RunSummary; open: boolean; onClose: () => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const errorText = useErrorText();
  const client = useClient();
  const toast = useToasts();
  const [rules, setRules] = useState<readonly string[]>(run.spec.scoring);
  const work = useJob<RescoreSummary>();
  const stored = JSON.stringify(run.spec.scoring);
  useEffect(() => {
    if (open) setRules(JSON.parse(stored) as string[]);
  }, [open, stored]);
  const start = async (): Promise<void> => {
    const summary = await work.start((signal) => client.scores.rescore({ runId: run.id, scoring: [...rules] }, { signal }));
    if (!summary) return;
    toast({ title: t('rescore.done', { count: summary.scored, shown: f.exact(summary.scored), changed: f.exact(summary.changed) }), kind: 'good' });
    onClose();
  };
  const close = (): void => {
    work.cancel();
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={t('rescore.title')}
      description={t('rescore.text')}
      footer={
        <>
          <Button onClick={close}>{t(work.busy ? 'rescore.stop' : 'app:action.cancel')}</Button>
          <Button variant="primary" busy={work.busy} onClick={() => void start()}>
            {t('rescore.start')}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <ExpressionList name="scoring" items={rules} onChange={setRules} error={work.error ? errorText(work.error) : null} />
        <div className="h-1.5">{work.busy && <Progress value={work.progress} label={t('rescore.title')} />}</div>
      </div>
    </Dialog>
  );
}
