import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { AppStatus } from '#shared/contract/app.ts';
import { TaskTray } from '../../features/chat/tasks/TaskTray.tsx';
import { cx } from '../../lib/cx.ts';
import { useConnection } from '../../lib/engine-context.tsx';
import { useFormat } from '../../lib/i18n.ts';
import { Kbd } from '../../ui/Kbd.tsx';

/** Engine health, what is running, what it costs. */
export function StatusLine({ status, onKeys }: { status: AppStatus | null; onKeys: () => void }): ReactNode {
  const { t } = useTranslation('app');
  const f = useFormat();
  const { phase, message } = useConnection();
  const engine = {
    up: t('status.engine'),
    connecting: t('status.connecting'),
    lost: t('status.lost'),
    'gave-up': t(message === 'refused' ? 'status.refused' : 'status.gaveUp'),
  }[phase];
  const live = phase === 'up' ? status : null;
  const busy = live !== null && (live.runsActive > 0 || live.agentsActive > 0);
  return (
    <footer
      aria-label={t('status.label')}
      className="num flex items-center gap-4 overflow-hidden border-t border-line bg-sunken px-3 text-xs whitespace-nowrap text-fg-3"
    >
      <span role="status" className="flex items-center gap-[5px]">
        <Dot className={phase === 'up' ? 'bg-good' : phase === 'gave-up' ? 'bg-bad' : 'animate-pulse bg-warn'} />
        {engine}
      </span>
      {live && (
        <span className="flex items-center gap-[5px]">
          {busy && <Dot className="bg-accent" />}
          {busy
            ? [live.runsActive > 0 && t('status.runs', { count: live.runsActive }), t('status.agents', { count: live.agentsActive })].filter(Boolean).join(' · ')
            : t('status.idle')}
        </span>
      )}
      {live && <TaskTray running={live.tasksRunning} unread={live.tasksUnread} />}
      <span className="flex-1" />
      {live && (
        <>
          {live.tokensToday > 0 && (
            <span title={f.exact(live.tokensToday)}>{t('status.tokensToday', { shown: f.compact(live.tokensToday) })}</span>
          )}
          {live.costTodayUsd !== null && live.costTodayUsd > 0 && (
            <span>{t('status.costToday', { cost: f.money(live.costTodayUsd) })}</span>
          )}
          <span>{t('status.trajectories', { count: live.trajectories, shown: f.exact(live.trajectories) })}</span>
        </>
      )}
      <button type="button" onClick={onKeys} className="focus-inset flex items-center gap-1 rounded-s hover:text-fg">
        <Kbd keys="?" />
        {t('keys.status')}
      </button>
    </footer>
  );
}

function Dot({ className }: { className: string }): ReactNode {
  return <i aria-hidden="true" className={cx('inline-block size-[7px] rounded-full', className)} />;
}
