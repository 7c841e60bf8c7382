import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolSpec } from '#shared/trajectory.ts';
import { createAnswerAssembler } from './answer-assembler.ts';
import type { ChatAnswer, ModelEvent } from './types.ts';

const TOOLS: ToolSpec[] = [
  { name: 'terminal', description: '', parameters: { type: 'object', properties: { command: { type: 'string' }, timeout: { type: 'integer' }, background: { type: 'boolean' } } } },
  { name: 'read_file', description: '', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
  { name: 'web_search', description: '', parameters: { type: 'object' } },
];

interface Read {
  answer: ChatAnswer;
  channels: Record<string, string>;
}

/** Reads a text in pieces that end at the given places. */
function read(text: string, cuts: readonly number[] = [], tools: readonly ToolSpec[] = TOOLS): Read {
  const assembler = createAnswerAssembler({ takenIds: new Set(), turn: 3, tools });
  const events: ModelEvent[] = [];
  let from = 0;
  for (const to of [...new Set([...cuts.filter((cut) => cut < text.length), text.length])].toSorted((a, b) => a - b)) {
    events.push(...assembler.push({ choices: [{ delta: { content: text.slice(from, to) } }] }));
    from = to;
  }
  const { answer, rest } = assembler.finish(0);
  const channels: Record<string, string> = {};
  for (const event of [...events, ...rest]) if (event.type === 'delta') channels[event.channel] = (channels[event.channel] ?? '') + event.text;
  return { answer, channels };
}
const callsOf = ({ answer }: Read): [string, unknown][] => answer.toolCalls.map((call) => [call.name, JSON.parse(call.arguments) as unknown]);

const ONE = [['terminal', { command: 'echo "</tool_call> }"' }]];
const arguments_ = JSON.stringify({ command: 'echo "</tool_call> }"' });
const FORMS: [string, string, unknown[]][] = [
  ['Hermes and Qwen', `<tool_call>\n{"name": "terminal", "arguments": ${arguments_}}\n</tool_call>`, ONE],
  ['two of Hermes', `<tool_call>\n{"name": "terminal", "arguments": ${arguments_}}\n</tool_call>\n<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>`, [...ONE, ['read_file', { path: 'a' }]]],
  ['Hermes, the end left out', `<tool_call>{"name": "terminal", "arguments": ${arguments_}}`, ONE],
  ['Hermes, arguments as a string', `<tool_call>{"name": "terminal", "arguments": ${JSON.stringify(arguments_)}}</tool_call>`, ONE],
  ['Qwen3-Coder', '<tool_call>\n<function=terminal>\n<parameter=command>\nls -l\n  cat x\n</parameter>\n<parameter=timeout>\n30\n</parameter>\n<parameter=background>\nTrue\n</parameter>\n</function>\n</tool_call>', [['terminal', { command: 'ls -l\n  cat x', timeout: 30, background: true }]]],
  ['Qwen3-Coder, without tool_call', '<function=read_file>\n<parameter=path>\n12\n</parameter>\n</function>', [['read_file', { path: '12' }]]],
  ['Llama, function tag', '<function=read_file>{"path": "a"}</function>', [['read_file', { path: 'a' }]]],
  ['GLM', '<tool_call>terminal\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n<arg_key>timeout</arg_key>\n<arg_value>5</arg_value>\n</tool_call>', [['terminal', { command: 'ls', timeout: 5 }]]],
  ['Mistral, list', `[TOOL_CALLS] [{"name": "terminal", "arguments": ${arguments_}}, {"name": "read_file", "arguments": {"path": "a"}}]`, [...ONE, ['read_file', { path: 'a' }]]],
  ['Mistral, head', `[TOOL_CALLS]terminal[CALL_ID]abc123xyz[ARGS]${arguments_}[TOOL_CALLS]read_file{"path":"a"}</s>`, [...ONE, ['read_file', { path: 'a' }]]],
  ['Llama 3.1', `<|python_tag|>{"name": "terminal", "parameters": ${arguments_}}; {"name": "read_file", "parameters": {"path": "a"}}<|eom_id|>`, [...ONE, ['read_file', { path: 'a' }]]],
  ['Llama, bare', `{"name": "terminal", "parameters": ${arguments_}}`, ONE],
  ['DeepSeek V3', `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>terminal\n\`\`\`json\n${arguments_}\n\`\`\`<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n\`\`\`json\n{"path":"a"}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, [...ONE, ['read_file', { path: 'a' }]]],
  ['DeepSeek V3.1', `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>terminal<｜tool▁sep｜>${arguments_}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, ONE],
  ['DeepSeek V3.2', '<｜DSML｜function_calls>\n<｜DSML｜invoke name="terminal">\n<｜DSML｜parameter name="command" string="true">ls</｜DSML｜parameter>\n<｜DSML｜parameter name="timeout" string="false">5</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>', [['terminal', { command: 'ls', timeout: 5 }]]],
  ['Kimi K2', `<|tool_calls_section_begin|><|tool_call_begin|>functions.terminal:0<|tool_call_argument_begin|>${arguments_}<|tool_call_end|><|tool_calls_section_end|>`, ONE],
  ['invoke', '<function_calls>\n<invoke name="terminal">\n<parameter name="command">ls</parameter>\n</invoke>\n<invoke name="read_file">\n<parameter name="path">a</parameter>\n</invoke>\n</function_calls>', [['terminal', { command: 'ls' }], ['read_file', { path: 'a' }]]],
  ['MiniMax', '<minimax:tool_call>\n<invoke name="read_file">\n<parameter name="path">a</parameter>\n</invoke>\n</minimax:tool_call>', [['read_file', { path: 'a' }]]],
  ['fence', `\`\`\`json\n{"name": "terminal", "arguments": ${arguments_}}\n\`\`\``, ONE],
];

describe('calls as text', () => {
  // Bug: a model without a native tool parser never acts: its call is shown to the person as text.
  it.each(FORMS)('%s', (_, text, calls) => {
    const before = text.startsWith('{') ? '' : 'I look first.\n\n';
    const whole = read(before + text);
    expect(callsOf(whole)).toEqual(calls);
    expect(whole.answer.content).toBe(before.trim());
    expect((whole.channels.content ?? '').trim()).toBe(before.trim());
    expect(whole.channels.tool).toBeDefined();
    expect(whole.answer.toolCalls.map(({ id }) => id)).toEqual(calls.map((_call, at) => `call_3_${at}`));
  });

  // Bug: a tag torn by the borders of the stream shows half of itself, or is missed.
  it('reads the same however the text is cut', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FORMS), fc.array(fc.nat(400), { maxLength: 60 }), fc.constantFrom('', 'Let me see.\n'), (form, cuts, before) => {
        const text = (form[1].startsWith('{') ? '' : before) + form[1];
        const cut = read(text, cuts);
        const everywhere = read(text, Array.from({ length: text.length }, (_, at) => at + 1));
        expect(callsOf(cut)).toEqual(form[2]);
        expect(cut.answer).toEqual(everywhere.answer);
        expect((cut.channels.content ?? '').trim()).toBe(cut.answer.content);
        expect((everywhere.channels.content ?? '').trim()).toBe(cut.answer.content);
      }),
    );
  });

  // Bug: numbers and key order change on the way, so the stored call is not what the model wrote.
  it('keeps the arguments as they were written', () => {
    expect(read('<tool_call>{"name":"terminal","arguments":{"b": 1.0,  "a":1e3}}</tool_call>').answer.toolCalls[0]?.arguments).toBe('{"b": 1.0,  "a":1e3}');
  });

  // Bug: a call that breaks off, or is not valid JSON, ends the run as if it were an answer.
  it('gives broken arguments on as they are', () => {
    expect(read('<tool_call>{"name":"terminal","arguments":{"command":"ls').answer.toolCalls).toMatchObject([{ name: 'terminal', arguments: '{"command":"ls' }]);
    expect(read('<tool_call>{"name":"terminal","arguments":{"command":"ls",}}</tool_call>').answer.toolCalls).toMatchObject([{ arguments: '{"command":"ls",}' }]);
  });

  it.each([
    ['case and hyphen', '<tool_call>{"name":"Read-File","arguments":{}}</tool_call>', 'read_file'],
    ['a letter too few', '<tool_call>{"name":"web_serch","arguments":{}}</tool_call>', 'web_serch'],
  ])('takes a name that is nearly right: %s', (_, text, name) => {
    expect(read(text).answer.toolCalls).toMatchObject([{ name }]);
  });
});

