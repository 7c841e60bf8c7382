import type { TFunction } from 'i18next';
import { ChevronRight } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { DistributionEntry } from '#shared/contract/distributions.ts';
import type { Provider } from '#shared/contract/settings.ts';
import { RUN_OPTION_GROUPS, RUN_OPTION_KEYS, RUN_OPTIONS, type RunOptionGroup, type RunOptionKey } from '#shared/run-options.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat, type Format } from '../../../lib/i18n.ts';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { Select } from '../../../ui/Select.tsx';
import { isChanged } from './draft.ts';
import { ExpressionList } from './ExpressionList.tsx';
import { ModelFields } from './ModelFields.tsx';
import { OptionField, type OptionProps } from './OptionField.tsx';

export interface RunFormProps extends OptionProps {
  providers: readonly Provider[];
  distributions: readonly DistributionEntry[];
  defaultOutputDir: string;
  rows: number | null;
  /** Score rules that fit the dataset. */
  suggestedScoring: readonly string[];
}

/** Those with a place of their own: the dataset with its columns at the left, provider and model together. */
const ELSEWHERE: readonly RunOptionKey[] = ['datasetFile', 'datasetShape', 'columns', 'provider', 'model'];
/** Take the whole width. */
const WIDE: readonly RunOptionKey[] = ['runName', 'columns', 'baseUrl', 'distribution', 'filters', 'scoring', 'outputDir', 'ephemeralSystemPrompt', 'prefillMessagesFile', 'reasoningDisabled', 'network', 'keepWorkspaces'];

/** All options of a run by group: the common ones in sight, the others folded below them. */
export function RunForm(props: RunFormProps): ReactNode {
  const { t } = useTranslation('batch');
  return (
    <div className="grid">
      {RUN_OPTION_GROUPS.map((group) => (
        <section key={group} aria-label={t(`runForm.group.${group}`)} className="grid gap-3 border-b border-line p-4 last:border-b-0">
          <h2 className="text-xs font-semibold tracking-wide text-fg-3 uppercase">{t(`runForm.group.${group}`)}</h2>
          {group === 'model' && <ModelFields {...props} />}
          <Fields names={namesOf(group, false)} {...props} />
          <Advanced names={[...namesOf(group, true), ...(group === 'data' && props.problem('columns') ? (['columns'] as const) : [])]} {...props} />
        </section>
      ))}
    </div>
  );
}

function namesOf(group: RunOptionGroup, advanced: boolean): RunOptionKey[] {
  return RUN_OPTION_KEYS.filter((key) => RUN_OPTIONS[key].group === group && RUN_OPTIONS[key].advanced === advanced && !ELSEWHERE.includes(key));
}

function Advanced({ names, ...props }: RunFormProps & { names: readonly RunOptionKey[] }): ReactNode {
  const { t } = useTranslation('batch');
  const changed = names.filter((key) => isChanged(props.draft, key)).length;
  const wrong = names.some((key) => props.problem(key) !== null);
  const [wanted, setWanted] = useState(changed > 0);
  // what is wrong must be in sight
  const open = wanted || wrong;
  if (names.length === 0) return null;
  return (
    <div className="grid gap-3">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setWanted(!open)}
        className="flex w-fit items-center gap-1 rounded-s text-sm text-fg-2 hover:text-fg"
      >
        <ChevronRight className={cx('size-3.5 transition-transform', open && 'rotate-90')} aria-hidden="true" />
        {t('runForm.more')}
        {changed > 0 && <span className="text-xs text-accent">{t('runForm.more_changed', { count: changed })}</span>}
      </button>
      {open && <Fields names={names} {...props} />}
    </div>
  );
}

function Fields({ names, ...props }: RunFormProps & { names: readonly RunOptionKey[] }): ReactNode {
  if (names.length === 0) return null;
  return (
    <div className="grid grid-cols-2 gap-x-3.5 gap-y-3">
      {names.map((key) => (
        <div key={key} className={cx('min-w-0', WIDE.includes(key) && 'col-span-2')}>
          <OneField name={key} {...props} />
        </div>
      ))}
    </div>
  );
}

function OneField({ name, distributions, defaultOutputDir, rows, suggestedScoring, providers: _, ...option }: RunFormProps & { name: RunOptionKey }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const { draft, change, problem } = option;
  switch (name) {
    case 'runName':
      return (
        <Field label={t('runForm.label.runName')} error={problem(name)}>
          {(props) => <Input {...props} mono value={draft.runName} maxLength={100} onChange={(e) => change({ runName: e.target.value })} />}
        </Field>
      );
    case 'distribution':
      return <DistributionField distributions={distributions} {...option} />;
    case 'filters':
    case 'scoring':
      return (
        <ExpressionList
          name={name}
          items={draft[name]}
          onChange={(items) => change({ [name]: items })}
          error={problem(name)}
          suggestions={name === 'scoring' ? suggestedScoring : []}
        />
      );
    case 'maxSamples':
      return <OptionField name={name} unset={rows === null ? undefined : t('runForm.unset.maxSamplesOf', { shown: f.exact(rows) })} {...option} />;
    case 'outputDir':
      return <OptionField name={name} unset={defaultOutputDir} {...option} />;
    default:
      return <OptionField name={name} {...option} />;
  }
}

function DistributionField({ draft, change, problem, distributions }: OptionProps & { distributions: readonly DistributionEntry[] }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const value = draft.distribution.trim() || 'default';
  const chosen = distributions.find((d) => d.name === value);
  return (
    <Field
      label={t('runForm.label.distribution')}
      error={problem('distribution')}
      hint={chosen && aboutDistribution(chosen, f, t)}
      aside={
        <a href={`#/batch/distributions?name=${encodeURIComponent(value)}`} className="text-fg-2 underline hover:text-fg">
          {t('runForm.dist.edit')}
        </a>
      }
    >
      {(props) => (
        <Select
          {...props}
          value={value}
          placeholder={value}
          options={distributions.filter((d) => d.usable).map((d) => ({ value: d.name, label: d.name, hint: aboutDistribution(d, f, t) }))}
          onChange={(name) => change({ distribution: name === 'default' ? '' : name })}
        />
      )}
    </Field>
  );
}

/** "terminal 100% · file 50%; not in this version: web" */
function aboutDistribution({ toolsets, skipped }: DistributionEntry, f: Format, t: TFunction<['batch', 'app']>): string {
  const gone = skipped.map(({ name }) => name);
  const built = Object.entries(toolsets)
    .filter(([name]) => !gone.includes(name))
    .map(([name, chance]) => `${name} ${f.percent(chance / 100)}`)
    .join(' · ');
  return gone.length === 0 ? built : t('form.distributionSkipped', { built, skipped: gone.join(', ') });
}
