import { ChevronRight } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ROUTING_SORTS, type Provider } from '#shared/contract/settings.ts';
import { cx } from '../../lib/cx.ts';
import { useLoad } from '../../lib/engine-context.tsx';
import { Checkbox } from '../../ui/Checkbox.tsx';
import { Field } from '../../ui/Field.tsx';
import { Input, NumberInput } from '../../ui/Input.tsx';
import { Select, SuggestInput } from '../../ui/Select.tsx';
import { hasLimits, isOpenRouter, LIMIT_NUMBERS, ROUTING_LISTS, type ProblemField, type ProviderForm, type RoutingForm } from './provider-form.ts';

interface Props {
  form: ProviderForm;
  change: (changes: Partial<ProviderForm>) => void;
  /** The sentence about a field, when something is wrong with it. */
  problem: (field: ProblemField) => string | null;
  /** Somebody has tried to save: what is wrong must be seen. */
  showProblems: boolean;
  /** The providers that may answer in its place. */
  others: readonly Provider[];
}

/** What a provider is allowed, who answers in its place, and OpenRouter's routing; folded away while nothing is set. */
export function LimitFields({ form, change, problem, showProblems, others }: Props): ReactNode {
  const { t } = useTranslation('settings');
  const [open, setOpen] = useState(() => hasLimits(form));
  const id = useId();
  const isWrong = [...LIMIT_NUMBERS, 'fallback' as const].some((field) => problem(field) !== null);
  const isOpen = open || (isWrong && showProblems);
  return (
    <div className="rounded-m border border-line">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className="flex h-8 w-full items-center gap-1.5 rounded-m px-2 text-sm font-medium text-fg-2 hover:bg-hover hover:text-fg"
      >
        <ChevronRight className={cx('size-3.5 shrink-0 transition-transform', isOpen && 'rotate-90')} aria-hidden="true" />
        {t('limits.title')}
        {!isOpen && <span className="truncate font-normal text-fg-3">{t('limits.about')}</span>}
      </button>
      {isOpen && (
        <div id={id} className="grid gap-3 border-t border-line px-3 py-3">
          <div className="grid grid-cols-2 gap-3 max-[520px]:grid-cols-1">
            {LIMIT_NUMBERS.map((name) => (
              <Field key={name} label={t(`limits.${name}`)} error={problem(name)} hint={t(`limits.hint.${name}`)}>
                {(props) => (
                  <NumberInput
                    {...props}
                    value={form.limits[name]}
                    placeholder={t(name === 'contextLength' ? 'limits.asServer' : 'limits.none')}
                    maxLength={10}
                    onChange={(text) => change({ limits: { ...form.limits, [name]: text } })}
                  />
                )}
              </Field>
            ))}
          </div>
          <FallbackField value={form.fallback} error={problem('fallback')} others={others} onChange={(fallback) => change({ fallback })} />
          {isOpenRouter(form.baseUrl) && <RoutingFields routing={form.routing} onChange={(routing) => change({ routing })} />}
        </div>
      )}
    </div>
  );
}

function FallbackField({
  value,
  error,
  others,
  onChange,
}: {
  value: string;
  error: string | null;
  others: readonly Provider[];
  onChange: (route: string) => void;
}): ReactNode {
  const { t } = useTranslation('settings');
  const named = others.find(({ id, scripted }) => !scripted && value.startsWith(`${id}/`))?.id ?? null;
  const models = useLoad(
    async (client, signal) => (named === null ? { models: [] } : client.settings.models({ provider: named }, { signal })),
    [named],
  );
  const usual = others.filter(({ scripted }) => !scripted).map(({ id, defaultModel }) => `${id}/${defaultModel ?? ''}`);
  const listed = models.data?.models.map((model) => `${named}/${model.id}`) ?? [];
  return (
    <Field label={t('limits.fallback')} error={error} hint={t('limits.hint.fallback')}>
      {(props) => <SuggestInput {...props} value={value} suggestions={listed.length > 0 ? listed : usual} placeholder={t('limits.noFallback')} onChange={onChange} />}
    </Field>
  );
}

function RoutingFields({ routing, onChange }: { routing: RoutingForm; onChange: (routing: RoutingForm) => void }): ReactNode {
  const { t } = useTranslation('settings');
  const set = (changes: Partial<RoutingForm>): void => onChange({ ...routing, ...changes });
  return (
    <fieldset className="grid gap-3 border-t border-line pt-3">
      <legend className="sr-only">{t('routing.title')}</legend>
      <div>
        <div className="text-sm font-medium" aria-hidden="true">
          {t('routing.title')}
        </div>
        <p className="text-xs text-fg-3">{t('routing.about')}</p>
      </div>
      <div className="grid grid-cols-2 gap-3 max-[520px]:grid-cols-1">
        {ROUTING_LISTS.map((name) => (
          <Field key={name} label={t(`routing.${name}`)}>
            {(props) => (
              <Input {...props} mono value={routing[name]} placeholder={t(`routing.example.${name}`)} onChange={(e) => set({ [name]: e.target.value })} />
            )}
          </Field>
        ))}
        <Field label={t('routing.sort')}>
          {(props) => (
            <Select
              {...props}
              value={routing.sort || 'none'}
              onChange={(sort) => set({ sort: sort === 'none' ? '' : sort })}
              options={(['none', ...ROUTING_SORTS] as const).map((value) => ({ value, label: t(`routing.sorts.${value}`) }))}
            />
          )}
        </Field>
      </div>
      <div className="grid gap-0.5">
        <Checkbox checked={routing.noFallbacks} onChange={(noFallbacks) => set({ noFallbacks })} label={t('routing.noFallbacks')} />
        <Checkbox checked={routing.requireParameters} onChange={(requireParameters) => set({ requireParameters })} label={t('routing.requireParameters')} />
        <Checkbox checked={routing.denyData} onChange={(denyData) => set({ denyData })} label={t('routing.denyData')} />
      </div>
    </fieldset>
  );
}
