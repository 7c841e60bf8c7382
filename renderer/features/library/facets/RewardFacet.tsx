import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Input } from '../../../ui/Input.tsx';
import { scoreText } from '../scores/detail.ts';
import type { LibraryFilter } from '../url.ts';

type Bound = 'minReward' | 'maxReward';

/** Bounds of the reward. What is no number is marked and does not filter. @param props.known the least and the most there are */
export function RewardFacet({ filter, known, onChange }: { filter: LibraryFilter; known: { min: number; max: number } | null; onChange: (part: { [K in Bound]?: number | undefined }) => void }): ReactNode {
  const { t } = useTranslation('library');
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-xs font-semibold text-fg-3">{t('facet.reward')}</legend>
      <div className="flex items-center gap-1.5 text-fg-3">
        {/* made anew when the address says something else than was typed */}
        <BoundInput key={`min${filter.minReward}`} label={t('facet.minReward')} placeholder={known ? scoreText(known.min) : ''} value={filter.minReward} onChange={(minReward) => onChange({ minReward })} />
        <span aria-hidden="true">–</span>
        <BoundInput key={`max${filter.maxReward}`} label={t('facet.maxReward')} placeholder={known ? scoreText(known.max) : ''} value={filter.maxReward} onChange={(maxReward) => onChange({ maxReward })} />
      </div>
    </fieldset>
  );
}

function BoundInput({ label, placeholder, value, onChange }: { label: string; placeholder: string; value: number | undefined; onChange: (value: number | undefined) => void }): ReactNode {
  const [text, setText] = useState(value === undefined ? '' : String(value));
  const typed = text.trim().replace(',', '.');
  const number = typed === '' ? undefined : Number(typed);
  const bad = number !== undefined && !Number.isFinite(number);
  const take = (): void => {
    if (!bad && number !== value) onChange(number);
  };
  return (
    <Input
      inputMode="decimal"
      aria-label={label}
      aria-invalid={bad || undefined}
      placeholder={placeholder}
      value={text}
      onChange={(e) => setText(e.target.value)}
      onBlur={take}
      onKeyDown={(e) => e.key === 'Enter' && !e.nativeEvent.isComposing && take()}
      className="num h-6!"
    />
  );
}
