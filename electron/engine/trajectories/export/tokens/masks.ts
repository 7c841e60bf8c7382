import { TemplateError, type ChatTemplate, type Conversation } from './template.ts';

/** `masks[i]` is −100 (`IGNORED`) where no loss is taken, else the token itself. */
export interface Tokenized {
  tokens: number[];
  masks: number[];
  /** What the template made of the conversation. */
  text: string;
}

export const IGNORED = -100;

/** Why a conversation has no trustworthy masks, in words for people. */
export type MaskProblem = 'the chat template rewrites earlier turns' | 'a token reaches over the border of what the model wrote';

type Encode = (text: string) => number[];

/**
 * Masks by prefixes, as `tokenize_for_trainer(train_on_all_assistant_turns=True)` of Atropos makes them: what the model wrote in a turn is
 * what the text up to that turn has more than the text that asked for it. That holds only while longer conversations begin with the text
 * of shorter ones; templates that take reasoning out of earlier turns break it, and then there is no mask.
 * @throws TemplateError when the template refuses the conversation
 */
export function prefixMasks(template: ChatTemplate, encode: Encode, conversation: Conversation): Tokenized | MaskProblem {
  const { messages, tools } = conversation;
  const full = template.render(conversation, false);
  const borders: number[] = [];
  let last = 0;
  for (let i = 0; i < messages.length; i++) {
    if (messages[i]!.role !== 'assistant') continue;
    const asked = template.render({ messages: messages.slice(0, i), tools }, true);
    const answered = i === messages.length - 1 ? full : template.render({ messages: messages.slice(0, i + 1), tools }, false);
    if (asked.length < last || !answered.startsWith(asked) || !full.startsWith(answered)) return 'the chat template rewrites earlier turns';
    borders.push(asked.length, answered.length);
    last = answered.length;
  }
  const pieces = [0, ...borders].map((start, i) => full.slice(start, borders[i] ?? full.length));
  return tokenizePieces(pieces, full, encode);
}

/**
 * Masks by the template's own markers, as `apply_chat_template(return_assistant_tokens_mask=True)` of transformers makes them.
 * @throws TemplateError when the template refuses the conversation, or writes another text with markers than without
 */
export function generationMasks(template: ChatTemplate, encode: Encode, conversation: Conversation): Tokenized | MaskProblem {
  const pieces = template.renderPieces(conversation);
  const full = template.render(conversation, false);
  if (pieces.join('') !== full) throw new TemplateError('its generation markers change the text');
  return tokenizePieces(pieces, full, encode);
}

/** Tokens of the whole, masked by pieces: the first, third, … are given, the others written by the model. */
function tokenizePieces(pieces: readonly string[], full: string, encode: Encode): Tokenized | MaskProblem {
  const tokens = encode(full);
  const masks: number[] = [];
  for (const [i, piece] of pieces.entries()) {
    for (const id of encode(piece)) {
      if (tokens[masks.length] !== id) return 'a token reaches over the border of what the model wrote';
      masks.push(i % 2 === 1 ? id : IGNORED);
    }
  }
  return masks.length === tokens.length ? { tokens, masks, text: full } : 'a token reaches over the border of what the model wrote';
}
