import type { ExportContext, MaskAlgorithm } from '#shared/contract/exports.ts';
import { contextOf } from '#shared/context.ts';
import type { Message, ToolSpec } from '#shared/trajectory.ts';
import { PROBLEM_TEXT, WARNING_TEXT } from '../rows.ts';
import { generationMasks, IGNORED, prefixMasks } from '../tokens/masks.ts';
import { TemplateError } from '../tokens/template.ts';
import type { LoadedTokenizer } from '../tokens/tokenizer.ts';
import { type OpenAiMessage, toolsJson, toOpenAi } from './messages.ts';

/** One rollout as it stands in the line of its group. */
export interface Rollout {
  messages: OpenAiMessage[];
  /** JSON text. */
  tools: string;
  finishReason: string;
  tokens: number[] | null;
  masks: number[] | null;
  warnings: string[];
}

export interface Tokenization {
  tokenizer: LoadedTokenizer;
  algorithm: MaskAlgorithm;
  maxTokens: number | null;
}

/** The messages of one rollout, and its tokens when there is a tokenizer; or why it cannot be written. */
export function toRollout(stored: readonly Message[], offered: readonly ToolSpec[], context: ExportContext, tokenization: Tokenization | null): Rollout | { leftOut: string } {
  const compressed = context === 'compressed';
  const { messages, problems, warnings, finishReason } = toOpenAi(compressed ? contextOf(stored) : stored, offered, { summaries: compressed });
  if (problems.length > 0) return { leftOut: PROBLEM_TEXT[problems[0]!] };
  const rollout: Rollout = { messages, tools: toolsJson(offered), finishReason, tokens: null, masks: null, warnings: warnings.map((w) => WARNING_TEXT[w]) };
  return tokenization ? tokenize(rollout, offered.length > 0, tokenization) : rollout;
}

function tokenize(rollout: Rollout, hasTools: boolean, { tokenizer, algorithm, maxTokens }: Tokenization): Rollout | { leftOut: string } {
  const { template, takesTools } = tokenizer.template(hasTools);
  const conversation = { messages: rollout.messages, tools: hasTools && takesTools ? rollout.tools : null };
  const byMarkers = algorithm === 'generation' || (algorithm === 'auto' && template.marksGeneration);
  if (byMarkers && !template.marksGeneration) return { leftOut: 'the chat template has no generation markers' };
  let made;
  try {
    made = (byMarkers ? generationMasks : prefixMasks)(template, tokenizer.encode, conversation);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { leftOut: `the chat template refuses it: ${error.message.slice(0, 160)}` };
  }
  if (typeof made === 'string') return { leftOut: made };
  const { text } = made;
  let { tokens, masks } = made;
  // an answer that was cut off had no end: the rule of Atropos' tokenize_for_trainer
  if (rollout.finishReason === 'length' && tokens.at(-1) === tokenizer.eosTokenId) {
    tokens = tokens.slice(0, -1);
    masks = masks.slice(0, -1);
  }
  if (maxTokens !== null && tokens.length > maxTokens) return { leftOut: `more than ${maxTokens} tokens` };
  if (masks.every((value) => value === IGNORED)) return { leftOut: 'no token to train on' };
  const warnings = [...rollout.warnings];
  if (hasTools && !takesTools) warnings.push('the chat template does not show the tools');
  if (rollout.messages.some((m) => m.role === 'assistant' && !text.includes(m.reasoning_content.trim()))) warnings.push('the chat template leaves out reasoning');
  const said = JSON.stringify(rollout.messages);
  if (tokenizer.control.some((token) => said.includes(JSON.stringify(token).slice(1, -1)))) warnings.push('text that becomes control tokens');
  return { ...rollout, tokens, masks, warnings };
}
