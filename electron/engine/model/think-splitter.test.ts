import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createThinkSplitter, splitOrphanClose } from './think-splitter.ts';

interface Split {
  content: string;
  reasoning: string;
  unclosed: boolean;
}

function split(...pieces: string[]): Split {
  const splitter = createThinkSplitter();
  const parts = pieces.flatMap((piece) => splitter.push(piece));
  const { unclosed } = splitter;
  parts.push(...splitter.end());
  const join = (channel: string): string => parts.filter((part) => part.channel === channel).map((part) => part.text).join('');
  return { content: join('content'), reasoning: join('reasoning'), unclosed };
}

describe('createThinkSplitter', () => {
  // Bug: a tag of one model family is not known, and its reasoning lands in the visible answer.
  it.each(['think', 'thinking', 'reasoning', 'REASONING_SCRATCHPAD', 'Think'])('takes a leading <%s> block out', (tag) => {
    expect(split(`<${tag}>\nLet me see.\n</${tag}>\n\nYes.`)).toEqual({ content: 'Yes.', reasoning: 'Let me see.', unclosed: false });
  });

  // Bug: an answer that explains or shows the tags loses a part of itself.
  it.each([
    'Use `<think>` like this: <think>x</think>.',
    '```html\n<think>not mine</think>\n```',
    '  leading space stays',
    '<thinker>no tag of ours</thinker>',
    '<think',
    '1 < 2',
    '</think> only a closing tag',
    '',
    ' \n ',
  ])('leaves %j alone', (text) => {
    expect(split(text)).toEqual({ content: text, reasoning: '', unclosed: false });
  });

  // Bug: the second of two leading blocks is shown, or a later one is eaten.
  it('joins leading blocks and stops at the first visible character', () => {
    expect(split('<think>a</think>\n<reasoning>\n b </reasoning> Text <think>c</think>')).toEqual({
      content: 'Text <think>c</think>',
      reasoning: 'a\n\nb',
      unclosed: false,
    });
    expect(split('<think> \n</think>Done')).toEqual({ content: 'Done', reasoning: '', unclosed: false });
  });

  // Bug: a truncated thought passes for a finished one, or its last characters are lost.
  it('flags an unclosed tag and keeps what came', () => {
    expect(split('<think>half a thou')).toEqual({ content: '', reasoning: 'half a thou', unclosed: true });
    expect(split('<think>a </thin')).toEqual({ content: '', reasoning: 'a </thin', unclosed: true });
    expect(split('<think>other </reasoning> tag')).toMatchObject({ reasoning: 'other </reasoning> tag', unclosed: true });
  });

  // Bug: a tag, or the white space around it, that falls on a chunk border is seen differently.
  it('does not depend on where the text is cut', () => {
    const token = fc.oneof(
      fc.constantFrom('<think>', '</think>', '<thinking>', '</thinking>', '<REASONING_SCRATCHPAD>', '</REASONING_SCRATCHPAD>', '</Think>', '<', '</', '>', ' ', '\n', 'a', '`', '好', '🪽', 'think'),
      fc.string({ unit: 'binary', maxLength: 6 }),
    );
    const text = fc.array(token, { maxLength: 14 }).map((tokens) => tokens.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 12 }), (whole, borders) => {
        const at = [...new Set(borders.map((border) => border % (whole.length + 1)))].sort((a, b) => a - b);
        const pieces = [0, ...at].map((from, index) => whole.slice(from, at[index]));
        expect(pieces.join('')).toBe(whole);
        expect(split(...pieces)).toEqual(split(whole));
        expect(split(...Array.from({ length: whole.length }, (_, index) => whole.charAt(index)))).toEqual(split(whole));
      }),
      { numRuns: 1500 },
    );
  });

  // Bug: any part of the answer vanishes: what is neither tag nor white space must come out again, in order.
  it('loses nothing', () => {
    const word = fc.stringMatching(/^[a-z<>/ ]{1,12}$/);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 3 }), word, (thoughts, answer) => {
        fc.pre(thoughts.every((thought) => !thought.includes('<')) && !answer.includes('<') && answer.trim() !== '');
        const result = split(`${thoughts.map((thought) => `<think>${thought}</think>\n`).join('')}${answer}`);
        expect(result.content).toBe(thoughts.length === 0 ? answer : answer.trimStart());
        expect(result.reasoning).toBe(thoughts.map((thought) => thought.trim()).filter((thought) => thought !== '').join('\n\n'));
      }),
    );
  });
});

describe('splitOrphanClose', () => {
  // Bug: with templates that open the tag in the prompt, the whole reasoning becomes the answer.
  it('takes what precedes a lone closing line as reasoning', () => {
    expect(splitOrphanClose('I should greet.\n</think>\n\nHello!')).toEqual({ reasoning: 'I should greet.', content: 'Hello!' });
  });

  // Bug: an answer that shows the tag in a sentence or in a code block is cut in two.
  it('ignores closing tags in running text and in code', () => {
    expect(splitOrphanClose('Close it with </think> at the end.')).toBeNull();
    expect(splitOrphanClose('```\nx\n</think>\n```\nDone.')).toBeNull();
  });
});
