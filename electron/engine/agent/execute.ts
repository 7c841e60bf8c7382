import type { Message } from '#shared/trajectory.ts';
import { isToolFailure } from '../tools/failure.ts';
import { runTool } from '../tools/registry.ts';
import type { ToolContext, ToolRegistry } from '../tools/types.ts';
import type { CheckedCall } from './calls.ts';

const MAX_PARALLEL = 8;
/** How long a tool may take to end by itself after an abort. */
const ABORT_GRACE_MS = 800;

/** The result message of a call that was not run. */
export function refusal(checked: CheckedCall, text: string, now: number): Message {
  return {
    role: 'tool',
    content: JSON.stringify({ error: text }),
    toolCallId: checked.call.id,
    toolName: checked.call.name,
    isError: true,
    createdAt: now,
  };
}

/**
 * Runs the calls of one turn, together where all are safe to (read-only, or on different paths), else one after another. Yields one
 * result per call in call order. After an abort every call that has not ended gets a result that says so, within a second.
 */
export async function* executeCalls(
  calls: readonly CheckedCall[],
  tools: ToolRegistry,
  context: ToolContext,
  now: () => number,
): AsyncGenerator<Message> {
  const together = calls.length > 1 && canRunTogether(calls, tools);
  const started: Promise<Message>[] = [];
  for (let i = 0; i < calls.length; i++) {
    const ahead = together ? MAX_PARALLEL : 1;
    for (let j = started.length; j < calls.length && j < i + ahead; j++) started.push(execute(calls[j]!, tools, context, now));
    yield await started[i]!;
  }
}

function canRunTogether(calls: readonly CheckedCall[], tools: ToolRegistry): boolean {
  const paths = new Set<string>();
  for (const { call, args } of calls) {
    const tool = tools.get(call.name);
    if (!tool || tool.parallel === 'never' || !args) return false;
    if (tool.parallel === 'safe') continue;
    const path = tool.pathOf?.(args);
    if (!path || [...paths].some((p) => overlap(p, path))) return false;
    paths.add(path);
  }
  return true;
}

function overlap(a: string, b: string): boolean {
  const x = normal(a);
  const y = normal(b);
  return x === y || x.startsWith(`${y}/`) || y.startsWith(`${x}/`);
}

function normal(path: string): string {
  return path.replace(/\\/g, '/').replace(/\/\.(?=\/|$)/g, '').replace(/^\.\//, '').replace(/\/+/g, '/').replace(/\/$/, '');
}

async function execute(checked: CheckedCall, tools: ToolRegistry, context: ToolContext, now: () => number): Promise<Message> {
  const started = now();
  const { call, args } = checked;
  const tool = tools.get(call.name);
  if (!tool || !args) return refusal(checked, checked.message ?? 'This call cannot be run.', started);
  if (context.signal.aborted) return cancelled(checked, started);
  const content = await Promise.race([runTool(tool, args, context), afterAbort(context.signal)]);
  if (content === null) return cancelled(checked, now());
  const isError = isToolFailure(content);
  return {
    role: 'tool',
    content,
    toolCallId: call.id,
    toolName: call.name,
    isError,
    createdAt: now(),
    durationMs: now() - started,
  };
}

function cancelled(checked: CheckedCall, now: number): Message {
  return refusal(checked, `Cancelled: ${checked.call.name} was stopped because the run was interrupted.`, now);
}

/** Resolves with null when a tool ignores the abort for too long. */
function afterAbort(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    const arm = () => setTimeout(() => resolve(null), ABORT_GRACE_MS).unref();
    if (signal.aborted) arm();
    else signal.addEventListener('abort', arm, { once: true });
  });
}
