import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSettings } from '#shared/contract/chats.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { likeliestProvider } from '../../../lib/providers.ts';
import { Checkbox } from '../../../ui/Checkbox.tsx';
import { Banner } from '../../../ui/Feedback.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { Select } from '../../../ui/Select.tsx';
import { ModelPicker } from '../../chat/composer/ModelPicker.tsx';
import { recentModels } from '../../chat/composer/models.ts';
import { type FormField, specOf, type TrialForm } from './form.ts';
import { PromptField } from './PromptField.tsx';

const TOOLSETS = ['terminal', 'file', 'web', 'todo'] as const;
/** Typing goes on this long before the engine is asked, ms. */
const PAUSE_MS = 400;

/** What is tried on, with what, and what it may cost. */
export function TrialFormView({ skill, form, onChange, tried, error }: { skill: { id: string; name: string }; form: TrialForm; onChange: (change: Partial<TrialForm>) => void; /** The person has pressed the button: what is missing is said. */ tried: boolean; error: unknown }): ReactNode {
  const { t } = useTranslation('skillTrial');
  const errorText = useErrorText();
  const [picking, setPicking] = useState(false);
  const asked = specOf(skill.id, form);
  const wrong = 'wrong' in asked ? asked.wrong : {};
  const said = (field: FormField): string | null => {
    const code = wrong[field];
    return code === undefined || (code === 'none' && !tried) ? null : t(`wrong.${code as 'none' | 'many' | 'number' | 'rule'}`);
  };
  const settings: SessionSettings = { provider: form.provider, model: form.model || '–', reasoningEffort: form.reasoningEffort ?? null, toolsets: form.toolsets, workspace: '', sandbox: form.sandbox, maxTurns: 20 };
  return (
    <div className="grid gap-4">
      {error !== null && error !== undefined && <Banner tone="bad" live title={errorText(error)} />}
      <PromptField form={form} onChange={onChange} error={said('prompts')} />
      <div className="grid grid-cols-2 gap-x-6 gap-y-3">
        <div className="grid content-start gap-1">
          <span className="text-sm font-medium text-fg-2">{t('form.model')}</span>
          <div className="flex">
            <ModelPicker
              settings={settings}
              open={picking}
              onOpenChange={setPicking}
              onChange={(change) => onChange({ ...(change.provider === undefined ? {} : { provider: change.provider }), ...(change.model === undefined ? {} : { model: change.model }), ...(change.reasoningEffort === undefined ? {} : { reasoningEffort: change.reasoningEffort }) })}
            />
          </div>
          {said('model') && <p role="alert" className="text-xs text-bad">{said('model')}</p>}
          <p className="text-xs text-fg-3">{t('form.modelHint')}</p>
        </div>
        <fieldset className="grid content-start gap-0.5">
          <legend className="text-sm font-medium text-fg-2">{t('form.tools')}</legend>
          <div className="grid grid-cols-2">
            {TOOLSETS.map((name) => (
              <Checkbox key={name} checked={form.toolsets.includes(name)} label={t(`toolset.${name}`)} onChange={(on) => onChange({ toolsets: on ? [...form.toolsets, name] : form.toolsets.filter((other) => other !== name) })} />
            ))}
          </div>
        </fieldset>
      </div>
      <Checkbox checked={form.runByName} onChange={(runByName) => onChange({ runByName })} label={t('form.byName', { name: skill.name })} hint={t('form.byNameHint')} />
      <details className="group rounded-m border border-line">
        <summary className="rounded-m px-3 py-1.5 text-sm font-medium text-fg-2 hover:text-fg">{t('form.more')}</summary>
        <div className="grid grid-cols-4 items-start gap-3 border-t border-line px-3 py-3">
          <Field label={t('form.maxTurns')} error={said('maxTurns')}>{(p) => <Input {...p} className="num" value={form.maxTurns} onChange={(e) => onChange({ maxTurns: e.target.value })} />}</Field>
          <Field label={t('form.concurrency')} error={said('concurrency')}>{(p) => <Input {...p} className="num" value={form.concurrency} onChange={(e) => onChange({ concurrency: e.target.value })} />}</Field>
          <Field label={t('form.temperature')} error={said('temperature')}>{(p) => <Input {...p} className="num" placeholder={t('form.providerDefault')} value={form.temperature} onChange={(e) => onChange({ temperature: e.target.value })} />}</Field>
          <Field label={t('form.seed')} error={said('seed')}>{(p) => <Input {...p} className="num" placeholder={t('form.drawn')} value={form.seed} onChange={(e) => onChange({ seed: e.target.value })} />}</Field>
          <Field label={t('form.budget')} error={said('budget')}>{(p) => <Input {...p} className="num" placeholder={t('form.none')} value={form.budget} onChange={(e) => onChange({ budget: e.target.value })} />}</Field>
          <Field label={t('form.sandbox')}>{(p) => <Select {...p} value={form.sandbox} options={[{ value: 'host', label: t('sandbox.host') }, { value: 'bubblewrap', label: t('sandbox.bubblewrap') }]} onChange={(sandbox) => onChange({ sandbox })} />}</Field>
          <div className="col-span-2">
            <Field label={t('form.scoring')} error={said('scoring')} hint={t('form.scoringHint')}>
              {(p) => <textarea {...p} rows={2} spellCheck={false} value={form.scoring} placeholder="exact" onChange={(e) => onChange({ scoring: e.target.value })} className="w-full min-w-0 resize-y rounded-m border border-line-strong bg-raised px-2 py-1 font-mono text-sm text-fg aria-invalid:border-bad" />}
            </Field>
          </div>
        </div>
      </details>
      <EstimateLine skillId={skill.id} form={form} />
    </div>
  );
}

