import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Trial } from '#shared/contract/trials.ts';
import { useClient, useLoad, useStream } from '../../../lib/engine-context.tsx';
import { errorText, useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Banner, Skeleton } from '../../../ui/Feedback.tsx';
import { Menu } from '../../../ui/Menu.tsx';
import { Select } from '../../../ui/Select.tsx';
import { EMPTY_FORM, specOf, type TrialForm } from './form.ts';
import { TrialFormView, useLikelyModel } from './TrialForm.tsx';
import { TrialResult } from './TrialResult.tsx';

/** The skill that is tried, as lists have it. */
export interface TriedSkill {
  id: string;
  name: string;
  author: string | null;
  enabled: boolean;
}

/** Runs the same prompts with and without a skill, shows both sides, and keeps or discards it. A trial goes on when this is closed. */
export function TrySkill({ skill, onClose }: { skill: TriedSkill; onClose: () => void }): ReactNode {
  const { t } = useTranslation('skillTrial');
  const list = useLoad((client, signal) => client.trials.list({ skillId: skill.id }, { signal }), [skill.id]);
  const [chosen, setChosen] = useState<string | 'new' | null>(null);
  const trials = list.data?.items ?? [];
  const shown = chosen ?? trials[0]?.id ?? 'new';
  if (!list.data && !list.error) {
    return (
      <Dialog open onClose={onClose} title={t('title')} width="lg">
        <Skeleton className="h-80" />
      </Dialog>
    );
  }
  const earlier = trials.length > 0 && <Earlier trials={trials} shown={shown} onChoose={setChosen} />;
  if (shown === 'new') {
    return (
      <NewTrial
        skill={skill}
        above={earlier}
        onClose={onClose}
        onStarted={(trial) => {
          list.set({ items: [trial, ...trials] });
          setChosen(trial.id);
        }}
      />
    );
  }
  return (
    <OneTrial
      key={shown}
      id={shown}
      first={trials.find((trial) => trial.id === shown) ?? null}
      skill={skill}
      above={earlier}
      onNew={() => setChosen('new')}
      onRemoved={() => {
        list.set({ items: trials.filter((trial) => trial.id !== shown) });
        setChosen(null);
      }}
      onClose={onClose}
    />
  );
}

function Earlier({ trials, shown, onChoose }: { trials: readonly Trial[]; shown: string; onChoose: (id: string) => void }): ReactNode {
  const { t } = useTranslation('skillTrial');
  const f = useFormat();
  return (
    <Select
      label={t('earlier.label')}
      className="mb-3 w-full"
      value={shown}
      options={[{ value: 'new', label: t('earlier.new') }, ...trials.map((trial) => ({ value: trial.id, label: t('earlier.one', { count: trial.rows.length, shown: f.exact(trial.rows.length), model: trial.spec.model, when: f.ago(trial.createdAt) }) }))]}
      onChange={onChoose}
    />
  );
}

function NewTrial({ skill, above, onStarted, onClose }: { skill: TriedSkill; above: ReactNode; onStarted: (trial: Trial) => void; onClose: () => void }): ReactNode {
  const { t } = useTranslation(['skillTrial', 'app']);
  const client = useClient();
  const likely = useLikelyModel();
  const [typed, setTyped] = useState<Partial<TrialForm>>({});
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const form: TrialForm = { ...EMPTY_FORM, provider: likely?.provider ?? '', model: likely?.model ?? '', ...typed };
  const asked = specOf(skill.id, form);
  // until the model is known, that there is none says nothing
  const answers = tried && likely !== null;
  const start = async (): Promise<void> => {
    setTried(true);
    if (!('spec' in asked)) return;
    setBusy(true);
    setError(null);
    try {
      onStarted(await client.trials.start(asked.spec));
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('title')}
      description={t('text', { name: skill.name })}
      width="lg"
      footer={
        <>
          <Button onClick={onClose}>{t('app:action.cancel')}</Button>
          <Button variant="primary" dim={!('spec' in asked)} busy={busy} onClick={() => void start()}>
            {t('action.run')}
          </Button>
        </>
      }
    >
      {above}
      <TrialFormView skill={skill} form={form} onChange={(change) => setTyped({ ...typed, ...change })} tried={answers} error={error} />
    </Dialog>
  );
}

function OneTrial({ id, first, skill, above, onNew, onRemoved, onClose }: { id: string; first: Trial | null; skill: TriedSkill; above: ReactNode; onNew: () => void; onRemoved: () => void; onClose: () => void }): ReactNode {
  const { t } = useTranslation(['skillTrial', 'app']);
  const client = useClient();
  const said = useErrorText();
  const app = useTranslation('app').t;
  const [trial, setTrial] = useState<Trial | null>(first);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [watched, setWatched] = useState(0);
  useStream((c, signal) => c.trials.watch({ id }, { signal }), setTrial, [id, watched], setError);
  const act = async (work: () => Promise<Trial>): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const next = await work();
      setTrial(next);
      if (next.state === 'running') setWatched(watched + 1);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  const remove = (): void => {
    setError(null);
    client.trials.remove({ id }).then(onRemoved, setError);
  };
  const left = trial?.rows.some((row) => row.with.state !== 'ended' || row.without.state !== 'ended') ?? false;
  const agentMade = skill.author === 'agent' || skill.author === 'review';
  const footer = !trial ? null : trial.state === 'running' ? (
    <>
      <Button onClick={onClose}>{t('action.background')}</Button>
      <Button variant="danger" busy={busy} onClick={() => void act(() => client.trials.cancel({ id }))}>{t('action.stop')}</Button>
    </>
  ) : (
    <>
      <Menu trigger={<Button>{app('action.more')}</Button>} items={[{ id: 'new', label: t('action.another'), run: onNew }, { id: 'remove', label: t('action.remove'), danger: true, run: remove }]} />
      {left && <Button busy={busy} onClick={() => void act(() => client.trials.resume({ id }))}>{t('action.resume')}</Button>}
      {trial.decision !== null ? (
        <Button busy={busy} onClick={() => void act(() => client.trials.undo({ id }))}>{app('action.undo')}</Button>
      ) : (
        <>
          <Button busy={busy} onClick={() => void act(() => client.trials.decide({ id, decision: 'discard', remove: false }))}>{t('action.disable')}</Button>
          {agentMade && <Button variant="danger" busy={busy} onClick={() => void act(() => client.trials.decide({ id, decision: 'discard', remove: true }))}>{t('action.discard')}</Button>}
          <Button variant="primary" busy={busy} onClick={() => void act(() => client.trials.decide({ id, decision: 'keep' }))}>{t('action.keep')}</Button>
        </>
      )}
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t('title')} description={<span className="font-mono text-sm">{skill.name}</span>} width="lg" footer={footer}>
      {above}
      {error !== null && <div className="mb-3"><Banner tone="bad" live title={said(error)} /></div>}
      {trial?.decision && <div className="mb-3"><Banner tone="good" live title={t(`decided.${trial.decision}`)} /></div>}
      {trial ? <TrialResult trial={trial} /> : error !== null ? <p className="text-fg-3">{errorText(error, app)}</p> : <Skeleton className="h-80" />}
    </Dialog>
  );
}
