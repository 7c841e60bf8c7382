import { ChevronRight, CircleAlert, CircleCheck, CircleDashed, CircleHelp, CirclePause, CircleX, ExternalLink, LoaderCircle, MessageSquareReply, Square, TimerOff, type LucideIcon } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Child, ChildState } from '#shared/contract/delegations.ts';
import { cx } from '../../../lib/cx.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Input } from '../../../ui/Input.tsx';
import { Markdown } from '../../../ui/Markdown.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { activityText } from '../../batch/activity.ts';
import { useNow } from '../../batch/use-run.ts';
import { PlainIconButton } from '../../library/view/PlainIconButton.tsx';
import { plainLine } from '../tasks/TaskRow.tsx';
import { isActive } from './delegations.tsx';

const STATES: Record<ChildState, { icon: LucideIcon; tone: string }> = {
  queued: { icon: CircleDashed, tone: 'text-fg-3' },
  running: { icon: LoaderCircle, tone: 'text-accent animate-spin [animation-duration:1.6s]' },
  completed: { icon: CircleCheck, tone: 'text-good' },
  failed: { icon: CircleX, tone: 'text-bad' },
  interrupted: { icon: CirclePause, tone: 'text-fg-3' },
  timeout: { icon: TimerOff, tone: 'text-warn' },
  stalled: { icon: CircleAlert, tone: 'text-warn' },
  unknown: { icon: CircleHelp, tone: 'text-warn' },
};

/** One sub-agent: what it shall do, what it does now, and once it has ended what it reported, folded to a line. @param props.children those it started itself */
export function ChildRow({ child, children }: { child: Child; children: ReactNode }): ReactNode {
  const { t } = useTranslation('tasks');
  const { t: ofBatch } = useTranslation(['batch', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const [open, setOpen] = useState(false);
  const [steering, setSteering] = useState(false);
  const running = child.state === 'running';
  const goal = child.goal.slice(0, 60);
  const { icon: Icon, tone } = STATES[child.state];
  const report = isActive(child) ? null : [child.error, child.summary].filter(Boolean).join('\n\n') || null;
  const aside = isActive(child) ? (running ? (child.activity === null ? t('agents.state.running') : activityText(child.activity, ofBatch)) : t('agents.state.queued')) : plainLine((child.state === 'failed' ? child.error : null) ?? child.summary ?? t(`agents.state.${child.state}`));
  const stop = (): void => void client.delegations.stop({ childId: child.id }).catch((error: unknown) => toast({ title: errorText(error), kind: 'bad' }));
  return (
    <li>
      <div className="flex h-[26px] min-w-0 items-center gap-2 px-2.5 text-sm hover:bg-hover/60">
        <Icon role="img" aria-label={t(`agents.state.${child.state}`)} className={cx('size-3.5 shrink-0', tone)} />
        {report === null ? (
          <Line goal={child.goal} aside={aside} tone={running ? 'text-accent' : 'text-fg-3'} />
        ) : (
          <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="flex h-full min-w-0 flex-1 items-center gap-1.5 rounded-s text-left">
            <Line goal={child.goal} aside={open ? '' : aside} tone={child.state === 'failed' ? 'text-bad' : 'text-fg-3'} />
            <Numbers child={child} />
            <ChevronRight aria-hidden="true" className={cx('size-3 shrink-0 text-fg-3 transition-transform', open && 'rotate-90')} />
          </button>
        )}
        {report === null && <Numbers child={child} />}
        <span className="flex shrink-0">
          {isActive(child) && <PlainIconButton icon={MessageSquareReply} label={t('agents.steer', { goal })} pressed={steering} onClick={() => setSteering(!steering)} />}
          {isActive(child) && <PlainIconButton icon={Square} label={t('agents.stop', { goal })} onClick={stop} />}
          {child.trajectoryId !== null && (
            <a href={`#/library/${child.trajectoryId}`} aria-label={t('agents.open', { goal })} title={t('agents.open', { goal })} className="grid size-[22px] place-items-center rounded-m text-fg-2 hover:bg-hover hover:text-fg">
              <ExternalLink className="size-3.5" aria-hidden="true" />
            </a>
          )}
        </span>
      </div>
      {steering && isActive(child) && <Steer childId={child.id} label={t('agents.steerText')} onDone={() => setSteering(false)} />}
      {open && report !== null && <div className="mx-2.5 mb-1.5 ml-8 max-h-80 overflow-y-auto border-l-2 border-line-strong pl-2.5 text-sm text-fg-2"><Markdown text={report} /></div>}
      {children}
    </li>
  );
}

function Line({ goal, aside, tone }: { goal: string; aside: string; tone: string }): ReactNode {
  return (
    <span className="flex min-w-0 flex-1 items-baseline gap-2 overflow-hidden">
      <span className="max-w-[60%] min-w-0 shrink-0 truncate" title={goal.slice(0, 600)}>{goal}</span>
      <span className={cx('min-w-0 flex-1 truncate text-xs', tone)}>{aside.slice(0, 200)}</span>
    </span>
  );
}

function Numbers({ child }: { child: Child }): ReactNode {
  const { t } = useTranslation('tasks');
  const format = useFormat();
  const running = child.state === 'running';
  const now = useNow(running);
  const took = child.startedAt === null ? 0 : (child.endedAt ?? now) - child.startedAt;
  const numbers = [
    took < 1_000 ? null : format.duration(Math.floor(took / 1_000) * 1_000),
    child.turns > 0 ? t('agents.step', { count: child.turns, shown: format.exact(child.turns) }) : null,
    child.tokens > 0 ? t('tokens', { shown: format.compact(child.tokens) }) : null,
    child.costUsd === null || child.costUsd === 0 ? null : format.money(child.costUsd),
  ].filter(Boolean);
  return <span className="num shrink-0 text-xs text-fg-3">{numbers.join(' · ')}</span>;
}

/** A word to one that works. */
function Steer({ childId, label, onDone }: { childId: string; label: string; onDone: () => void }): ReactNode {
  const { t } = useTranslation('tasks');
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const [text, setText] = useState('');
  const send = (): void => {
    if (text.trim() === '') return;
    client.delegations.steer({ childId, text: text.trim() }).then(
      () => {
        toast({ title: t('agents.steered') });
        onDone();
      },
      (error: unknown) => toast({ title: errorText(error), kind: 'bad' }),
    );
  };
  return (
    <form
      className="flex items-center gap-2 px-2.5 pt-0.5 pb-1.5 pl-8"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
      onKeyDown={(e) => {
        if (e.key !== 'Escape' || e.nativeEvent.isComposing) return;
        e.preventDefault();
        e.stopPropagation();
        onDone();
      }}
    >
      <Input autoFocus aria-label={label} placeholder={label} value={text} onChange={(e) => setText(e.target.value)} className="min-w-0 flex-1" />
      <Button type="submit" dim={text.trim() === ''}>{t('agents.send')}</Button>
    </form>
  );
}
