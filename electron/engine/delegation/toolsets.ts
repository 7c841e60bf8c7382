import { resolveToolsets, UnknownToolsetError } from '../tools/toolsets.ts';
import { ToolError } from '../tools/define.ts';

/** What children never have: nobody answers them, and the memory is the person's. */
const BLOCKED_TOOLSETS = ['clarify', 'memory'];
const DELEGATION = 'delegation';
/** Tools that a child has not, although it has others of their toolset. */
export const BLOCKED_TOOLS: ReadonlySet<string> = new Set(['clarify', 'memory', 'skill_manage']);

export interface ChildToolsets {
  toolsets: string[];
  /** A sentence about what was asked for and cannot be had; null when all can. */
  note: string | null;
}

/**
 * The toolsets of a child: what was asked for, else the parent's, of those that the parent has, without what children never have.
 * Composites are expanded before that. @throws ToolError for names that nobody knows, and when nothing of what was asked for is left.
 */
export function childToolsets(asked: readonly string[] | null, parents: readonly string[], mayDelegate: boolean): ChildToolsets {
  const having = resolve(parents).toolsets;
  const blocked = mayDelegate ? BLOCKED_TOOLSETS : [...BLOCKED_TOOLSETS, DELEGATION];
  const allowed = having.filter((name) => !blocked.includes(name));
  if (asked === null) return { toolsets: allowed, note: null };
  const { toolsets: wanted, skipped } = resolve(asked);
  const toolsets = wanted.filter((name) => allowed.includes(name));
  // of a composite only the parts that are there were meant
  const refused = asked.filter((name) => !toolsets.some((one) => resolve([name]).toolsets.includes(one)));
  if (asked.length > 0 && toolsets.length === 0) {
    throw new ToolError(`None of these toolsets can be given to a sub-agent: ${asked.join(', ')}. It can have: ${allowed.join(', ') || 'none'}. Send [] for one without tools.`);
  }
  const missing = [...new Set([...refused, ...skipped.map(({ name }) => name).filter((name) => asked.includes(name))])];
  return { toolsets, note: missing.length > 0 ? `Not given, because you do not have them or sub-agents must not: ${missing.join(', ')}.` : null };
}

function resolve(names: readonly string[]): ReturnType<typeof resolveToolsets> {
  try {
    return resolveToolsets(names);
  } catch (error) {
    throw error instanceof UnknownToolsetError ? new ToolError(`${error.message} Nothing was started.`) : error;
  }
}
