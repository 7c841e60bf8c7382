import type { ExportRequest } from '#shared/contract/exports.ts';
import type { TrajectoryDetail } from '#shared/trajectory.ts';
import { type Database, sqlFor } from '../../../store/database.ts';
import { getMessages, outsideRuns, runsMatching, walkRollouts } from '../../query.ts';
import { badOption } from '../codes.ts';
import { type ExportFormat, type ExportStep, refused, type Remark } from '../format.ts';
import { findSecrets } from '../secrets.ts';
import { IGNORED } from '../tokens/masks.ts';
import { type LoadedTokenizer, loadTokenizer, TokenizerError } from '../tokens/tokenizer.ts';
import { groupProblem } from './check.ts';
import { generationParams, groupLine, type Member } from './line.ts';
import { type Rollout, type Tokenization, toRollout } from './rollout.ts';
import { SCRIPT_FILE, tokenizeScript } from './script.ts';

const PAGE = 100;
/** A preview makes the tokens of so many rollouts and takes the others to be as fit: enough to see a wrong folder, and quick. */
const PREVIEW_ROLLOUTS = 64;

type Request = Omit<ExportRequest, 'file'>;

/** How an export goes on: `check` throws when it was cancelled. */
export interface Walk {
  check(): void;
  preview: boolean;
}

/**
 * Groups of Atropos (`ScoredDataGroup` of atroposlib): one line for all rollouts of one row of a run's dataset, runs in the order they were
 * made, rows and rollouts in theirs. With a tokenizer the lines are what a trainer takes; without one they have no `tokens` and `masks`, and
 * a script to make those lies beside the file.
 * @throws Error of `badOption` when the tokenizer or its masks cannot be used
 */
export function atroposFormat(db: Database, request: Request, walk: Walk): ExportFormat {
  const { groups: options } = request;
  if (options.maxTokens !== null && options.tokenizer === null) throw badOption('maxTokens', 'Tokens are counted with a tokenizer. Give its folder, or no limit.');
  const tokenizer = options.tokenizer === null ? null : open(options.tokenizer);
  const first = tokenizer?.template(true);
  if (options.maskAlgorithm === 'generation' && first && !first.template.marksGeneration) {
    throw badOption('maskAlgorithm', `The chat template in ${first.source} has no generation markers. Choose prefixes, or a template for training that has them.`);
  }
  const writer = new GroupWriter(db, request, walk, tokenizer && { tokenizer, algorithm: options.maskAlgorithm, maxTokens: options.maxTokens });
  const byMarkers = options.maskAlgorithm !== 'prefix' && first?.template.marksGeneration === true;
  return {
    steps: () => steps(db, request, writer),
    atEnd: () => writer.remarks(),
    ...(first ? { tokenized: { algorithm: byMarkers ? 'generation' : 'prefix', template: first.source } } : { companions: [{ name: SCRIPT_FILE, text: tokenizeScript() }] }),
  };
}

function open(folder: string): LoadedTokenizer {
  try {
    return loadTokenizer(folder);
  } catch (error) {
    if (!(error instanceof TokenizerError)) throw error;
    throw badOption('tokenizer', error.message);
  }
}

function* steps(db: Database, { filter }: Request, writer: GroupWriter): Generator<ExportStep> {
  const outside = outsideRuns(db, filter);
  if (outside.count > 0) yield { seen: outside.count, written: 0, line: null, leftOut: [{ reason: 'not a rollout of a run', id: outside.exampleId, count: outside.count }], warnings: [] };
  for (const run of runsMatching(db, filter)) {
    const params = generationParams(run.spec);
    let group: TrajectoryDetail[] = [];
    for (let after: [number, number] = [-1, -1]; ; ) {
      const page = walkRollouts(db, filter, run.id, after, PAGE);
      for (const detail of page) {
        if (group.length > 0 && group[0]!.promptIndex !== detail.promptIndex) {
          yield writer.write(group, params);
          group = [];
        }
        group.push(detail);
      }
      const last = page.at(-1);
      if (!last) break;
      after = [last.promptIndex!, last.rollout];
    }
    if (group.length > 0) yield writer.write(group, params);
  }
}

class GroupWriter {
  readonly #db: Database;
  readonly #request: Request;
  readonly #walk: Walk;
  readonly #tokenization: Tokenization | null;
  #tokenized = 0;
  #sizes: Remark | null = null;
  #firstSize = 0;

  constructor(db: Database, request: Request, walk: Walk, tokenization: Tokenization | null) {
    this.#db = db;
    this.#request = request;
    this.#walk = walk;
    this.#tokenization = tokenization;
  }

