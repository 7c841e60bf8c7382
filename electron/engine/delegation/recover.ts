import { getDetail, getMessages } from '../trajectories/query.ts';
import type { DelegationDeps } from './deps.ts';
import { reportWithout } from './report.ts';
import type { ChildRecord, DelegationStore } from './store.ts';

/**
 * Ends what a killed engine left: of children that had not ended nothing is known but what they had stored, and that is what their
 * parents are told. Returns how many there were.
 */
export function endLost({ db, now }: DelegationDeps, store: DelegationStore): number {
  let lost = 0;
  for (const delegation of store.open()) {
    db.transaction(() => {
      for (const child of store.children(delegation.id)) {
        if (child.state !== 'queued' && child.state !== 'running') continue;
        store.endChild(child.id, reportOfLost(db, child, now()), now());
        lost++;
      }
      store.end(delegation.id, now());
    });
  }
  return lost;
}

function reportOfLost(db: DelegationDeps['db'], child: ChildRecord, now: number) {
  const detail = child.trajectoryId === null ? undefined : getDetail(db, child.trajectoryId);
  const messages = detail ? getMessages(db, detail.n, -1, Number.MAX_SAFE_INTEGER, true) : [];
  const durationMs = child.startedAt === null ? 0 : Math.max(0, (detail?.endedAt ?? now) - child.startedAt);
  const error = child.startedAt === null ? 'Talaria was ended before it began. Nothing was done.' : 'Talaria was ended while it worked. What it had done by then is known only in part: look at its files before you go on.';
  return reportWithout('unknown', error, { index: child.index, childId: child.id, model: child.model ?? '', durationMs }, messages);
}
