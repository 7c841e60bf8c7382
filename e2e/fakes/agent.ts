import type { Responder } from './fake-model.ts';
import type { ChatTool, ModelRequest } from './requests.ts';
import { callTool, paced, say, think, together, type Step } from './steps.ts';

export interface AgentOptions {
  /** Tool calls, one per turn, before the answer. Default 3. */
  calls?: number;
  /** Milliseconds before the first byte of every answer. Default: the server's. */
  latencyMs?: number;
  /** Call only this tool. Default: takes turns with the offered ones that it knows, else with all offered ones. */
  tool?: string;
}

type Schema = Record<string, unknown>;

/** Harmless arguments for the tools of a coding agent; `turn` counts from 0. */
const KNOWN_ARGUMENTS: Record<string, (turn: number) => Schema> = {
  write_file: (turn) => ({ path: `notes-${turn + 1}.md`, content: `# Step ${turn + 1}\n\nSeen and noted.\n` }),
  read_file: (turn) => ({ path: `notes-${Math.max(1, turn)}.md` }),
  terminal: (turn) => ({ command: `echo "step ${turn + 1}"` }),
  search_files: () => ({ pattern: 'Step' }),
};

/**
 * An agent that works through `calls` tool calls, one per turn, and then answers. What it does follows from the conversation
 * since the last user message alone, so any number of conversations can run side by side. Without tools it answers at once.
 */
export function agentScenario(options: AgentOptions = {}): Responder {
  const { calls = 3, latencyMs, tool } = options;
  return (request) => {
    const step = nextAgentStep(request, calls, tool);
    return latencyMs === undefined ? step : together(step, paced(latencyMs));
  };
}

function nextAgentStep(request: ModelRequest, calls: number, only: string | undefined): Step {
  const turn = request.turnsSinceUser;
  const offered = request.body.tools ?? [];
  const known = offered.filter((tool) => tool.function.name in KNOWN_ARGUMENTS);
  const usable = only === undefined ? (known.length > 0 ? inKnownOrder(known) : offered) : offered.filter((tool) => tool.function.name === only);
  const chosen = usable[turn % Math.max(1, usable.length)];
  if (turn >= calls || !chosen) {
    const did = turn === 0 ? 'No tool was needed' : `${turn} tool call${turn === 1 ? '' : 's'} made`;
    return together(think('Everything that was asked for is there.'), say(`Done. ${did}.`));
  }
  const args = KNOWN_ARGUMENTS[chosen.function.name]?.(turn) ?? sampleArguments(chosen);
  return together(think(`Step ${turn + 1} of ${calls}: use ${chosen.function.name}.`), callTool(chosen.function.name, args));
}

/** Writing comes first, so that reading finds something. */
function inKnownOrder(tools: ChatTool[]): ChatTool[] {
  const order = Object.keys(KNOWN_ARGUMENTS);
  return tools.toSorted((a, b) => order.indexOf(a.function.name) - order.indexOf(b.function.name));
}

/** Arguments that satisfy the required part of a tool's JSON Schema, as far as types, enums and defaults say. */
function sampleArguments(tool: ChatTool): Schema {
  return sampleObject(tool.function.parameters ?? {});
}

function sampleObject(schema: Schema): Schema {
  const properties = (schema.properties ?? {}) as Record<string, Schema>;
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  return Object.fromEntries(required.map((name) => [name, sampleValue(properties[name] ?? {})]));
}

function sampleValue(schema: Schema): unknown {
  if ('default' in schema) return schema.default;
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1;
    case 'boolean':
      return true;
    case 'array':
      return typeof schema.minItems === 'number' && schema.minItems > 0 ? [sampleValue((schema.items ?? {}) as Schema)] : [];
    case 'object':
      return sampleObject(schema);
    case 'null':
      return null;
    default:
      return 'example';
  }
}
