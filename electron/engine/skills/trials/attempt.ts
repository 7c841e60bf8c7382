import { sql } from 'kysely';
import type { TrialArm, TrialPrompt, TrialSpec } from '#shared/contract/trials.ts';
import { type Message, outcomeOf } from '#shared/trajectory.ts';
import { buildSystemPrompt } from '../../agent/prompt/system-prompt.ts';
import type { AgentSpec, Redaction } from '../../agent/types.ts';
import { runChild, type ChildOutcome } from '../../delegation/run-child.ts';
import type { SpendLedger } from '../../model/spend.ts';
import type { ChatModel } from '../../model/types.ts';
import { rulesFor } from '../../rewards/hook.ts';
import { scoreRollout } from '../../rewards/score.ts';
import { addScores } from '../../rewards/store.ts';
import { openSandbox } from '../../sandbox/open.ts';
import { removeFolder } from '../../sandbox/remove.ts';
import type { Sandbox } from '../../sandbox/types.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import type { ToolServices } from '../../tools/types.ts';
import type { LiveHub } from '../../trajectories/live.ts';
import type { SkillLibrary } from '../library.ts';
import { armOf, ranByName, type Tried } from './arms.ts';
import { rowOf, toolsFor } from './row.ts';

export interface AttemptDeps {
  db: Database;
  hub: LiveHub;
  spend: Pick<SpendLedger, 'record'>;
  library: SkillLibrary;
  now: () => number;
  /** What tools have of the engine, as in batch runs. */
  toolServices: () => ToolServices;
  redact: Redaction;
  /** Folders that no tool may look into, absolute. */
  hidden: readonly string[];
}

export interface Attempt {
  spec: TrialSpec & { seed: number };
  name: string;
  prompt: TrialPrompt;
  arm: TrialArm;
  tried: Tried;
  model: ChatModel;
  contextLength: number | null;
  compression?: AgentSpec['compression'];
  /** Folder of its workspace, absolute; it is gone afterwards. */
  root: string;
  overBudget: () => string | null;
  /** In one transaction with the trajectory's beginning. */
  begun: (trajectoryId: string) => void;
  progress: () => void;
}

/** One prompt with its further turns in one arm, in a sandbox of its own, with a trajectory of its own; then its score. Throws what the store or the sandbox throws. */
export async function attempt(one: Attempt, deps: AttemptDeps, signal: AbortSignal): Promise<ChildOutcome> {
  const { spec, prompt } = one;
  let trajectoryId: string | null = null;
  const arm = armOf(deps.library, one.arm, one.tried, () => trajectoryId);
  const services: ToolServices = { ...deps.toolServices(), skills: arm.tools };
  const row = rowOf(prompt);
  const tools = toolsFor(spec, row, services);
  // a killed engine may have left files of an earlier attempt there
  await removeFolder(one.root);
  const sandbox = await openSandbox({ kind: spec.sandbox, root: one.root, network: true, hidden: deps.hidden, now: deps.now, ...(row.cwd === null ? {} : { cwd: row.cwd }) });
  try {
    const now = deps.now();
    const byName = spec.runByName && one.arm === 'with';
    const [first = '', ...further] = row.turns;
    const outcome = await runChild(
      {
        kind: 'trial',
        purpose: 'trial',
        prompt: prompt.prompt,
        toolsets: [...new Set(tools.specs.flatMap(({ name }) => tools.get(name)?.toolset ?? []))],
        spec: specOf(one, buildSystemPrompt({ tools: tools.specs, system: row.system, skills: arm.index(tools.specs) })),
        input: [userMessage(first, now), ...(byName ? [ranByName(one.name, one.tried.copy, now)] : [])],
        agent: { model: one.model, tools, sandbox, redact: deps.redact, toolServices: services, toolState: new Map(), overBudget: one.overBudget },
        goOn: () => {
          const next = further.shift();
          return next === undefined ? null : userMessage(next, deps.now());
        },
        timeoutMs: spec.timeoutSeconds * 1_000,
        begun: (id) => {
          trajectoryId = id;
          one.begun(id);
          if (byName) deps.library.records.used(one.tried.id, id, 'run');
        },
        progress: one.progress,
      },
      deps,
      signal,
    );
    await score(one, outcome, sandbox, deps, signal);
    return outcome;
  } finally {
    await sandbox.dispose({ remove: true });
  }
}

function userMessage(content: string, createdAt: number): Message {
  return { role: 'user', content, createdAt };
}

function specOf({ spec, contextLength, compression }: Attempt, systemPrompt: string): AgentSpec {
  return {
    systemPrompt,
    maxTurns: spec.maxTurns,
    contextLength,
    seed: spec.seed,
    ...(compression ? { compression } : {}),
    ...(spec.temperature === null ? {} : { temperature: spec.temperature }),
    ...(spec.reasoningEffort === null ? {} : { reasoningEffort: spec.reasoningEffort }),
  };
}

/** By the rules of the row or the trial, while the sandbox stands. An attempt that failed or was stopped has none. */
async function score({ spec, prompt }: Attempt, { trajectoryId, result, messages }: ChildOutcome, sandbox: Sandbox, { db, now }: AttemptDeps, signal: AbortSignal): Promise<void> {
  const outcome = outcomeOf({ state: 'ended', exitReason: result.exitReason, discardReason: null });
  const rules = rulesFor(prompt.row, spec.scoring);
  if (outcome === 'failed' || isToRepeat(result) || signal.aborted || ('rules' in rules && rules.rules.length === 0)) return;
  const subject = {
    prompt: prompt.prompt,
    row: prompt.row,
    finalAnswer: result.finalAnswer,
    turns: messages.filter((m) => m.role === 'assistant').length,
    toolErrors: messages.filter((m) => m.role === 'tool' && m.isError).length,
    rating: null,
  };
  const scores = 'error' in rules ? [rules.error] : await scoreRollout(rules.rules, subject, { sandbox, signal });
  db.transaction(() => {
    const row = db.get(sqlFor.selectFrom('trajectories').select(sql<number>`n`.as('n')).where('id', '=', trajectoryId));
    if (row) addScores(db, row.n, scores, now());
  });
}

/** Ended by the person, the budget or a refused key: it says nothing of the skill, and is made again when the trial goes on. */
export function isToRepeat({ exitReason, modelError }: Pick<ChildOutcome['result'], 'exitReason' | 'modelError'>): boolean {
  return exitReason === 'interrupted' || exitReason === 'budget_exceeded' || modelError?.stopsRun === true;
}
