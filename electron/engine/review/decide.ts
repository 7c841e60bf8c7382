import type { ChangedFile } from '#shared/contract/skills.ts';
import type { SkillChange } from '../tools/types.ts';
import type { ReviewDeps } from './deps.ts';
import { ReviewError } from './errors.ts';
import type { Done, Operation, ProposalRecord, ProposalStore } from './proposal-store.ts';
import type { ReviewStore } from './store.ts';

/** What a person changed in a proposal before accepting it. */
export type Edited = readonly { path: string; after: string | null }[];

const SKILL_FILE = 'SKILL.md';
const CHANGED_MEANWHILE = 'has changed since this was proposed. Look at it as it is now: reject the proposal, or make the change by hand.';

/** What a person decides about proposals. Each decision can be made again without doing anything twice. */
export class Decisions {
  readonly #deps: Pick<ReviewDeps, 'skills' | 'memory'>;
  readonly #reviews: Pick<ReviewStore, 'get'>;
  readonly #proposals: ProposalStore;

  constructor(deps: Pick<ReviewDeps, 'skills' | 'memory'>, store: ReviewStore) {
    this.#deps = deps;
    this.#reviews = store;
    this.#proposals = store.proposals;
  }

  /**
   * Does what was proposed, or what the person made of it. Throws ReviewError: conflict when the target is no longer what it was proposed
   * for (the proposal is then `failed`), invalid for what cannot be as it was edited.
   */
  async accept(proposal: ProposalRecord, edited: Edited = []): Promise<void> {
    if (proposal.state === 'accepted' || proposal.state === 'applied') return;
    try {
      const { done, changes } = proposal.operation.what === 'skill' ? await this.#acceptSkill(proposal, proposal.operation, edited) : await this.#acceptMemory(proposal, proposal.operation, edited);
      this.#proposals.settle(proposal.id, 'accepted', { done, changes });
    } catch (error) {
      const known = asReviewError(error);
      // a mistake in an edit is the person's to mend; what has changed meanwhile is the end of the proposal as it is
      if (known.code === 'conflict' || known.code === 'not_found') this.#proposals.settle(proposal.id, 'failed', { error: known.message });
      throw known;
    }
  }

  reject(proposal: ProposalRecord): void {
    if (proposal.state === 'rejected') return;
    if (proposal.state === 'accepted' || proposal.state === 'applied') throw new ReviewError('invalid', 'This is done already. Undo it instead.');
    if (proposal.state !== 'undone') this.#proposals.settle(proposal.id, 'rejected');
  }

