import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeTokenizer } from '../../../../../e2e/fixtures/tokenizers.ts';
import type { OpenAiMessage } from '../atropos/messages.ts';
import { generationMasks, IGNORED, prefixMasks, type Tokenized } from './masks.ts';
import { pack, pythonNumber, unpack } from './python-numbers.ts';
import { ChatTemplate } from './template.ts';
import { type LoadedTokenizer, loadTokenizer } from './tokenizer.ts';

let dir = '';
const loaded = {} as Record<'stable' | 'marked' | 'unstable', LoadedTokenizer>;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tokens-'));
  for (const name of ['stable', 'marked', 'unstable'] as const) loaded[name] = loadTokenizer(writeTokenizer(join(dir, name), name));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const call = (args: string) => [{ id: 'c1', type: 'function' as const, function: { name: 'read_file', arguments: args } }];
const TOOLS = '[{"type": "function", "function": {"name": "read_file", "description": "Read", "parameters": {"type": "object", "properties": {}}}}]';
const TALK: OpenAiMessage[] = [
  { role: 'system', content: 'You are an agent.' },
  { role: 'user', content: 'Read a.txt' },
  { role: 'assistant', content: 'Reading.', reasoning_content: 'I need it.', tool_calls: call('{"path": "a.txt", "n": 1.0}') },
  { role: 'tool', tool_call_id: 'c1', name: 'read_file', content: '<|im_end|>42' },
  { role: 'assistant', content: 'It is 42.', reasoning_content: '' },
];
const SECOND_ROUND: OpenAiMessage[] = [...TALK, { role: 'user', content: 'Sure?' }, { role: 'assistant', content: 'Yes.', reasoning_content: 'I saw it.' }];

/** The text of each stretch that is trained on. */
function trained({ tokens, masks }: Tokenized, text: string, encode: (t: string) => number[]): string[] {
  const runs: number[][] = [];
  masks.forEach((value, i) => {
    if (value === IGNORED) return;
    if (i === 0 || masks[i - 1] === IGNORED) runs.push([]);
    runs.at(-1)!.push(tokens[i]!);
  });
  // the texts are found again by their tokens: what is cut out of the whole has the same ids
  const found: string[] = [];
  for (const run of runs) {
    for (let start = 0; start < text.length && found.length < runs.length; start++) {
      const end = text.indexOf('<|im_end|>\n', start) + '<|im_end|>\n'.length;
      if (JSON.stringify(encode(text.slice(start, end))) === JSON.stringify(run)) {
        found.push(text.slice(start, end));
        break;
      }
    }
  }
  return found;
}

describe('masks', () => {
  // Bug: what tools answered or the headers of turns are trained on, or a part of what the model wrote is not.
  test('both ways train on what the model wrote, its end of turn included, and on nothing else', () => {
    for (const [name, masks] of [['stable', prefixMasks], ['marked', generationMasks]] as const) {
      const { template } = loaded[name].template(true);
      const { encode } = loaded[name];
      const made = masks(template, encode, { messages: SECOND_ROUND, tools: TOOLS }) as Tokenized;
      expect(made.masks.every((value, i) => value === IGNORED || value === made.tokens[i])).toBe(true);
      expect(made.tokens).toEqual(encode(made.text));
      expect(trained(made, made.text, encode)).toEqual([
        '<think>\nI need it.\n</think>\n\nReading.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "a.txt", "n": 1.0}}\n</tool_call><|im_end|>\n',
        'It is 42.<|im_end|>\n',
        '<think>\nI saw it.\n</think>\n\nYes.<|im_end|>\n',
      ]);
    }
    const conversation = { messages: SECOND_ROUND, tools: TOOLS };
    const a = prefixMasks(loaded.stable.template(true).template, loaded.stable.encode, conversation);
    expect(generationMasks(loaded.marked.template(true).template, loaded.marked.encode, conversation)).toEqual(a);
  });

  // Bug: a template that takes reasoning out of earlier answers gives shifted masks without a word.
  test('a template that rewrites earlier turns is refused where it does, and only there', () => {
    const { template } = loaded.unstable.template(true);
    expect(prefixMasks(template, loaded.unstable.encode, { messages: SECOND_ROUND, tools: null })).toBe('the chat template rewrites earlier turns');
    expect(prefixMasks(template, loaded.unstable.encode, { messages: TALK, tools: null })).toHaveProperty('masks');
  });

  // Bug: a token that is half the model's is trained on, or masked away.
  test('a token over the border is refused', () => {
    const template = new ChatTemplate("{% for m in messages %}{% generation %}{{ m.content[:2] }}{% endgeneration %}{{ m.content[2:] }}{% endfor %}", {});
    expect(generationMasks(template, loaded.stable.encode, { messages: [{ role: 'user', content: 'the' }], tools: null })).toBe('a token reaches over the border of what the model wrote');
  });

  // Bug: characters that serve as marks come from the conversation and cut it in other places.
  test('private characters of a conversation are text', () => {
    const odd = '\uE000\uE001\uE002 and {% generation %}';
    const messages: OpenAiMessage[] = [
      { role: 'user', content: odd },
      { role: 'assistant', content: odd, reasoning_content: '', tool_calls: call('{"a": "\\uE003", "7": 1e-7, "3": 12345678901234567890}') },
    ];
    const { template } = loaded.marked.template(false);
    const pieces = template.renderPieces({ messages, tools: null });
    expect(pieces).toHaveLength(3);
    expect(pieces[1]).toBe(`${odd}\n<tool_call>\n{"name": "read_file", "arguments": {"a": "\uE003", "7": 1e-07, "3": 12345678901234567890}}\n</tool_call><|im_end|>\n`);
  });
});