/** The model that is likeliest meant: the one chosen last, else the default of a provider that can be used. */
export function useLikelyModel(): { provider: string; model: string } | null {
  const { data } = useLoad((client, signal) => client.settings.get(undefined, { signal }), []);
  if (!data) return null;
  const recent = recentModels().find((choice) => data.providers.some((provider) => provider.id === choice.provider));
  if (recent) return recent;
  const provider = likeliestProvider(data.providers);
  return { provider: provider?.id ?? '', model: provider?.defaultModel ?? '' };
}

/** Always as high, so that the form does not move while it is reckoned. */
function EstimateLine({ skillId, form }: { skillId: string; form: TrialForm }): ReactNode {
  const { t } = useTranslation('skillTrial');
  const f = useFormat();
  const asked = specOf(skillId, form);
  const wanted = useSettled('spec' in asked ? JSON.stringify(asked.spec) : '');
  const { data } = useLoad(async (client, signal) => (wanted === '' ? null : await client.trials.estimate(JSON.parse(wanted) as Parameters<typeof client.trials.estimate>[0], { signal })), [wanted]);
  const estimate = 'spec' in asked ? data : null;
  const problem = estimate?.problems[0];
  return (
    <p className="num min-h-10 text-sm text-fg-2" aria-live="polite">
      {problem !== undefined ? (
        <span className="text-warn">{problem}</span>
      ) : estimate ? (
        <>
          {t('estimate.attempts', { count: estimate.attempts, shown: f.exact(estimate.attempts) })} · {t('estimate.tokens', { low: f.compact(estimate.tokensLow), high: f.compact(estimate.tokensHigh) })}
          {estimate.lowUsd !== null && estimate.highUsd !== null && <> · {t('estimate.cost', { low: f.money(estimate.lowUsd), high: f.money(estimate.highUsd) })}</>}
          <span className="block text-xs text-fg-3">{t('estimate.skill', { shown: f.exact(estimate.skillTokens) })}</span>
        </>
      ) : (
        <span className="text-fg-3">{t('estimate.none')}</span>
      )}
    </p>
  );
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
