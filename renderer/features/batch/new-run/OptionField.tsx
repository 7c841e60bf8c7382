import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { runOptionLimits, runOptionText, type RunOptionKey } from '#shared/run-options.ts';
import { Checkbox } from '../../../ui/Checkbox.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input, NumberInput } from '../../../ui/Input.tsx';
import { Select } from '../../../ui/Select.tsx';
import { isList, isSwitch, type DraftField, type RunDraft } from './draft.ts';

export interface OptionProps {
  draft: RunDraft;
  change: (changes: Partial<RunDraft>) => void;
  /** The message at a field, when it is wrong. */
  problem: (field: DraftField) => string | null;
}

type T = TFunction<['batch', 'app']>;

/** One option of a run by its kind: number, choice, switch or text. What is left empty is the default, which stands in its place. */
export function OptionField({ name, draft, change, problem, unset }: OptionProps & { name: RunOptionKey; unset?: string | undefined }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const limits = runOptionLimits(name);
  const label = t(`runForm.label.${name}`);
  const hint = hintOf(name, t);
  if (isList(name)) return null;
  if (isSwitch(name)) {
    return <Checkbox checked={draft[name]} onChange={(checked) => change({ [name]: checked })} label={label} hint={hint} />;
  }
  const value = draft[name];
  const usual = unset ?? defaultOf(name, t);
  const set = (text: string): void => change({ [name]: text });
  return (
    <Field label={label} error={problem(name)} hint={hint}>
      {(props) => {
        if (limits.kind === 'choice') {
          const rest = limits.choices.filter((choice) => choice !== limits.default);
          return (
            <Select
              {...props}
              value={value}
              options={[{ value: '', label: usual }, ...rest.map((choice) => ({ value: choice, label: choiceText(name, choice, t) }))]}
              onChange={set}
            />
          );
        }
        if (limits.kind === 'whole') return <NumberInput {...props} value={value} placeholder={usual} onChange={set} />;
        if (limits.kind === 'number') return <Input {...props} className="num" inputMode="decimal" value={value} placeholder={usual} onChange={(e) => set(e.target.value)} />;
        return <Input {...props} mono={name !== 'ephemeralSystemPrompt'} value={value} placeholder={usual} onChange={(e) => set(e.target.value)} />;
      }}
    </Field>
  );
}

function hintOf(name: RunOptionKey, t: T): string | undefined {
  switch (name) {
    case 'providersAllowed':
    case 'providersIgnored':
    case 'providersOrder':
      return t('runForm.hint.providersList');
    case 'rollouts':
    case 'columns':
    case 'baseUrl':
    case 'reasoningEffort':
    case 'seed':
    case 'network':
    case 'ephemeralSystemPrompt':
    case 'prefillMessagesFile':
    case 'budgetUsd':
    case 'timeoutPerPrompt':
    case 'maxFailures':
    case 'outputDir':
    case 'keepWorkspaces':
      return t(`runForm.hint.${name}`);
    default:
      return undefined;
  }
}

/** What an empty field means: the schema's default, or the words for there being none. */
function defaultOf(name: RunOptionKey, t: T): string {
  const limits = runOptionLimits(name);
  if (limits.kind === 'choice' && typeof limits.default === 'string') return choiceText(name, limits.default, t);
  const usual = runOptionText(limits.default);
  if (usual !== '' && usual !== 'none' && name !== 'provider' && name !== 'model') return usual;
  switch (name) {
    case 'temperature':
    case 'topP':
    case 'maxTokens':
      return t('runForm.unset.model');
    case 'reasoningEffort':
      return t('effort.default');
    case 'providerSort':
      return t('runForm.choice.notSet');
    case 'baseUrl':
      return t('runForm.unset.provider');
    case 'seed':
      return t('runForm.unset.drawn');
    case 'columns':
      return t('runForm.unset.shape');
    case 'maxSamples':
      return t('runForm.unset.maxSamples');
    case 'providersAllowed':
      return t('runForm.unset.any');
    default:
      return t('runForm.unset.none');
  }
}

function choiceText(name: RunOptionKey, choice: string, t: T): string {
  if (name === 'reasoningEffort') return t(`effort.${choice as 'low'}`);
  if (name === 'sandbox') return t(`runForm.choice.sandbox.${choice as 'host'}`);
  if (name === 'trajectoryFormat') return t(`runForm.choice.trajectoryFormat.${choice as 'hermes'}`);
  if (name === 'providerSort') return t(`runForm.choice.providerSort.${choice as 'price'}`);
  if (name === 'datasetShape') return t(`runForm.choice.datasetShape.${choice as 'auto'}`);
  return choice;
}
