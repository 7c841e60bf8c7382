import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSandbox } from '../sandbox/open.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { ALL_TOOLS, registryOf } from '../tools/registry.ts';
import type { Tool, ToolRegistry, ToolServices } from '../tools/types.ts';
import { EVIDENCE_PARAMETERS } from './evidence.ts';
import { asksOf, type ReviewKind } from './kinds.ts';
import type { Grounds } from './propose/ground.ts';

const CHANGE: readonly string[] = ['memory', 'skill_manage'];

/** Names of the tools that a review may use: nothing that changes a file or runs a command, and besides those only what config.yaml names. */
function allowed(kind: ReviewKind, files: boolean, extra: readonly string[]): string[] {
  const { memory, skills } = asksOf(kind);
  return [...(memory ? ['memory'] : []), ...(skills ? ['skills_list', 'skill_view', 'skill_manage'] : []), ...(files ? ['read_file', 'search_files'] : []), ...extra];
}

/**
 * The tools of a review. Those that change something ask for a reason and for evidence besides their own parameters. Any other name is
 * refused by the agent loop with the names of these.
 */
export function reviewTools(kind: ReviewKind, { services, files, extra, grounds }: { services: ToolServices; files: boolean; extra: readonly string[]; grounds: Grounds }): ToolRegistry {
  const names = allowed(kind, files, extra);
  const tools = ALL_TOOLS.filter((tool) => names.includes(tool.spec.name) && (tool.missing?.(services) ?? null) === null);
  return registryOf(tools.map((tool) => (CHANGE.includes(tool.spec.name) ? withGrounds(tool, grounds) : tool)));
}

function withGrounds(tool: Tool, grounds: Grounds): Tool {
  const { parameters } = tool.spec;
  const own = (parameters['properties'] ?? {}) as Record<string, unknown>;
  return {
    ...tool,
    // what is given with one call must not be taken for another's
    parallel: 'never',
    spec: { ...tool.spec, parameters: { ...parameters, properties: { ...own, ...EVIDENCE_PARAMETERS } } },
    run(args, context) {
      const { evidence, reason, ...rest } = args;
      grounds.give({ reason, evidence });
      return tool.run({ ...rest, ...('reason' in own && reason !== undefined ? { reason } : {}) }, context);
    },
  };
}

/** The workspace for reading; an empty folder where there is none. `close` leaves no trace of either. */
export async function reviewSandbox(workspace: string | null, home: string): Promise<{ sandbox: Sandbox; files: boolean; close: () => Promise<void> }> {
  const there = workspace !== null && (await stat(workspace).then((s) => s.isDirectory(), () => false));
  const opened = there ? await openSandbox({ kind: 'host', root: workspace, hidden: [home] }).catch(() => null) : null;
  if (opened) return { sandbox: opened, files: true, close: () => opened.dispose({ remove: false }) };
  const empty = await mkdtemp(join(tmpdir(), 'talaria-review-'));
  const sandbox = await openSandbox({ kind: 'host', root: join(empty, 'nothing'), hidden: [home] });
  return {
    sandbox,
    files: false,
    close: async () => {
      await sandbox.dispose({ remove: true });
      await rm(empty, { recursive: true, force: true });
    },
  };
}
