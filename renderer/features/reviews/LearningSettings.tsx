import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { PROPOSAL_KINDS, REVIEW_EXTRA_TOOLS, type ReviewSettings } from '#shared/contract/reviews.ts';
import { Checkbox } from '../../ui/Checkbox.tsx';
import { ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { Segmented } from '../../ui/Select.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { MemorySettings } from '../memory/MemorySettings.tsx';
import { SavedText } from '../settings/SavedText.tsx';
import { SettingRow, SettingsSection } from '../settings/SettingRow.tsx';
import { useSettings } from '../settings/use-settings.ts';
import { amountText, parseAmount } from '../settings/spend/amount.ts';

type Numbers = 'skillInterval' | 'memoryInterval' | 'maxIterations' | 'dayReviews';
const NUMBERS: readonly (readonly [name: Numbers, min: number, max: number])[] = [
  ['skillInterval', 0, 10_000],
  ['memoryInterval', 0, 10_000],
  ['maxIterations', 1, 64],
  ['dayReviews', 1, 10_000],
];

/** When agents look back at what they did, what that may cost, and what of it is kept without asking. Changes are saved as they are made. */
export function LearningSettings(): ReactNode {
  const { t } = useTranslation(['reviews', 'memory']);
  const { data: s, error, reload, update } = useSettings<ReviewSettings>((c) => c.reviews.settings(), (c, change) => c.reviews.configure(change));
  /** What is no amount is not saved: a slip must not take the cap away. */
  const saveCap = (text: string): void => {
    const dayUsd = parseAmount(text);
    if (dayUsd !== undefined && dayUsd !== 0) update({ dayUsd });
  };
  return (
    <SettingsSection id="learning" title={t('settings.title')} about={t('settings.about')}>
      {s ? (
        <>
          <div className="rounded-l border border-line bg-raised">
            <SettingRow label={t('settings.enabled')} hint={t('settings.enabledHint')}>
              <Switch checked={s.enabled} onChange={(enabled) => update({ enabled })} label={t('settings.enabled')} />
            </SettingRow>
            {NUMBERS.map(([name, min, max]) => (
              <SettingRow key={name} label={t(`settings.${name}`)} hint={t(`settings.${name}Hint`)}>
                <SavedText label={t(`settings.${name}`)} value={String(s[name])} kind="digits" onSave={(text) => update({ [name]: Math.min(max, Math.max(min, Number(text) || 0)) })} />
              </SettingRow>
            ))}
            <SettingRow label={t('settings.sessionEnd')} hint={t('settings.sessionEndHint')}>
              <Switch checked={s.sessionEnd} onChange={(sessionEnd) => update({ sessionEnd })} label={t('settings.sessionEnd')} />
            </SettingRow>
            <SettingRow label={t('settings.model')} hint={t('settings.modelHint')}>
              <SavedText label={t('settings.model')} value={s.model ?? ''} placeholder={t('settings.modelOwn')} onSave={(text) => update({ model: text === '' ? null : text })} />
            </SettingRow>
            <SettingRow label={t('settings.dayUsd')} hint={t('settings.dayUsdHint')}>
              <SavedText label={t('settings.dayUsd')} value={amountText(s.dayUsd)} kind="amount" placeholder={t('settings.none')} onSave={saveCap} />
            </SettingRow>
            <SettingRow label={t('settings.extraTools')} hint={t('settings.extraToolsHint')}>
              <span role="group" aria-label={t('settings.extraTools')} className="flex flex-wrap gap-x-4">
                {REVIEW_EXTRA_TOOLS.map((tool) => (
                  <Checkbox key={tool} label={t(`settings.extraTool.${tool}`)} checked={s.extraTools.includes(tool)} onChange={(on) => update({ extraTools: REVIEW_EXTRA_TOOLS.filter((one) => (one === tool ? on : s.extraTools.includes(one))) })} />
                ))}
              </span>
            </SettingRow>
          </div>
          <h3 className="mt-3 mb-1.5 text-sm font-medium">{t('settings.keep')}</h3>
          <div className="rounded-l border border-line bg-raised">
            {PROPOSAL_KINDS.map((kind) => (
              <SettingRow key={kind} label={t(`settings.apply.${kind}`)}>
                <Segmented
                  label={t(`settings.apply.${kind}`)}
                  value={s.apply[kind] ?? 'ask'}
                  onChange={(mode) => update({ apply: { ...s.apply, [kind]: mode } })}
                  options={[{ value: 'at_once', label: t('settings.atOnce') }, { value: 'ask', label: t('settings.ask') }]}
                />
              </SettingRow>
            ))}
          </div>
        </>
      ) : error ? (
        <ErrorState error={error} onRetry={reload} />
      ) : (
        <Skeleton className="h-96 rounded-l" />
      )}
      <h3 className="mt-3 mb-1.5 text-sm font-medium">{t('memory:settings.title')}</h3>
      <MemorySettings />
    </SettingsSection>
  );
}
