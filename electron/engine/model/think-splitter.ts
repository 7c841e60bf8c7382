/** Inline tags that models put around their reasoning when the server does not separate it. Matched without regard to case. */
const TAG_NAMES = ['think', 'thinking', 'reasoning', 'reasoning_scratchpad'] as const;
const OPENING_TAGS = TAG_NAMES.map((name) => `<${name}>`);
const LONGEST_OPENING = Math.max(...OPENING_TAGS.map((tag) => tag.length));

export interface SplitPiece {
  channel: 'content' | 'reasoning';
  text: string;
}

export interface ThinkSplitter {
  /** Takes the next piece of raw text; answers with what can already be told apart. */
  push(text: string): SplitPiece[];
  /** The raw text is over. */
  end(): SplitPiece[];
  /** A tag was opened and, so far, not closed. */
  readonly unclosed: boolean;
}

/**
 * Separates inline reasoning from visible text while it streams.
 *
 * Rule: reasoning is a tagged block at the very start of the answer, or directly after such a block (white space between
 * does not count). A tag anywhere later is part of the visible text, so an answer may speak about `<think>` or show it in code.
 * White space around leading blocks, and at both ends inside them, is dropped; several blocks are joined by a blank line.
 * An answer without a leading block comes out unchanged.
 *
 * The pieces of a channel, joined, do not depend on where the raw text was cut.
 */
export function createThinkSplitter(): ThinkSplitter {
  let mode: 'lead' | 'inside' | 'visible' = 'lead';
  let held = '';
  let heldSpace = '';
  /** White space before the visible text; apart from `held`, which is looked at with each piece. */
  let leadSpace = '';
  let closingTag = '';
  let sawBlock = false;
  let blockHasText = false;
  let anyReasoning = false;

  function reason(text: string, out: SplitPiece[]): void {
    const body = blockHasText ? text : text.trimStart();
    if (body === '') return;
    const kept = body.trimEnd();
    if (kept === '') {
      heldSpace += body;
      return;
    }
    const gap = blockHasText || !anyReasoning ? '' : '\n\n';
    out.push({ channel: 'reasoning', text: gap + heldSpace + kept });
    heldSpace = body.slice(kept.length);
    blockHasText = true;
    anyReasoning = true;
  }

  function show(text: string, out: SplitPiece[]): void {
    if (text !== '') out.push({ channel: 'content', text });
  }

  function step(out: SplitPiece[]): boolean {
    if (mode === 'visible') {
      show(held, out);
      held = '';
      return false;
    }
    if (mode === 'inside') {
      const at = held.search(new RegExp(closingTag, 'i'));
      if (at >= 0) {
        reason(held.slice(0, at), out);
        held = held.slice(at + closingTag.length);
        heldSpace = '';
        mode = 'lead';
        return true;
      }
      const keep = prefixAtEnd(held, closingTag);
      reason(held.slice(0, held.length - keep), out);
      held = held.slice(held.length - keep);
      return false;
    }
    const text = held.trimStart();
    if (text === '') {
      leadSpace += held;
      held = '';
      return false;
    }
    const start = text.slice(0, LONGEST_OPENING).toLowerCase();
    const opening = OPENING_TAGS.find((tag) => start.startsWith(tag));
    if (opening !== undefined) {
      closingTag = `</${opening.slice(1)}`;
      held = text.slice(opening.length);
      leadSpace = '';
      mode = 'inside';
      sawBlock = true;
      blockHasText = false;
      return true;
    }
    if (OPENING_TAGS.some((tag) => tag.startsWith(start))) return false;
    held = sawBlock ? text : leadSpace + held;
    mode = 'visible';
    return true;
  }

  return {
    push(text) {
      const out: SplitPiece[] = [];
      held += text;
      while (step(out));
      return out;
    },
    end() {
      const out: SplitPiece[] = [];
      if (mode === 'inside') reason(held, out);
      else if (mode === 'lead') show(sawBlock ? held.trimStart() : leadSpace + held, out);
      else show(held, out);
      held = '';
      return out;
    },
    get unclosed() {
      return mode === 'inside';
    },
  };
}

/** Length of the longest end of `text` that is a proper beginning of `tag`. */
function prefixAtEnd(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (tag.startsWith(text.slice(-length).toLowerCase())) return length;
  }
  return 0;
}

/**
 * Some chat templates open the think tag inside the prompt, so that the answer holds only the closing one. When the whole
 * text has no leading block but a line that is nothing else than `</think>` (outside a code fence), what precedes it is
 * the reasoning. Answers with null when that is not so.
 */
export function splitOrphanClose(text: string): { reasoning: string; content: string } | null {
  const match = /^[ \t]*<\/(?:think|thinking)>[ \t]*$/im.exec(text);
  if (match === null) return null;
  const before = text.slice(0, match.index);
  const fences = before.match(/^[ \t]*(?:```|~~~)/gm)?.length ?? 0;
  if (fences % 2 === 1) return null;
  return { reasoning: before.trim(), content: text.slice(match.index + match[0].length).trimStart() };
}
