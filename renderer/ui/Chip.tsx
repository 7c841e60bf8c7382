import { CircleAlert, CircleCheck, CircleDashed, CircleSlash, CircleX, LoaderCircle, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { PromptState } from '#shared/contract/runs.ts';
import type { Outcome } from '#shared/trajectory.ts';
import { cx } from '../lib/cx.ts';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info' | 'accent';

const TONES: Record<Tone, string> = {
  neutral: 'bg-hover text-fg-2',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  info: 'bg-info-soft text-info',
  accent: 'bg-accent-soft text-accent',
};

/** A short state or property. */
export function Chip({ tone = 'neutral', title, children }: { tone?: Tone; title?: string | undefined; children: ReactNode }): ReactNode {
  return (
    <span
      title={title}
      className={cx('inline-flex h-[18px] shrink-0 items-center rounded-full px-1.5 text-2xs font-medium whitespace-nowrap', TONES[tone])}
    >
      {children}
    </span>
  );
}

type State = Outcome | PromptState;

const ICONS: Record<State, { icon: LucideIcon; tone: string }> = {
  completed: { icon: CircleCheck, tone: 'text-good' },
  partial: { icon: CircleAlert, tone: 'text-warn' },
  failed: { icon: CircleX, tone: 'text-bad' },
  discarded: { icon: CircleSlash, tone: 'text-fg-3' },
  cancelled: { icon: CircleSlash, tone: 'text-fg-3' },
  running: { icon: LoaderCircle, tone: 'text-accent' },
  pending: { icon: CircleDashed, tone: 'text-fg-3' },
};

export const OUTCOME_TONES: Record<State, Tone> = {
  completed: 'good',
  partial: 'warn',
  failed: 'bad',
  discarded: 'neutral',
  cancelled: 'neutral',
  running: 'accent',
  pending: 'neutral',
};

/** The 14 px mark of an outcome or prompt state; says its name to screen readers. */
export function OutcomeIcon({ state }: { state: State }): ReactNode {
  const { t } = useTranslation('app');
  const { icon: Icon, tone } = ICONS[state];
  return (
    <Icon
      role="img"
      aria-label={t(`outcome.${state}`)}
      className={cx('size-3.5 shrink-0', tone, state === 'running' && 'animate-spin [animation-duration:1.6s]')}
    />
  );
}

/** The outcome as a chip with its name. */
export function OutcomeChip({ state }: { state: State }): ReactNode {
  const { t } = useTranslation('app');
  return <Chip tone={OUTCOME_TONES[state]}>{t(`outcome.${state}`)}</Chip>;
}
