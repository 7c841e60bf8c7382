import { BookOpenText, Brain, Inbox, LibraryBig, ListChecks, MessageSquare, Settings, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { AppStatus } from '#shared/contract/app.ts';
import { cx } from '../../lib/cx.ts';
import { usePath } from '../../lib/hash-location.ts';
import { Logo } from '../../ui/Logo.tsx';

/** The way between the screens. */
export function Rail({ status }: { status: AppStatus | null }): ReactNode {
  const { t } = useTranslation('app');
  return (
    <nav aria-label={t('nav.label')} className="row-span-2 flex flex-col items-center gap-0.5 border-r border-line bg-sunken py-2">
      <Logo className="mt-1 mb-3 size-[26px] text-accent" />
      <RailLink
        to="/chat"
        icon={MessageSquare}
        label={t('nav.chat')}
        {...(status && status.chatsWaiting > 0
          ? { badge: status.chatsWaiting, badgeLabel: t('status.chatsWaiting', { count: status.chatsWaiting }) }
          : {})}
      />
      <RailLink to="/library" icon={LibraryBig} label={t('nav.library')} />
      <RailLink
        to="/batch"
        icon={ListChecks}
        label={t('nav.batch')}
        {...(status && status.runsActive > 0
          ? { badge: status.runsActive, badgeLabel: t('status.runs', { count: status.runsActive }) }
          : {})}
      />
      <RailLink to="/skills" icon={BookOpenText} label={t('nav.skills')} />
      <RailLink to="/memory" icon={Brain} label={t('nav.memory')} />
      <RailLink
        to="/reviews"
        icon={Inbox}
        label={t('nav.reviews')}
        {...(status && status.proposalsWaiting > 0
          ? { badge: status.proposalsWaiting, badgeLabel: t('status.proposals', { count: status.proposalsWaiting }) }
          : {})}
      />
      <span className="flex-1" />
      <RailLink to="/settings" icon={Settings} label={t('nav.settings')} />
    </nav>
  );
}

function RailLink({
  to,
  icon: Icon,
  label,
  badge,
  badgeLabel,
}: {
  to: string;
  icon: LucideIcon;
  label: string;
  badge?: number;
  badgeLabel?: string;
}): ReactNode {
  const [path] = usePath();
  const here = path === to || path.startsWith(`${to}/`);
  return (
    <a
      href={`#${to}`}
      aria-current={here ? 'page' : undefined}
      className={cx(
        'relative grid w-11 justify-items-center gap-[3px] rounded-m pt-1.5 pb-[5px] text-[9.5px] leading-[1.45] no-underline transition-colors',
        here ? 'bg-hover text-fg' : 'text-fg-3 hover:bg-hover hover:text-fg',
      )}
    >
      <Icon className={cx('size-[18px]', here && 'text-accent')} strokeWidth={1.6} aria-hidden="true" />
      {label}
      {badge !== undefined && (
        <b
          aria-label={badgeLabel}
          className="num absolute top-[3px] right-[5px] h-3.5 min-w-3.5 rounded-full bg-accent px-[3px] text-center text-[9px] leading-[14px] font-semibold text-on-accent"
        >
          {badge}
        </b>
      )}
    </a>
  );
}
