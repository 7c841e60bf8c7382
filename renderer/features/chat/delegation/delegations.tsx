import { createContext, use, useMemo, useState, type ReactNode } from 'react';
import type { Child, Delegation } from '#shared/contract/delegations.ts';
import { useStream } from '../../../lib/engine-context.tsx';

const DelegationsContext = createContext<readonly Delegation[]>([]);
const NONE: readonly Delegation[] = [];

/** Whose sub-agents are shown: all of a session, or of one trajectory. */
type Whose = { sessionId: string } | { trajectoryId: string };

/** Follows sub-agents from the store, so that they are as they are after a reload and for as long as they may take. */
export function Delegations({ whose, children }: { whose: Whose; children: ReactNode }): ReactNode {
  const key = JSON.stringify(whose);
  const [seen, setSeen] = useState<{ key: string; items: readonly Delegation[] }>({ key, items: NONE });
  useStream((client, signal) => client.delegations.watch(whose, { signal }), ({ items }) => setSeen({ key, items }), [key], () => undefined);
  return <DelegationsContext value={seen.key === key ? seen.items : NONE}>{children}</DelegationsContext>;
}

export function useDelegations(): readonly Delegation[] {
  return use(DelegationsContext);
}

/** What one call of the model started; null while nothing is known of it. */
export function useDelegation(callId: string): Delegation | null {
  const all = useDelegations();
  return useMemo(() => all.findLast((delegation) => delegation.callId === callId) ?? null, [all, callId]);
}

/** Whether it still works or waits for a place. */
export function isActive({ state }: Child): boolean {
  return state === 'queued' || state === 'running';
}
