import type { MemoryOperation, MemoryTarget } from '#shared/contract/memory.ts';
import type { ProposalKind } from '#shared/contract/reviews.ts';
import type { ChangedFile } from '#shared/contract/skills.ts';
import { understandCall } from '../../memory/call.ts';
import { preview, splitEntries } from '../../memory/text.ts';
import type { MemoryTools } from '../../tools/types.ts';
import type { ReviewedMemory } from '../deps.ts';
import { APPLIED, asToolError, type Grounds, type ProposingReview, WAITING, waits } from './ground.ts';

const FILES: Readonly<Record<MemoryTarget, string>> = { memory: 'MEMORY.md', user: 'USER.md' };

/** The memory tool of a review: every call is checked as the real one would be, and becomes a proposal. */
export class MemoryProposals {
  readonly #memory: ReviewedMemory;
  readonly #review: ProposingReview;
  readonly #grounds: Grounds;
  /** What was proposed and waits: later calls are checked as if it were done. */
  readonly #waiting: Record<MemoryTarget, MemoryOperation[]> = { memory: [], user: [] };

  constructor(memory: ReviewedMemory, review: ProposingReview, grounds: Grounds) {
    this.#memory = memory;
    this.#review = review;
    this.#grounds = grounds;
  }

  tools(): MemoryTools {
    const real = this.#memory.toolsFor({ author: 'review', trajectoryId: this.#review.trajectoryId, reviewId: this.#review.reviewId });
    return {
      call: (input) =>
        asToolError(() => {
          const call = understandCall(input);
          return call.kind === 'read' ? real.call(input) : this.#propose(call.target, call.operations);
        }),
    };
  }

  /** Could be done without what waits. */
  #standsAlone(target: MemoryTarget, operations: readonly MemoryOperation[]): boolean {
    if (this.#waiting[target].length === 0) return true;
    try {
      this.#memory.plan(target, operations);
      return true;
    } catch {
      return false;
    }
  }

  async #propose(target: MemoryTarget, operations: MemoryOperation[]): Promise<Record<string, unknown>> {
    const earlier = this.#waiting[target];
    const before = earlier.length === 0 ? null : this.#memory.plan(target, earlier).after;
    const plan = this.#memory.plan(target, [...earlier, ...operations]);
    const changes = changesOf(target, operations, before ?? plan.before, plan.after);
    if (changes.length === 0) return { success: true, applied: false, target, message: 'This is in the memory already. Nothing was changed.' };
    const grounds = this.#grounds.check();
    for (const { after } of changes) if (after !== null) this.#grounds.keepable(after, { short: true });
    const kind: ProposalKind = operations.some((o) => o.op === 'remove') ? 'memory_remove' : operations.some((o) => o.op === 'replace') ? 'memory_change' : 'memory_add';
    const findings = plan.warnings.map((message) => ({ severity: 'high' as const, category: 'injection', file: FILES[target], line: null, excerpt: '', message }));
    const { proposals, reviewId, trajectoryId, settings, changed } = this.#review;
    const { id } = proposals.add(reviewId, { kind, target, title: titleOf(changes), ...grounds, changes, findings, operation: { what: 'memory', target, operations } });
    try {
      if (!this.#standsAlone(target, operations) || waits(kind, settings, { persons: false, findings })) {
        earlier.push(...operations);
        return { success: true, applied: false, target, message: WAITING };
      }
      const { changeId } = await this.#memory.apply(target, operations, { author: 'review', trajectoryId: trajectoryId(), reviewId, reason: grounds.reason });
      proposals.settle(id, 'applied', { done: { changeId } });
      return { success: true, applied: true, target, message: APPLIED };
    } catch (error) {
      proposals.remove(id);
      throw error;
    } finally {
      changed();
    }
  }
}

/** Entries that the operations take, change and add, in words of the files. */
function changesOf(target: MemoryTarget, operations: readonly MemoryOperation[], before: string, after: string): ChangedFile[] {
  const was = splitEntries(before);
  const is = splitEntries(after);
  const gone = was.filter((entry) => !is.includes(entry));
  const come = is.filter((entry) => !was.includes(entry));
  const path = FILES[target];
  const changes: ChangedFile[] = [];
  for (const operation of operations) {
    if (operation.op === 'add') continue;
    const at = gone.findIndex((entry) => entry.includes(operation.old.trim()));
    if (at === -1) continue;
    const [old] = gone.splice(at, 1);
    const next = operation.op === 'replace' ? come.splice(Math.max(0, come.indexOf(operation.text.trim())), 1)[0] : undefined;
    changes.push({ path, before: old ?? null, after: next ?? null, binary: false });
  }
  changes.push(...gone.map((entry) => ({ path, before: entry, after: null, binary: false })), ...come.map((entry) => ({ path, before: null, after: entry, binary: false })));
  return changes;
}

function titleOf(changes: readonly ChangedFile[]): string {
  return preview(changes.find((c) => c.after !== null)?.after ?? changes[0]?.before ?? '');
}
