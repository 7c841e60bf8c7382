import { ToolError } from '../../tools/define.ts';
import type { SkillChange, SkillTools } from '../../tools/types.ts';
import type { ReviewedSkills } from '../deps.ts';
import type { NewProposal } from '../proposal-store.ts';
import { APPLIED, asToolError, type Grounds, type ProposingReview, WAITING, waits } from './ground.ts';
import { onDraft, present, type SkillDraft } from './skill-draft.ts';

type Plan = Awaited<ReturnType<ReviewedSkills['plan']>>;

/** skill_manage of a review: every call is checked as the real one would be, and becomes a proposal. */
export class SkillProposals {
  readonly #skills: ReviewedSkills;
  readonly #review: ProposingReview;
  readonly #grounds: Grounds;
  readonly #drafts: SkillDraft[] = [];

  constructor(skills: ReviewedSkills, review: ProposingReview, grounds: Grounds) {
    this.#skills = skills;
    this.#review = review;
    this.#grounds = grounds;
  }

  /** The skills as the review agent sees them: with what it has proposed so far. */
  tools(workspace: string | null): SkillTools {
    const real = this.#skills.toolsFor({ author: 'review', trajectoryId: this.#review.trajectoryId, workspace, reviewId: this.#review.reviewId });
    return {
      list: (input) => real.list(input),
      view: async ({ name, filePath }) => {
        const draft = this.#waiting(name);
        const file = draft?.files.get(filePath ?? 'SKILL.md');
        if (!draft || (!file && draft.kind !== 'skill_new')) return real.view({ name, filePath });
        if (!file?.after) throw new ToolError(`"${filePath ?? 'SKILL.md'}" is not in the skill "${name}" as you proposed it. It has: ${present(draft).join(', ')}.`);
        return { success: true, name: draft.name, file: file.path, content: file.after, note: 'As you proposed it; the person has not decided yet.' };
      },
      manage: (input) => asToolError(() => this.#manage(input)),
    };
  }

  async #manage(input: SkillChange): Promise<Record<string, unknown>> {
    const waiting = this.#waiting(input.name);
    if (waiting?.kind === 'skill_new' && input.action === 'delete') return this.#withdraw(waiting);
    const planned = waiting ? await onDraft(waiting, input, this.#skills) : await this.#skills.plan(input);
    const grounds = this.#grounds.check();
    this.#checkTexts(planned);
    if (waiting) return this.#goOn(waiting, input, planned, grounds);

    const applied = this.#drafts.find((d) => d.skill === planned.skill && d.versions !== null && d.kind === 'skill_new');
    if (applied && input.action === 'delete') throw new ToolError(`You made the skill "${input.name}" in this review. Mend it, or leave it as it is.`);
    const kind = applied ? 'skill_new' : input.action === 'create' ? 'skill_new' : input.action === 'delete' ? 'skill_remove' : 'skill_change';
    const persons = kind !== 'skill_new' && (await this.#isPersons(planned.skill));
    const earlier = applied ?? this.#drafts.find((d) => d.skill === planned.skill && d.kind === kind && d.versions !== null);
    const wait = waits(kind, this.#review.settings, { persons, findings: planned.findings });
    if (wait && earlier) throw new ToolError(`The scan warns of this change: ${planned.findings.map((f) => f.message).join(' ')} Leave it out.`, { findings: planned.findings });
    const draft = earlier ?? this.#begin(input, planned, kind);
    const before = { ...draft, files: new Map(draft.files), evidence: [...draft.evidence] };
    merge(draft, planned, grounds);
    if (wait) {
      this.#drafts.push(draft);
      return this.#takeDown(draft);
    }
    try {
      return await this.#apply(draft, input);
    } catch (error) {
      Object.assign(draft, before);
      throw error;
    }
  }

  #begin(input: SkillChange, planned: Plan, kind: SkillDraft['kind']): SkillDraft {
    const folders = planned.skill.split('/');
    return { name: folders.at(-1) ?? input.name, category: folders.slice(0, -1).join('/') || null, skill: planned.skill, kind, files: new Map(), findings: [], evidence: [], reason: '', proposalId: null, versions: null };
  }

  #goOn(draft: SkillDraft, input: SkillChange, planned: Plan, grounds: ReturnType<Grounds['check']>): Record<string, unknown> {
    if (input.action === 'delete') {
      draft.kind = 'skill_remove';
      draft.files.clear();
    }
    merge(draft, planned, grounds);
    return this.#takeDown(draft);
  }

  #takeDown(draft: SkillDraft): Record<string, unknown> {
    this.#write(draft);
    return { success: true, applied: false, skill: draft.skill, message: WAITING };
  }

