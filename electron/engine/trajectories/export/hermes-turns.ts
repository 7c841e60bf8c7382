import { joinedText } from '#shared/context.ts';
import type { Message, ToolCall, ToolSpec } from '#shared/trajectory.ts';
import { isJsonObject } from './json-text.ts';

/** A turn of a conversation as trainers know it, before it is written in one format or another. */
export type PlainTurn =
  | { from: 'human'; text: string; summary: boolean }
  /** `results` are those of its calls, in their order; a call may have none. */
  | { from: 'gpt'; reasoning: string; text: string; calls: readonly ToolCall[]; results: readonly { call: ToolCall; content: string }[] };

export interface PlainConversation {
  turns: PlainTurn[];
  problems: HermesProblem[];
  warnings: HermesWarning[];
}

/** `calls_left_out`: calls whose result was lost with the engine. */
export type HermesWarning = 'tags_escaped' | 'interrupted_answer' | 'calls_left_out';

export type HermesProblem =
  | 'empty'
  | 'no_answer'
  | 'malformed_call'
  | 'unknown_tool'
  | 'call_without_result'
  | 'result_without_call'
  | 'ends_without_assistant';

/**
 * Messages as turns: synthetic ones are left out, neighbouring human ones joined as the model read them, results put with their calls by id. An answer that was
 * interrupted before its first word is no turn. A compaction among the messages is only then a turn when `summaries` says so. Text is
 * well-formed Unicode and trimmed.
 */
export function plainTurns(messages: readonly Message[], tools: readonly ToolSpec[], { summaries = false } = {}): PlainConversation {
  const problems = new Set<HermesProblem>();
  const warnings = new Set<HermesWarning>();
  const turns: PlainTurn[] = [];
  const toolNames = new Set(tools.map((t) => t.name));
  let endsWithResults = false;

  // a synthetic result stands for one that was lost: it is met below with its call
  const real = messages.filter((m) => m.role !== 'system' && (!m.synthetic || m.role === 'tool' || (summaries && m.compaction !== undefined)));
  for (let i = 0; i < real.length; i++) {
    const m = real[i]!;
    if (m.role === 'user') {
      endsWithResults = false;
      addHuman(turns, m.content.toWellFormed(), m.compaction !== undefined);
    } else if (m.role === 'assistant') {
      const lost = lostCalls(real, i);
      if (lost.size > 0) warnings.add('calls_left_out');
      const calls = (m.toolCalls ?? []).filter((c) => !lost.has(c.id));
      const isNothing = m.content.trim() === '' && calls.length === 0 && (lost.size > 0 || m.finishReason === 'interrupted');
      if (m.finishReason === 'interrupted' && !isNothing) warnings.add('interrupted_answer');
      const answers = new Map<string, string>();
      while (real[i + 1]?.role === 'tool') {
        const result = real[++i]!;
        if (result.synthetic) continue;
        if (calls.some((c) => c.id === result.toolCallId)) answers.set(result.toolCallId!, result.content);
        else problems.add('result_without_call');
      }
      for (const call of calls) {
        if (!toolNames.has(call.name)) problems.add('unknown_tool');
        if (!isJsonObject(call.arguments)) problems.add('malformed_call');
        if (!answers.has(call.id)) problems.add('call_without_result');
      }
      const results = calls.flatMap((call) => (answers.has(call.id) ? [{ call, content: answers.get(call.id)!.toWellFormed() }] : []));
      if (isNothing) continue;
      endsWithResults = results.length > 0;
      turns.push({ from: 'gpt', reasoning: (m.reasoning?.trim() ?? '').toWellFormed(), text: m.content.trim().toWellFormed(), calls, results });
    } else if (!m.synthetic) problems.add('result_without_call');
  }

  if (turns.length === 0) problems.add('empty');
  else if (!turns.some((t) => t.from === 'gpt')) problems.add('no_answer');
  else if (turns.at(-1)!.from !== 'gpt' || endsWithResults) problems.add('ends_without_assistant');
  return { turns, problems: [...problems], warnings: [...warnings] };
}

function addHuman(turns: PlainTurn[], text: string, summary: boolean): void {
  const last = turns.at(-1);
  if (last?.from !== 'human') turns.push({ from: 'human', text, summary });
  else turns.splice(-1, 1, { from: 'human', text: joinedText(last.text, text), summary: summary || last.summary });
}

/** Ids of the calls of the message at `at` that only a synthetic result answers. */
function lostCalls(messages: readonly Message[], at: number): ReadonlySet<string> {
  if (!messages[at]!.toolCalls?.length) return new Set();
  const answered = new Map<string, boolean>();
  for (let i = at + 1; i < messages.length && messages[i]!.role !== 'assistant'; i++) {
    const { role, toolCallId, synthetic } = messages[i]!;
    if (role === 'tool' && toolCallId !== undefined) answered.set(toolCallId, (answered.get(toolCallId) ?? false) || !synthetic);
  }
  return new Set([...answered].filter(([, really]) => !really).map(([id]) => id));
}
