import type { Todo } from '#shared/contract/chats.ts';
import type { Message } from '#shared/trajectory.ts';
import type { AgentDeps, AgentSpec } from '../agent/types.ts';
import type { ChatModel } from '../model/types.ts';
import { openSandbox } from '../sandbox/open.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { ToolError } from '../tools/define.ts';
import { createRegistry, registryOf } from '../tools/registry.ts';
import type { ApproveHook, DelegationTools, ToolRegistry, ToolServices } from '../tools/types.ts';
import type { DelegationDeps } from './deps.ts';
import type { Parent, PlannedChild } from './plan.ts';
import { childSystemPrompt, correction } from './prompt.ts';
import { type ChildReport, reportOf, reportWithout } from './report.ts';
import { type Progress, runChild } from './run-child.ts';
import type { DelegationStore } from './store.ts';
import { BLOCKED_TOOLS } from './toolsets.ts';

/** How long the end of a child waits for what it left running to be ended. */
const CLOSE_MS = 3_000;

/** One child of a call, from its place to its end. */
export interface ChildJob {
  id: string;
  index: number;
  plan: PlannedChild;
  parent: Parent;
  /** What the parent's tools have. */
  services: ToolServices;
  /** For children of its own; given where it may have some. */
  delegation?: (self: { trajectoryId: () => string | null; toolsets: readonly string[]; model: ChatModel }) => DelegationTools;
  signal: AbortSignal;
  /** Waits for its place among the children at work. */
  begin: () => Promise<void>;
  /** What people said to it meanwhile; taken before each call of the model. */
  steering: () => Message[];
  progress: (progress: Progress) => void;
  changed: () => void;
  /** What it left running is being ended; never rejects. */
  closing: (closed: Promise<void>) => void;
}

/** Runs one child and stores its end, exactly one. Never throws, and ends within a second of the signal. */
export async function workChild(job: ChildJob, deps: DelegationDeps, store: DelegationStore): Promise<ChildReport> {
  const { plan, signal } = job;
  const asked = performance.now();
  let began: number | null = null;
  const { provider, model } = plan.model.endpoint;
  const facts = () => ({ index: job.index, childId: job.id, model: `${provider}/${model}`, durationMs: performance.now() - (began ?? asked), schema: plan.task.outputSchema, note: plan.note });
  let report: ChildReport | null = null;
  let opening: Promise<Sandbox> | null = null;
  try {
    await job.begin();
    began = performance.now();
    opening = open(job, deps);
    const sandbox = await unlessAborted(opening, signal);
    const child = await unlessAborted(prepare(job, sandbox, deps), signal);
    const { stall_seconds } = deps.config.read().delegation;
    await runChild(
      {
        kind: 'delegation',
        purpose: 'delegation',
        prompt: plan.task.goal,
        toolsets: plan.toolsets,
        ...child,
        timeoutMs: plan.task.timeoutSeconds === null ? null : plan.task.timeoutSeconds * 1000,
        stallMs: stall_seconds * 1000,
        goOn: corrections(plan, deps.now),
        progress: job.progress,
        begun: (trajectoryId) => {
          child.is(trajectoryId);
          store.begun(job.id, trajectoryId, deps.now());
          job.changed();
        },
        ended: (outcome) => {
          const orphans = sandbox.processes.list().filter((one) => one.running).map((one) => one.command.slice(0, 500));
          report = { ...reportOf(outcome, facts()), ...(orphans.length > 0 ? { orphaned_processes: orphans } : {}) };
          store.endChild(job.id, report, deps.now());
        },
      },
      deps,
      signal,
    );
  } catch (error) {
    const stopped = signal.aborted;
    if (!stopped && !(error instanceof Error && 'code' in error)) deps.log.error(`The sub-agent ${job.id} failed unexpectedly`, error);
    const sentence = stopped ? (began === null ? 'It was stopped before it began.' : 'It was stopped.') : error instanceof Error ? error.message : String(error);
    report ??= reportWithout(stopped ? 'interrupted' : 'failed', sentence, facts());
    try {
      store.endChild(job.id, report, deps.now());
    } catch (failed) {
      deps.log.error(`The end of the sub-agent ${job.id} could not be stored`, failed);
    }
  }
  job.changed();
  const closed = opening === null ? Promise.resolve() : close(opening, job.id, deps);
  job.closing(closed);
  // who stopped it does not wait for that
  if (!signal.aborted) await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
  return report!;
}

function open({ parent }: ChildJob, { config, home, now }: DelegationDeps): Promise<Sandbox> {
  const { sandbox, workspace } = parent.settings;
  return openSandbox({ kind: sandbox, root: workspace, network: config.read().terminal.network, hidden: [home.root], now });
}