  /** The proposal is stored before the skill is touched: a killed engine finds out which of the two had happened. */
  async #apply(draft: SkillDraft, input: SkillChange): Promise<Record<string, unknown>> {
    const { reviewId, trajectoryId, proposals, changed } = this.#review;
    const before = draft.proposalId === null ? null : proposals.get(draft.proposalId);
    this.#write(draft);
    const id = draft.proposalId!;
    try {
      const { versionId } = await this.#skills.change(input, { author: 'review', trajectoryId: trajectoryId(), reviewId, reason: draft.reason });
      draft.versions = [...(draft.versions ?? []), versionId];
      if (!this.#drafts.includes(draft)) this.#drafts.push(draft);
      proposals.settle(id, 'applied', { done: { versions: draft.versions } });
    } catch (error) {
      if (draft.versions === null && needsConsent(error)) {
        this.#drafts.push(draft);
        return this.#takeDown(draft);
      }
      if (before) proposals.revise(id, before);
      else proposals.remove(id);
      throw error;
    } finally {
      changed();
    }
    return { success: true, applied: true, skill: draft.skill, message: APPLIED };
  }

  #withdraw(draft: SkillDraft): Record<string, unknown> {
    if (draft.proposalId !== null) this.#review.proposals.remove(draft.proposalId);
    this.#drafts.splice(this.#drafts.indexOf(draft), 1);
    this.#review.changed();
    return { success: true, applied: false, skill: draft.skill, message: 'Taken back: it is no longer proposed.' };
  }

  #write(draft: SkillDraft): void {
    const { proposals, reviewId, changed } = this.#review;
    const proposal: NewProposal = {
      kind: draft.kind,
      target: draft.skill,
      title: draft.name,
      reason: draft.reason,
      evidence: draft.evidence,
      changes: [...draft.files.values()],
      findings: draft.findings,
      operation: { what: 'skill', action: draft.kind === 'skill_new' ? 'new' : draft.kind === 'skill_remove' ? 'remove' : 'change', name: draft.name, category: draft.category },
    };
    if (draft.proposalId === null) draft.proposalId = proposals.add(reviewId, proposal).id;
    else proposals.revise(draft.proposalId, proposal);
    changed();
  }

  #waiting(name: string): SkillDraft | undefined {
    return this.#drafts.find((d) => d.versions === null && (d.name === name || d.skill === name));
  }

  /** Anything that no agent made, and what the person has pinned. */
  async #isPersons(skill: string): Promise<boolean> {
    const found = (await this.#skills.list()).find((s) => s.id === `own/${skill}`);
    return !found || found.pinned || (found.author !== 'agent' && found.author !== 'review');
  }

  #checkTexts({ changes }: Plan): void {
    for (const { path, before, after, binary } of changes) {
      if (after === null || binary) continue;
      this.#grounds.keepable(after, { short: false });
      const description = /^description:\s*(.+)$/m.exec(after)?.[1];
      if (path === 'SKILL.md' && description !== undefined && !before?.includes(description)) this.#grounds.keepable(description, { short: true });
    }
  }
}

/** The library counts it as the person's own. */
function needsConsent(error: unknown): boolean {
  return error instanceof Error && (error as { details?: { needs_consent?: unknown } }).details?.needs_consent === true;
}

function merge(draft: SkillDraft, planned: Plan, { reason, evidence }: ReturnType<Grounds['check']>): void {
  for (const change of planned.changes) {
    const earlier = draft.files.get(change.path);
    // while it waits the plan is against the disk already; what was applied is there
    draft.files.set(change.path, earlier && draft.versions !== null ? { ...change, before: earlier.before } : change);
  }
  draft.findings = [...draft.findings.filter((f) => !planned.changes.some((c) => c.path === f.file)), ...planned.findings];
  const said = new Set(draft.evidence.map((e) => `${e.trajectoryId} ${e.seq} ${e.quote}`));
  draft.evidence.push(...evidence.filter((e) => !said.has(`${e.trajectoryId} ${e.seq} ${e.quote}`)));
  draft.reason = draft.reason === '' || draft.reason.includes(reason) ? draft.reason || reason : `${draft.reason} ${reason}`.slice(0, 300).toWellFormed();
}
