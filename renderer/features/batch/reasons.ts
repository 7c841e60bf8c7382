import type { TFunction } from 'i18next';
import { EXIT_REASONS, type ExitReason } from '#shared/trajectory.ts';

/** The engine's own sentences that have words here, with what is put into them; those of providers and tools are shown as they are. */
const SENTENCES = [
  ['exitReason.max_turns', /^The limit of \d+ model calls was reached\.$/],
  ['exitReason.interrupted', /^The run was interrupted\.$/],
  ['reasons.budget', /^The budget of this run is used up: (?<spent>\$[\d.]+) of (?<budget>\$[\d.]+)\. Resume it with a higher budget\.$/],
  ['reasons.noReasoning', /^No assistant turn has reasoning\.$/],
  ['reasons.unknownTool', /^It calls (?<name>".*"), which is no tool that was offered\.$/s],
  ['reasons.openReasoning', /^A block of reasoning was opened and never closed\.$/],
  ['reasons.truncated', /^An answer was cut off by a length limit\.$/],
  ['reasons.refusal', /^The answer is a refusal: “(?<words>.*)”$/s],
  ['reasons.tooShort', /^The final answer has (?<length>\d+) characters; (?<asked>\d+) are asked for\.$/],
  ['reasons.looped', /^It says the same over and over: “(?<words>.*)”$/s],
  ['reasons.sameAnswerOf', /^The final answer is that of prompt (?<prompt>\d+), rollout (?<rollout>\d+)\.$/],
  ['reasons.sameAnswer', /^The final answer is that of prompt (?<prompt>\d+)\.$/],
  ['reasons.rule', /^It matches (?<rule>.+)\.$/s],
] as const;

/** Every word that a sentence may put in. */
const NOTHING = { spent: '', budget: '', name: '', words: '', length: '', asked: '', prompt: '', rollout: '', rule: '' };

/** The reason of a prompt, or of a run that stands, for people: what the engine itself found in the page's words, anything else as it was said. */
export function reasonText(reason: string, t: TFunction<['batch', 'app']>): string {
  for (const [key, pattern] of SENTENCES) {
    const said = pattern.exec(reason);
    if (said) return t(key, { ...NOTHING, ...said.groups });
  }
  const known = EXIT_REASONS.find((r): r is ExitReason => r === reason);
  return known ? t(`exitReason.${known}`) : reason;
}

/** Codes of causes that have words; a person's own filter is called what they called it. */
const CAUSES = [
  'auth', 'payment', 'rate_limit', 'bad_request', 'not_found', 'context_overflow', 'server', 'network', 'timeout', 'bad_response',
  'bad_row', 'tool_unavailable', 'distribution', 'docker_missing', 'image_pull', 'container', 'sandbox', 'disk_full', 'defect',
  'no_reasoning', 'unknown_tool', 'incomplete_scratchpad', 'partial', 'truncated', 'refused', 'too_short', 'looped', 'duplicate_answer',
] as const;

/** The code of a cause for people: a model's fault, a filter, an exit reason. */
export function causeText(cause: string, t: TFunction<['batch', 'app']>): string {
  const known = CAUSES.find((c) => c === cause);
  return known ? t(`cause.${known}`) : exitReasonText(cause, t);
}

export function exitReasonText(reason: string, t: TFunction<['batch', 'app']>): string {
  const known = EXIT_REASONS.find((r): r is ExitReason => r === reason);
  return known ? t(`exitReason.${known}`) : reason;
}