  /** Takes back what was done. Throws ReviewError conflict when later changes stand in the way; nothing is changed then. */
  async undo(proposal: ProposalRecord): Promise<void> {
    if (proposal.state === 'undone') return;
    if (proposal.state !== 'accepted' && proposal.state !== 'applied') throw new ReviewError('invalid', 'This was not done, so there is nothing to undo.');
    const by = { ...this.#by(proposal), author: 'person' as const, reason: 'Undone in Reviews.' };
    try {
      const { versions = [], changeId = null } = proposal.done ?? {};
      for (let left = [...versions]; left.length > 0; left = left.slice(0, -1)) {
        await this.#deps.skills.revert(left.at(-1)!, { ...by, consent: true });
        // what is taken back already must not be again when the next one fails
        this.#proposals.settle(proposal.id, proposal.state, { done: { versions: left.slice(0, -1) } });
      }
      if (changeId !== null) await this.#deps.memory.undo(changeId);
      this.#proposals.settle(proposal.id, 'undone');
    } catch (error) {
      throw asReviewError(error);
    }
  }

  async #acceptSkill(proposal: ProposalRecord, operation: Extract<Operation, { what: 'skill' }>, edited: Edited): Promise<{ done: Done; changes: ChangedFile[] }> {
    const { skills } = this.#deps;
    const by = { ...this.#by(proposal), consent: true };
    const files = withEdits(proposal.changes, edited);
    const steps = stepsOf(operation, files);
    const first = operation.action === 'new' ? steps.slice(0, 1) : steps;
    for (const step of first) {
      const plan = await skills.plan(step);
      for (const now of plan.changes) {
        const then = proposal.changes.find((c) => c.path === now.path);
        if (then && then.before !== now.before && now.before !== now.after) throw new ReviewError('conflict', `"${proposal.title}" (${now.path}) ${CHANGED_MEANWHILE}`);
      }
    }
    const versions: number[] = [];
    try {
      for (const step of steps) versions.push((await skills.change(step, by)).versionId);
    } catch (error) {
      // all of a proposal or nothing of it
      for (const version of versions.reverse()) await skills.revert(version, { ...by, reason: 'Another part of the same change failed.' });
      throw error;
    }
    return { done: { versions }, changes: files };
  }

  async #acceptMemory(proposal: ProposalRecord, { target, operations }: Extract<Operation, { what: 'memory' }>, edited: Edited): Promise<{ done: Done; changes: ChangedFile[] }> {
    const { memory } = this.#deps;
    const [edit] = edited;
    if (edit && (edited.length > 1 || operations.length > 1)) throw new ReviewError('invalid', 'Only a proposal for one entry can be edited. Accept or reject this one as it is.', { field: 'edited' });
    if (edit && (operations[0]?.op === 'remove' || !edit.after?.trim())) throw new ReviewError('invalid', 'An edited entry needs a text. Reject the proposal instead.', { field: 'edited' });
    // whatever is wrong about the edit is said before anything is done
    const changes = withEdits(proposal.changes, edited);
    const wanted = operations.map((operation) => (edit?.after && operation.op !== 'remove' ? { ...operation, text: edit.after } : operation));
    const there = new Set(memory.read(target).entries.map((entry) => entry.text));
    if (proposal.changes.some(({ before }) => before !== null && !there.has(before))) throw new ReviewError('conflict', `The entry ${CHANGED_MEANWHILE}`);
    const { changeId } = await memory.apply(target, wanted, this.#by(proposal));
    return { done: { changeId }, changes };
  }

  #by(proposal: ProposalRecord): { author: 'review'; trajectoryId: string | null; reviewId: string; reason: string } {
    return { author: 'review', trajectoryId: this.#reviews.get(proposal.reviewId)?.trajectoryId ?? null, reviewId: proposal.reviewId, reason: proposal.reason };
  }
}

function withEdits(changes: readonly ChangedFile[], edited: Edited): ChangedFile[] {
  const unknown = edited.find(({ path }) => !changes.some((c) => c.path === path));
  if (unknown) throw new ReviewError('invalid', `The proposal does not touch "${unknown.path}". Edit only what it proposes.`, { field: 'edited' });
  return changes.map((change) => {
    const edit = edited.find(({ path }) => path === change.path);
    return edit ? { ...change, after: edit.after === null ? null : edit.after.toWellFormed() } : change;
  });
}

/** The calls of skill_manage that make these files out of what is there. */
function stepsOf({ action, name, category }: Extract<Operation, { what: 'skill' }>, files: readonly ChangedFile[]): SkillChange[] {
  if (action === 'remove') return [{ action: 'delete', name }];
  const main = files.find((f) => f.path === SKILL_FILE);
  if (action === 'new' && !main?.after) throw new ReviewError('invalid', 'A new skill needs its SKILL.md. Reject the proposal instead.', { field: 'edited' });
  if (main && main.after === null) throw new ReviewError('invalid', 'SKILL.md cannot be taken out of a skill. Reject the proposal instead.', { field: 'edited' });
  const steps: SkillChange[] = main?.after ? [action === 'new' ? { action: 'create', name, ...(category === null ? {} : { category }), content: main.after } : { action: 'edit', name, content: main.after }] : [];
  for (const { path, before, after } of files) {
    if (path === SKILL_FILE || (after === null && before === null)) continue;
    steps.push(after === null ? { action: 'remove_file', name, filePath: path } : { action: 'write_file', name, filePath: path, fileContent: after });
  }
  return steps;
}

/** Failures of skills and memory that are to be expected, as reviews say them; anything else is thrown as it is. */
function asReviewError(error: unknown): ReviewError {
  if (error instanceof ReviewError) return error;
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  if (code === 'not_found' || code === 'conflict' || code === 'invalid' || code === 'unavailable') return new ReviewError(code, (error as Error).message, { cause: error });
  throw error;
}
