import { LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { activityText } from '../../batch/activity.ts';
import { isActive, useDelegations } from './delegations.tsx';

/** In the side panel: sub-agents that work for this chat, also those whose call has scrolled away. Null when there are none. */
export function useRunningAgents(): ReactNode {
  const { t } = useTranslation('tasks');
  const { t: ofBatch } = useTranslation(['batch', 'app']);
  const active = useDelegations().flatMap(({ children }) => children.filter(isActive));
  if (active.length === 0) return null;
  return (
    <ul className="grid gap-1">
      {active.map((child) => (
        <li key={child.id} className="flex min-w-0 items-center gap-2 text-sm">
          <LoaderCircle role="img" aria-label={t(`agents.state.${child.state}`)} className={child.state === 'running' ? 'size-3.5 shrink-0 animate-spin text-accent [animation-duration:1.6s]' : 'size-3.5 shrink-0 text-fg-3'} />
          {child.trajectoryId === null ? (
            <span className="min-w-0 flex-1 truncate">{child.goal}</span>
          ) : (
            <a href={`#/library/${child.trajectoryId}`} title={child.goal.slice(0, 600)} className="min-w-0 flex-1 truncate rounded-s no-underline hover:underline">{child.goal}</a>
          )}
          <span className="max-w-[45%] shrink-0 truncate text-xs text-fg-3">{child.activity !== null && activityText(child.activity, ofBatch)}</span>
        </li>
      ))}
    </ul>
  );
}
