import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunCause, RunDashboard } from '#shared/contract/dashboards.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Card } from './RunCards.tsx';
import { causeText, reasonText } from './reasons.ts';
import { actionsOf, rolloutName } from './run-codes.ts';
import { colorOf } from './states.ts';
import type { ListFilter } from './PromptList.tsx';
import type { Retried } from './use-retry.ts';

const SHOWN = 8;

/** Why rollouts did not complete, by cause, each with one that shows it. */
export function CausesCard({
  run,
  causes,
  busy,
  onOpen,
  onShow,
  onRetry,
  onKeep,
}: {
  run: RunSummary;
  causes: RunDashboard['causes'];
  busy: boolean;
  onOpen: (trajectoryId: string) => void;
  onShow: (filter: ListFilter) => void;
  onRetry: (what: Retried, which: { cause: string }) => void;
  onKeep: (which: { cause: string }) => void;
}): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  if (causes.length === 0) return null;
  const most = Math.max(...causes.map((c) => c.count));
  const shown = causes.slice(0, SHOWN);
  const rest = causes.slice(SHOWN).reduce((sum, c) => sum + c.count, 0);
  return (
    <Card title={t('reasons.title')}>
      <ul className="pt-1 pb-1.5 text-sm">
        {shown.map((c) => (
          <li key={`${c.state} ${c.cause ?? c.example.reason}`} className="grid gap-1 border-line px-3.5 py-1.5 not-last:border-b">
            <div className="flex items-baseline gap-2">
              <i aria-hidden="true" className="size-2 shrink-0 self-center rounded-[2px]" style={{ background: colorOf(c.state) }} />
              <span className="min-w-0 flex-1 truncate" title={nameOf(c, t)}>
                {nameOf(c, t)}
                <span className="sr-only">, {t(`app:outcome.${c.state}`)}</span>
              </span>
              <span className="num text-xs text-fg-3" title={c.state === 'failed' ? t('reasons.retryable', { count: c.retryable, shown: f.exact(c.retryable) }) : undefined}>
                {f.exact(c.count)}
              </span>
            </div>
            <span className="h-1 overflow-hidden rounded-full bg-hover">
              <i className="block h-full rounded-full" style={{ width: `${Math.max(2, (c.count / most) * 100)}%`, background: colorOf(c.state) }} />
            </span>
            <Example cause={c} rollouts={run.spec.rollouts} onOpen={onOpen} />
            <div className="flex gap-3 text-xs">
              <TextButton of={nameOf(c, t)} onClick={() => onShow({ states: [c.state], cause: filterable(c) })}>
                {t('reasons.show')}
              </TextButton>
              {c.state !== 'partial' && c.cause !== null && actionsOf(run).retry && (
                <TextButton of={nameOf(c, t)} disabled={busy} onClick={() => onRetry(c.state as Retried, { cause: c.cause ?? '' })}>
                  {t('retry.these', { count: c.count, shown: f.exact(c.count) })}
                </TextButton>
              )}
              {c.state === 'discarded' && c.cause !== null && actionsOf(run).retry && (
                <TextButton of={nameOf(c, t)} disabled={busy} onClick={() => onKeep({ cause: c.cause ?? '' })}>
                  {t('keep.these')}
                </TextButton>
              )}
            </div>
          </li>
        ))}
      </ul>
      {rest > 0 && <p className="num border-t border-line px-3.5 py-2 text-xs text-fg-3">{t('reasons.rest', { count: rest, shown: f.exact(rest) })}</p>}
    </Card>
  );
}

function Example({ cause: { example, cause }, rollouts, onOpen }: { cause: RunCause; rollouts: number; onOpen: (trajectoryId: string) => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const { trajectoryId } = example;
  const reason = example.reason ? reasonText(example.reason, t) : null;
  const text = (
    <>
      <span className="block truncate">
        <span className="num">{rolloutName(example.index, rollouts)}</span> {example.prompt}
      </span>
      {reason !== null && cause !== null && reason !== causeText(cause, t) && <span className="line-clamp-2 break-words text-fg-3">{reason}</span>}
    </>
  );
  return trajectoryId === null ? (
    <div className="min-w-0 text-xs text-fg-2" title={example.reason ?? undefined}>
      {text}
    </div>
  ) : (
    <button type="button" title={example.reason ?? undefined} onClick={() => onOpen(trajectoryId)} className="min-w-0 text-left text-xs text-fg-2 hover:text-accent">
      {text}
    </button>
  );
}

/** @param of the cause, for those who do not see where the button stands */
function TextButton({ of, disabled = false, onClick, children }: { of: string; disabled?: boolean; onClick: () => void; children: ReactNode }): ReactNode {
  return (
    <button type="button" disabled={disabled} onClick={onClick} className="text-accent hover:underline disabled:opacity-50">
      {children}
      <span className="sr-only"> ({of})</span>
    </button>
  );
}

function nameOf(cause: RunCause, t: Parameters<typeof causeText>[1]): string {
  return cause.cause === null ? (cause.example.reason ?? t('reasons.unknown')) : causeText(cause.cause, t);
}

/** Exit reasons of partial rollouts, and sentences without a code, are no causes that the list can be asked for. */
function filterable({ state, cause }: RunCause): string | null {
  return state === 'partial' ? null : cause;
}