describe('numbers as Python prints them', () => {
  // Bug: 1.0 becomes 1, and a model learns calls that nobody made.
  test('floats by repr, ints as they stand', () => {
    const cases = { '1.0': '1.0', '1e-7': '1e-07', '-0.0': '-0.0', '-0': '0', '1E5': '100000.0', '1e16': '1e+16', '123456789012345.5': '123456789012345.5', '0.0001': '0.0001', '0.00001': '1e-05', '1.5e300': '1.5e+300', '9007199254740993': '9007199254740993', '1e999': 'Infinity', '0.1': '0.1', '100.25': '100.25' };
    expect(Object.fromEntries(Object.keys(cases).map((raw) => [raw, pythonNumber(raw)]))).toEqual(cases);
  });
  test('packed and unpacked, text in strings is left alone', () => {
    const json = '{"b": "1.0 and \\"2.0\\": 3.0", "2": [1.0, -1e-7], "1": {"__proto__": 2.50}}';
    const packed = pack(json, '\uE000');
    expect(unpack(JSON.stringify(packed), '\uE000')).toBe('{"b":"1.0 and \\"2.0\\": 3.0","2":[1.0,-1e-07],"1":{"__proto__":2.5}}');
  });
});

describe('folders', () => {
  const folder = (name: string, change: (path: string) => void): string => {
    const path = writeTokenizer(join(dir, name), 'stable');
    change(path);
    return path;
  };
  // Bug: an unfit folder fails in the middle of an export with the library's words, or makes tokens that are none.
  test('what is missing or does not fit is said in a sentence', () => {
    expect(() => loadTokenizer('relative')).toThrow(/absolute path/);
    expect(() => loadTokenizer(join(dir, 'none'))).toThrow(/There is no folder/);
    expect(() => loadTokenizer(dir)).toThrow(/no tokenizer\.json/);
    expect(() => loadTokenizer(folder('no-template', (f) => rmSync(join(f, 'chat_template.jinja'))))).toThrow(/no chat template/);
    expect(() => loadTokenizer(folder('broken', (f) => writeFileSync(join(f, 'chat_template.jinja'), '{% if %}')))).toThrow(/cannot be read/);
    expect(() => loadTokenizer(folder('silent', (f) => writeFileSync(join(f, 'chat_template.jinja'), 'hello')))).toThrow(/does not write the messages/);
    expect(() => loadTokenizer(folder('torn', (f) => writeFileSync(join(f, 'tokenizer.json'), '{"a":')))).toThrow(/cannot be read/);
    expect(() => loadTokenizer(folder('other', (f) => writeFileSync(join(f, 'tokenizer_config.json'), '{"eos_token": "<|eot_id|>"}')))).toThrow(/not one token/);
    expect(() =>
      loadTokenizer(folder('words', (f) => writeFileSync(join(f, 'tokenizer.json'), JSON.stringify({ added_tokens: [], normalizer: null, pre_tokenizer: { type: 'Whitespace' }, post_processor: null, decoder: null, model: { type: 'WordLevel', vocab: { '[UNK]': 0, hello: 1 }, unk_token: '[UNK]' } })))),
    ).toThrow(/does not give a test text back|cannot be used|fails/);
  });

  // Bug: the wrong one of two templates is taken, or one that another file overrides.
  test('the template: its own file first, then the configuration, by name', () => {
    expect(loadTokenizer(writeTokenizer(join(dir, 'config'), 'marked', { inConfig: true })).template(true)).toMatchObject({ source: 'tokenizer_config.json', takesTools: true });
    const named = folder('named', (f) => {
      rmSync(join(f, 'chat_template.jinja'));
      const template = '{% for m in messages %}{{ m.content }}{% endfor %}';
      writeFileSync(join(f, 'tokenizer_config.json'), JSON.stringify({ chat_template: [{ name: 'default', template }, { name: 'tool_use', template: `{{ tools | tojson }}${template}` }] }));
    });
    expect(loadTokenizer(named).template(false)).toMatchObject({ source: 'tokenizer_config.json (default)', takesTools: false });
    expect(loadTokenizer(named).template(true)).toMatchObject({ source: 'tokenizer_config.json (tool_use)', takesTools: true });
  });
});
