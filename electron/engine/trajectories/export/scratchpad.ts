/*
 * Reasoning between <REASONING_SCRATCHPAD> tags, as models answer that are told to think in one: named as where the format comes from
 * (Hermes Agent's trajectories), so that who knows those functions finds them.
 */

const OPEN = '<REASONING_SCRATCHPAD>';
const CLOSE = '</REASONING_SCRATCHPAD>';

/** The text with scratchpad tags as think tags. */
export function convertScratchpadToThink(content: string): string {
  return content.includes(OPEN) || content.includes(CLOSE) ? content.replaceAll(OPEN, '<think>').replaceAll(CLOSE, '</think>') : content;
}

/** Whether a scratchpad was opened and not closed: the model was cut off, or lost itself, while it thought. */
export function hasIncompleteScratchpad(content: string): boolean {
  return content.lastIndexOf(OPEN) > content.lastIndexOf(CLOSE);
}

const LEADING_BLOCK = /^\s*<think>([\s\S]*?)<\/think>/;

/**
 * Reasoning and visible text of a turn that may carry its reasoning in leading think blocks or scratchpads. A block anywhere later
 * belongs to the text: an answer may speak about the tags.
 */
export function splitReasoning(content: string): { reasoning: string; content: string } {
  let rest = convertScratchpadToThink(content);
  if (!rest.trimStart().startsWith('<think>')) return { reasoning: '', content };
  const blocks: string[] = [];
  for (let block = LEADING_BLOCK.exec(rest); block; block = LEADING_BLOCK.exec(rest)) {
    if (block[1]!.trim() !== '') blocks.push(block[1]!.trim());
    rest = rest.slice(block[0].length);
  }
  return { reasoning: blocks.join('\n\n'), content: rest.trim() };
}