  /** The line of a group, or why there is none; the details are in the order of their rollouts. */
  write(group: readonly TrajectoryDetail[], params: Record<string, number> | null): ExportStep {
    const leftOut: Remark[] = [];
    const members: Member[] = [];
    const { groupSize, unfit } = this.#request.groups;
    const drop = (reason: string, example = group[0]!.id): ExportStep => ({
      seen: group.length,
      written: 0,
      line: null,
      leftOut: [...leftOut, ...members.map(({ id }) => ({ reason: `of a group that was left out: ${reason}`, id }))],
      warnings: [],
      group: { leftOut: { reason, id: example }, size: 0 },
    });
    for (const detail of group) {
      this.#walk.check();
      const full = groupSize !== null && members.length === groupSize;
      const made = full ? { leftOut: 'beyond the group size' } : this.#member(detail);
      if ('leftOut' in made) leftOut.push({ reason: made.leftOut, id: detail.id });
      else members.push(made);
    }
    const bad = leftOut.find(({ reason }) => reason !== 'beyond the group size');
    if (members.length === 0) return drop('no rollout is fit', bad?.id);
    if (bad && unfit === 'group') return drop('a rollout is unfit', bad.id);
    const reason = this.#refusal(members);
    if (reason) return drop(reason);
    return this.#step(group, members, leftOut, params);
  }

  /** Remarks on all groups together. */
  remarks(): Remark[] {
    return this.#sizes ? [this.#sizes] : [];
  }

  #refusal(members: readonly Member[]): string | null {
    const { groupSize, minSpread, zeroSpread } = this.#request.groups;
    if (groupSize !== null && members.length < groupSize) return `fewer than ${groupSize} rollouts`;
    const scores = members.map((m) => m.score);
    const spread = Math.max(...scores) - Math.min(...scores);
    if (spread === 0 && (zeroSpread === 'drop' || minSpread > 0)) return 'all scores are the same';
    if (spread < minSpread) return `scores differ by less than ${minSpread}`;
    const tokens = members.every((m) => m.tokens) ? members.map((m) => m.tokens!) : null;
    const masks = members.every((m) => m.masks) ? members.map((m) => m.masks!) : null;
    return groupProblem({ scores, messages: members.map((m) => m.messages), tokens, masks });
  }

  #step(group: readonly TrajectoryDetail[], members: readonly Member[], leftOut: Remark[], params: Record<string, number> | null): ExportStep {
    const { runId, promptIndex } = group[0]!;
    const warnings = members.flatMap((m) => [...m.warnings, ...findSecrets(JSON.stringify(m.messages)).map((kind) => `may contain a secret (${kind})`)].map((reason) => ({ reason, id: m.id })));
    if (this.#firstSize === 0) this.#firstSize = members.length;
    else if (members.length !== this.#firstSize) this.#sizes ??= { reason: 'groups are of different sizes', id: members[0]!.id };
    const withTokens = members.filter((m) => m.tokens);
    return {
      seen: group.length,
      written: members.length,
      line: this.#walk.preview ? '' : groupLine(`${runId}:${promptIndex}`, members, params),
      leftOut,
      warnings,
      group: { leftOut: null, size: members.length },
      ...(this.#tokenization
        ? {
            tokens: {
              rollouts: withTokens.length,
              total: withTokens.reduce((sum, m) => sum + m.tokens!.length, 0),
              trained: withTokens.reduce((sum, m) => sum + m.masks!.filter((value) => value !== IGNORED).length, 0),
            },
          }
        : {}),
    };
  }

  #member(detail: TrajectoryDetail): Member | { leftOut: string } {
    const early = refused(detail, this.#request);
    if (early) return { leftOut: early };
    const score = this.#score(detail);
    if (score === null) return { leftOut: this.#request.groups.scoreName === null ? 'no score' : `no score named ${this.#request.groups.scoreName}` };
    if (!Number.isFinite(score)) return { leftOut: 'a score that is not a finite number' };
    const rollout = this.#rollout(detail);
    return 'leftOut' in rollout ? rollout : { ...rollout, id: detail.id, score };
  }

  #score({ n, reward }: TrajectoryDetail): number | null {
    const { scoreName } = this.#request.groups;
    if (scoreName === null) return reward;
    return this.#db.get(sqlFor.selectFrom('scores').select('value').where('trajectory_n', '=', n).where('name', '=', scoreName))?.value ?? null;
  }

  #rollout(detail: TrajectoryDetail): Rollout | { leftOut: string } {
    const tokenize = this.#tokenization !== null && !(this.#walk.preview && this.#tokenized >= PREVIEW_ROLLOUTS);
    if (tokenize) this.#tokenized++;
    const messages = getMessages(this.#db, detail.n, -1, Number.MAX_SAFE_INTEGER, true);
    try {
      return toRollout(messages, detail.tools, this.#request.context, tokenize ? this.#tokenization : null);
    } catch (error) {
      if (!(error instanceof TokenizerError)) throw error;
      throw badOption('tokenizer', error.message);
    }
  }
}