/** Ends what it left running; the folder is its parent's. */
async function close(opening: Promise<Sandbox>, id: string, { log }: DelegationDeps): Promise<void> {
  const sandbox = await opening.catch(() => null);
  await sandbox?.dispose({ remove: false }).catch((error: unknown) => log.error(`The sandbox of the sub-agent ${id} could not be closed`, error));
}

async function prepare(job: ChildJob, sandbox: Sandbox, deps: DelegationDeps): Promise<{ spec: AgentSpec; input: Message[]; agent: Omit<AgentDeps, 'now'>; is: (trajectoryId: string) => void }> {
  const { plan, parent, steering } = job;
  const { task, reasoningEffort, maxTurns } = plan;
  const { provider, model } = plan.model.endpoint;
  let trajectoryId: string | null = null;
  const services = servicesOf(job, () => trajectoryId, deps);
  const tools = toolsOf(plan, services);
  const { enabled, threshold, target_ratio, protect_last_n } = deps.config.read().compression;
  const summaries = await summaryModel(deps);
  return {
    spec: {
      systemPrompt: await childSystemPrompt({ tools: tools.specs, context: task.context, schema: task.outputSchema, sandbox, childId: job.id, model, provider, now: deps.now() }),
      maxTurns,
      contextLength: await deps.models.contextLength(provider, model),
      ...(reasoningEffort ? { reasoningEffort } : {}),
      ...(enabled ? { compression: { threshold, tailRatio: target_ratio, protectLast: protect_last_n } } : {}),
    },
    input: [{ role: 'user', content: task.goal, createdAt: deps.now() }],
    agent: {
      model: plan.model,
      tools,
      sandbox,
      ...(deps.redact ? { redact: deps.redact } : {}),
      toolServices: services,
      approve: approverOf(deps),
      steering,
      overBudget: () => deps.spend.overBudget({ sessionId: parent.sessionId ?? undefined }),
      ...(summaries ? { summaryModel: summaries } : {}),
    },
    is: (id) => (trajectoryId = id),
  };
}

/** Nobody can be asked, the memory is not theirs, skills are for reading, and the list of tasks is their own. */
function servicesOf({ plan, services, parent, delegation }: ChildJob, trajectoryId: () => string | null, { skillsFor }: DelegationDeps): ToolServices {
  const { web, vision, keepPicture, searchSessions, beforeChange } = services;
  const skills = services.skills && (skillsFor?.({ trajectoryId, workspace: parent.settings.workspace }) ?? services.skills);
  let todos: readonly Todo[] = [];
  return {
    ...(web ? { web } : {}),
    ...(vision ? { vision } : {}),
    ...(keepPicture ? { keepPicture } : {}),
    ...(searchSessions ? { searchSessions } : {}),
    ...(beforeChange ? { beforeChange } : {}),
    ...(skills ? { skills: { list: (input) => skills.list(input), view: (input) => skills.view(input) } } : {}),
    todos: { read: () => todos, write: (list) => (todos = list) },
    ...(plan.mayDelegate && delegation ? { delegation: delegation({ trajectoryId, toolsets: plan.toolsets, model: plan.model }) } : {}),
  };
}

function toolsOf({ toolsets }: PlannedChild, services: ToolServices): ToolRegistry {
  const registry = createRegistry(toolsets, services);
  return registryOf(registry.specs.filter(({ name }) => !BLOCKED_TOOLS.has(name)).map(({ name }) => registry.get(name)!));
}

/**
 * What a person allowed for good is allowed; with `delegation.auto_approve` dangerous commands are too. All else is refused, and the model
 * is told so: nobody sits before a sub-agent.
 */
function approverOf({ approvals, config }: DelegationDeps): ApproveHook {
  return ({ what, key, scope }) => {
    if (approvals.isAllowed(key) || (what === 'command' && config.read().delegation.auto_approve)) return Promise.resolve(true);
    return Promise.reject(new ToolError(`Refused, nothing was done: this needs the person's consent (${scope}), and a sub-agent cannot ask. Do not try it another way; go on without it, and say in your report that it is needed.`));
  };
}

/** The model that writes summaries; undefined: the child's own. */
async function summaryModel({ config, models, log }: DelegationDeps): Promise<ChatModel | undefined> {
  const route = config.read().compression.model;
  if (route === undefined) return undefined;
  try {
    return await models.create(models.parse(route));
  } catch (error) {
    log.error(`config.yaml: compression.model "${route}" cannot be used; sub-agents write their summaries themselves`, error);
    return undefined;
  }
}

/** An answer that does not fit its schema is asked for once more. */
function corrections({ task }: PlannedChild, now: () => number): (answer: string) => Message | null {
  let asked = false;
  return (answer) => {
    if (task.outputSchema === null || asked) return null;
    const verdict = task.outputSchema.check(answer);
    if (verdict.valid) return null;
    asked = true;
    return { role: 'user', content: correction(verdict.errors), synthetic: true, note: 'continue', createdAt: now() };
  };
}

/** Waits no longer than the signal. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
