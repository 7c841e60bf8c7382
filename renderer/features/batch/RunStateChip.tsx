import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunState } from '#shared/contract/runs.ts';
import { Chip, type Tone } from '../../ui/Chip.tsx';

const TONES: Record<RunState, Tone> = {
  running: 'accent',
  pausing: 'warn',
  paused: 'warn',
  completed: 'good',
  cancelled: 'neutral',
  failed: 'bad',
  interrupted: 'warn',
};

export function RunStateChip({ state }: { state: RunState }): ReactNode {
  const { t } = useTranslation('app');
  return <Chip tone={TONES[state]}>{t(`runState.${state}`)}</Chip>;
}

/** Marks what the scripted offline model made. */
export function ScriptedChip(): ReactNode {
  const { t } = useTranslation('app');
  return (
    <Chip tone="info" title={t('scripted.hint')}>
      {t('scripted.chip')}
    </Chip>
  );
}
