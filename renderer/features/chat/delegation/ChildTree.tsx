import { Hourglass, Mail, MailCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Delegation } from '#shared/contract/delegations.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useToasts } from '../../../ui/Toasts.tsx';
import { ChildRow } from './ChildRow.tsx';
import { isActive, useDelegation, useDelegations } from './delegations.tsx';

/** The sub-agents that a call started, live; nothing for other calls. */
export function ChildTree({ callId }: { callId: string }): ReactNode {
  const delegation = useDelegation(callId);
  return delegation && delegation.children.length > 0 ? <Tree delegation={delegation} /> : null;
}

function Tree({ delegation }: { delegation: Delegation }): ReactNode {
  const { t } = useTranslation('tasks');
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const { children, background } = delegation;
  const active = children.filter(isActive);
  const queued = children.filter(({ state }) => state === 'queued').length;
  const stopAll = (): void => void client.delegations.stop({ delegationId: delegation.id }).catch((error: unknown) => toast({ title: errorText(error), kind: 'bad' }));
  return (
    <section id={`agents-${delegation.id}`} aria-label={t('agents.label')} className="border-t border-line bg-sunken/60">
      <header className="num flex h-6 items-center gap-3 px-2.5 text-xs text-fg-3">
        <span>{t('agents.ended', { ended: children.length - active.length, count: children.length })}</span>
        {queued > 0 && <span className="flex items-center gap-1"><Hourglass className="size-3" aria-hidden="true" />{t('agents.queued', { count: queued })}</span>}
        {background && (
          <span title={t('agents.laterHint')} className="flex items-center gap-1">
            {delegation.deliveredAt === null ? <Mail className="size-3" aria-hidden="true" /> : <MailCheck className="size-3" aria-hidden="true" />}
            {t(delegation.deliveredAt === null ? 'agents.later' : 'agents.reported')}
          </span>
        )}
        <span className="flex-1" />
        {active.length > 1 && <button type="button" onClick={stopAll} className="rounded-s px-1 text-fg-2 hover:bg-hover hover:text-fg">{t('agents.stopAll')}</button>}
      </header>
      <ul className="pb-1">
        {children.map((child) => (
          <ChildRow key={child.id} child={child}>
            <Own trajectoryId={child.trajectoryId} />
          </ChildRow>
        ))}
      </ul>
    </section>
  );
}

/** Those that a sub-agent started itself. */
function Own({ trajectoryId }: { trajectoryId: string | null }): ReactNode {
  const own = useDelegations().filter((delegation) => trajectoryId !== null && delegation.trajectoryId === trajectoryId);
  return own.length === 0 ? null : <div className="ml-4 border-l border-line">{own.map((delegation) => <Tree key={delegation.id} delegation={delegation} />)}</div>;
}