describe('text that is no call', () => {
  const call = '<tool_call>{"name":"terminal","arguments":{"command":"ls"}}</tool_call>';
  // Bug: an answer that explains tool calls runs one, or loses the explanation.
  it.each([
    ['in a fence', `Write it like this:\n\n\`\`\`xml\n${call}\n\`\`\`\n`],
    ['in backticks', `Models write \`${call}\` or \`<function=terminal>\`.`],
    ['the tag alone', 'A <tool_call> tag begins a call, [TOOL_CALLS] too, and <function=x> as well. <invoke'],
    ['a tool nobody offered', '<tool_call>{"name":"launch_rocket","arguments":{}}</tool_call>'],
    ['a tool nobody offered, by tag', '<function=launch>\n<parameter=a>\n1\n</parameter>\n</function>'],
    ['a fence with text behind it', '```json\n{"name":"terminal","arguments":{"command":"ls"}}\n```\nThat is how a call looks.'],
    ['a fence with another thing', '```json\n{"name":"terminal","version":"1.0.0","arguments":{}}\n```'],
    ['a package file', '```json\n{\n  "name": "my-package",\n  "version": "1.0.0"\n}\n```'],
    ['JSON as the answer', '{"name": "Ada", "arguments": ["a"]}'],
    ['JSON with text behind it', '{"name":"terminal","arguments":{"command":"ls"}}\n\nis the call.'],
    ['python code for a tool', '<|python_tag|>print(1)'],
    ['spaces and lines', '  a\n\n  b  \n'],
  ])('%s', (_, text) => {
    for (const cuts of [[], Array.from({ length: text.length }, (_unused, at) => at + 1)]) {
      const { answer, channels } = read(text, cuts);
      expect(answer.toolCalls).toEqual([]);
      expect(answer.content).toBe(text);
      expect(channels.content).toBe(text);
    }
  });

  // Bug: without tools, or beside native calls, text is run.
  it('needs offered tools and no native calls', () => {
    expect(read(call, [], []).answer).toMatchObject({ content: call, toolCalls: [] });
    const assembler = createAnswerAssembler({ takenIds: new Set(), turn: 0, tools: TOOLS });
    assembler.push({ choices: [{ delta: { content: `So: ${call}` } }] });
    assembler.push({ choices: [{ delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'read_file', arguments: '{}' } }] } }] });
    expect(assembler.finish(0).answer).toMatchObject({ content: `So: ${call}`, toolCalls: [{ id: 'a', name: 'read_file' }] });
  });

  // Bug: any text at all makes the reader lose or double characters.
  it('loses nothing of a text without calls', () => {
    const words = fc.constantFrom('<tool_call>', '</tool_call>', '{', '}', '"name"', ':', '"x"', '`', '```json\n', '```\n', '\n', ' ', '<function=', 'a', '[TOOL_CALLS]', '<invoke name="', '<|python_tag|>', '<think', '[', ']');
    fc.assert(
      fc.property(fc.array(words, { maxLength: 30 }), fc.array(fc.nat(200), { maxLength: 20 }), (parts, cuts) => {
        const text = `.${parts.join('')}`;
        const { answer, channels } = read(text, cuts);
        expect(answer.content).toBe(text);
        expect(channels.content).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});
