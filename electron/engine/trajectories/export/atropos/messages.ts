import { joinedText } from '#shared/context.ts';
import type { Message, ToolSpec } from '#shared/trajectory.ts';
import type { HermesProblem, HermesWarning } from '../hermes.ts';
import { isJsonObject, pythonSpacing } from '../json-text.ts';

export interface OpenAiCall {
  id: string;
  type: 'function';
  /** `arguments`: the JSON text as the model wrote it. */
  function: { name: string; arguments: string };
}

/**
 * A message as the chat API of OpenAI has it, plus `reasoning_content` as vLLM, DeepSeek and Hugging Face's templates name it. An
 * assistant always has the latter: lists of objects whose keys differ are read as JSON by `datasets`, whatever comes later in the file.
 */
export type OpenAiMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; reasoning_content: string; tool_calls?: OpenAiCall[] }
  | { role: 'tool'; tool_call_id: string; name: string; content: string };

export interface OpenAiConversation {
  messages: OpenAiMessage[];
  /** What makes it unfit for training; empty when fit. */
  problems: HermesProblem[];
  warnings: HermesWarning[];
  /** Of the last answer: `stop`, `length`, … */
  finishReason: string;
}

/**
 * The messages that a model was given and wrote, its own system prompt included; what the harness added is left out, as in every export.
 * Calls whose result was lost go, and so does an answer that was interrupted before its first word; neighbouring user messages become one, as the model read them.
 * @param summaries a compaction stands in place of the messages that it covers (they are not among `messages`)
 */
export function toOpenAi(messages: readonly Message[], tools: readonly ToolSpec[], { summaries = false } = {}): OpenAiConversation {
  const problems = new Set<HermesProblem>();
  const warnings = new Set<HermesWarning>();
  const offered = new Set(tools.map((tool) => tool.name));
  const out: OpenAiMessage[] = [];
  let finishReason = 'stop';
  const real = messages.filter((m) => !m.synthetic || m.role === 'tool' || (summaries && m.compaction !== undefined));
  for (let i = 0; i < real.length; i++) {
    const m = real[i]!;
    const content = m.content.toWellFormed();
    if (m.role === 'system') {
      if (out.length === 0 && content !== '') out.push({ role: 'system', content });
    } else if (m.role === 'user') {
      const last = out.at(-1);
      if (last?.role === 'user') last.content = joinedText(last.content, content);
      else out.push({ role: 'user', content });
    } else if (m.role === 'assistant') {
      const results = resultsOf(real, i);
      const kept = (m.toolCalls ?? []).filter((call) => results.get(call.id)?.synthetic !== true);
      const lost = (m.toolCalls?.length ?? 0) > kept.length;
      if (lost) warnings.add('calls_left_out');
      const isNothing = content.trim() === '' && kept.length === 0 && (lost || m.finishReason === 'interrupted');
      if (isNothing) continue;
      if (m.finishReason === 'interrupted') warnings.add('interrupted_answer');
      finishReason = m.finishReason ?? 'stop';
      for (const call of kept) {
        if (!offered.has(call.name)) problems.add('unknown_tool');
        if (!isJsonObject(call.arguments)) problems.add('malformed_call');
      }
      out.push({
        role: 'assistant',
        content,
        reasoning_content: m.reasoning?.toWellFormed() ?? '',
        ...(kept.length > 0 ? { tool_calls: kept.map(({ id, name, arguments: args }) => ({ id, type: 'function' as const, function: { name, arguments: args.toWellFormed() } })) } : {}),
      });
      for (const call of kept) {
        const result = results.get(call.id);
        if (result) out.push({ role: 'tool', tool_call_id: call.id, name: call.name, content: result.content.toWellFormed() });
        else problems.add('call_without_result');
      }
      while (real[i + 1]?.role === 'tool') {
        const result = real[++i]!;
        if (!result.synthetic && !kept.some((call) => call.id === result.toolCallId)) problems.add('result_without_call');
      }
    } else if (!m.synthetic) problems.add('result_without_call');
  }
  if (!out.some((m) => m.role !== 'system')) problems.add('empty');
  else if (!out.some((m) => m.role === 'assistant')) problems.add('no_answer');
  else if (out.at(-1)!.role !== 'assistant') problems.add('ends_without_assistant');
  return { messages: out, problems: [...problems], warnings: [...warnings], finishReason };
}

/** The tools that were offered, as JSON text in OpenAI's shape with Python's spacing. */
export function toolsJson(tools: readonly ToolSpec[]): string {
  const wellFormed = (_: string, value: unknown): unknown => (typeof value === 'string' ? value.toWellFormed() : value);
  return pythonSpacing(JSON.stringify(tools.map((tool) => ({ type: 'function', function: tool })), wellFormed));
}

/** Results that follow the assistant message at `at`, by call; a real one goes before a synthetic one. */
function resultsOf(messages: readonly Message[], at: number): Map<string, Message> {
  const results = new Map<string, Message>();
  for (let i = at + 1; messages[i]?.role === 'tool'; i++) {
    const result = messages[i]!;
    const id = result.toolCallId ?? '';
    if (!results.has(id) || results.get(id)!.synthetic) results.set(id, result);
  }
  return results;
}
