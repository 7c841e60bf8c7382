import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHostSandbox } from '../sandbox/testing.ts';
import { runTool } from './registry.ts';
import type { Tool, ToolContext } from './types.ts';

/** A real workspace and a way to call tools in it, for tests. */
export interface Bench {
  /** Parent of the workspace: what lies beside it is outside. */
  folder: string;
  context: ToolContext;
  call(tool: Tool, args: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function openBench(): Promise<Bench> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'tools-test-'));
  const sandbox = await createHostSandbox({ root: join(folder, 'workspace') });
  const context: ToolContext = { sandbox, signal: new AbortController().signal, callId: 'call', services: {}, show: () => undefined, state: new Map(), onOutput: () => undefined };
  return {
    folder,
    context,
    call: async (tool, args) => JSON.parse(await runTool(tool, args, context)) as Record<string, unknown>,
    async close() {
      await sandbox.dispose({ remove: true });
      await rm(folder, { recursive: true, force: true });
    },
  };
}
