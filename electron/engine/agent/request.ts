import { contextOf } from '#shared/context.ts';
import type { Message } from '#shared/trajectory.ts';
import type { AgentSpec } from './types.ts';

/**
 * The messages of the next model call: what the model is shown of the stored ones, with what exists at call time only behind the
 * system prompt, which stays as it is byte for byte. A pure function, so that a request can be rebuilt from its trajectory.
 */
export function requestMessages(stored: readonly Message[], ephemeral: AgentSpec['ephemeral'] = {}): Message[] {
  const context = contextOf(stored);
  const added = [...(ephemeral.system ? [{ role: 'system', content: ephemeral.system, createdAt: 0 } satisfies Message] : []), ...(ephemeral.prefill ?? [])];
  if (added.length === 0) return context;
  const at = context[0]?.role === 'system' ? 1 : 0;
  return [...context.slice(0, at), ...added, ...context.slice(at)];
}
