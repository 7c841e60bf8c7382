import { describe, expect, it } from 'vitest';
import type { Message } from '#shared/trajectory.ts';
import { runSpecSchema } from '#shared/contract/runs.ts';
import { learnFrom, nothingLearnt } from './learnt.ts';
import { choiceOfRun } from './run-model.ts';
import { ModelError, type Endpoint, type ReasoningEffort } from './types.ts';
import { wireBody } from './wire.ts';

const user: Message = { role: 'user', content: 'hi', createdAt: 1 };
const at = (baseUrl: string, provider = 'custom'): Endpoint => ({ provider, baseUrl, apiKey: null, model: 'm' });
type Body = Record<string, unknown> & { messages: Record<string, unknown>[] };
const bodyOf = (endpoint: Endpoint, request: Partial<Parameters<typeof wireBody>[0]> = {}, more: Partial<Parameters<typeof wireBody>[3]> = {}): Body =>
  wireBody({ messages: [], tools: [], ...request }, request.messages ?? [user], endpoint, { learnt: nothingLearnt(), pictures: new Map(), ...more }) as unknown as Body;

const OPENROUTER = at('https://openrouter.ai/api/v1', 'openrouter');
const OPENAI = at('https://api.openai.com/v1', 'openai');
const DEEPSEEK = at('https://api.deepseek.com', 'deep');
const VLLM = at('http://gpu:8000/v1', 'vllm-2');

describe('effort', () => {
  const template = (on: boolean, more: object = {}) => ({ chat_template_kwargs: { enable_thinking: on, thinking: on, ...more } });
  // Bug: "none" is not sent, so the model thinks as long as it likes; a server refuses a value that is another's.
  it.each<[string, Endpoint, ReasoningEffort, object]>([
    ['OpenRouter', OPENROUTER, 'none', { reasoning: { effort: 'none' } }],
    ['OpenRouter', OPENROUTER, 'xhigh', { reasoning: { effort: 'xhigh' } }],
    ['OpenAI', OPENAI, 'none', { reasoning_effort: 'none' }],
    ['OpenAI', OPENAI, 'minimal', { reasoning_effort: 'minimal' }],
    ['Nous', at('https://inference-api.nousresearch.com/v1'), 'none', { reasoning: { enabled: false } }],
    ['Nous', at('https://inference-api.nousresearch.com/v1'), 'high', { reasoning: { enabled: true, effort: 'high' } }],
    ['Ollama', at('http://127.0.0.1:11434/v1', 'ollama'), 'none', { reasoning_effort: 'none' }],
    ['Ollama by its port', at('http://box:11434/v1', 'my-box'), 'xhigh', { reasoning_effort: 'high' }],
    ['LM Studio', at('http://127.0.0.1:1234/v1', 'lmstudio'), 'minimal', { reasoning_effort: 'low' }],
    ['vLLM', VLLM, 'none', template(false)],
    ['vLLM', VLLM, 'xhigh', { reasoning_effort: 'high', ...template(true) }],
    ['SGLang', at('http://gpu:30000/v1', 'box'), 'none', template(false)],
    ['llama.cpp', at('http://127.0.0.1:8080/v1', 'llamacpp'), 'none', template(false)],
    ['llama.cpp', at('http://127.0.0.1:8080/v1', 'llamacpp'), 'low', template(true, { reasoning_effort: 'low' })],
    ['DeepSeek', DEEPSEEK, 'none', { thinking: { type: 'disabled' } }],
    ['DeepSeek', DEEPSEEK, 'medium', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    ['DeepSeek', DEEPSEEK, 'minimal', { thinking: { type: 'enabled' }, reasoning_effort: 'low' }],
    ['Z.ai', at('https://api.z.ai/api/paas/v4'), 'none', { thinking: { type: 'disabled' } }],
    ['unknown', at('https://llm.example.com/v1'), 'none', { reasoning_effort: 'none' }],
    ['unknown', at('http://127.0.0.1:8000/v1', 'mine'), 'high', { reasoning_effort: 'high' }],
  ])('%s (%#): %s', (_, endpoint, reasoningEffort, fields) => {
    const { model: _model, messages: _messages, stream: _stream, stream_options: _options, ...rest } = bodyOf(endpoint, { reasoningEffort });
    expect(rest).toEqual(fields);
    expect(Object.keys(bodyOf(endpoint)).filter((key) => /reason|think|template/.test(key))).toEqual([]);
  });
});

describe('OpenRouter', () => {
  // Bug: routing is dropped, or sent to servers that refuse it.
  it('gets the routing, others do not', () => {
    const routing = { order: ['deepinfra'], allow_fallbacks: false };
    expect(bodyOf(OPENROUTER, {}, { routing }).provider).toEqual(routing);
    expect(bodyOf(OPENROUTER, {}, { routing: {} })).not.toHaveProperty('provider');
    expect(bodyOf(OPENAI, {}, { routing })).not.toHaveProperty('provider');
  });

  // Bug: options of a run about OpenRouter's providers never arrive, or the least coding score goes to servers that refuse unknown fields.
  it('gets what a run says of it', () => {
    const spec = runSpecSchema.parse({ datasetFile: 'd', runName: 'r', provider: 'openrouter', model: 'm', providersAllowed: ['a'], providersIgnored: ['b'], providersOrder: ['c', 'd'], providerSort: 'latency', openrouterMinCodingScore: 0.7 });
    const { routing, plugins } = choiceOfRun(spec);
    const body = bodyOf(OPENROUTER, {}, { routing, plugins });
    expect(body.provider).toEqual({ only: ['a'], ignore: ['b'], order: ['c', 'd'], sort: 'latency' });
    expect(body.plugins).toEqual([{ id: 'pareto-router', min_coding_score: 0.7 }]);
    expect(bodyOf(VLLM, {}, { routing, plugins })).not.toHaveProperty('plugins');
    expect(bodyOf(OPENROUTER, {}, choiceOfRun(runSpecSchema.parse({ datasetFile: 'd', runName: 'r' })))).not.toHaveProperty('provider');
  });
});

describe('sampling', () => {
  // Bug: an option of sampling is dropped, or sent as "undefined" to servers that refuse it.
  it('is sent as asked, and not at all otherwise', () => {
    expect(bodyOf(VLLM, { temperature: 0, topP: 0.9, maxTokens: 5 })).toMatchObject({ temperature: 0, top_p: 0.9, max_tokens: 5 });
    for (const name of ['temperature', 'top_p', 'max_tokens']) expect(bodyOf(VLLM)).not.toHaveProperty(name);
  });
});

describe('replayed reasoning', () => {
  const details = [{ type: 'reasoning.encrypted', data: 'x', id: 'r1', index: 0 }, { type: 'reasoning.text', text: 'hm', signature: 's' }];
  const call = { id: 'a', name: 't', arguments: '{}' };
  const thought: Message = { role: 'assistant', content: '', reasoning: 'hm', reasoningDetails: details, toolCalls: [call], createdAt: 1 };
  const { reasoning: _r, reasoningDetails: _d, ...silent } = thought;
  const sent = (endpoint: Endpoint, message: Message, learnt = nothingLearnt()) => bodyOf(endpoint, { messages: [user, message] }, { learnt }).messages[1];

  // Bug (hermes-agent #20577, #56004, #24443): reasoning is not sent back, or its signatures are changed, and the next call is refused.
  it('goes back as it came to those who need it, and not to those who refuse it', () => {
    for (const endpoint of [OPENROUTER, VLLM, DEEPSEEK, at('https://llm.example.com/v1')]) {
      expect(sent(endpoint, thought)).toMatchObject({ reasoning_content: 'hm', reasoning_details: details });
    }
    for (const endpoint of [OPENAI, at('https://api.mistral.ai/v1'), at('https://api.groq.com/openai/v1')]) {
      expect(Object.keys(sent(endpoint, thought) ?? {})).toEqual(['role', 'content', 'tool_calls']);
    }
  });

  // Bug: a chat begun with another model cannot go on with DeepSeek or Kimi: calls without reasoning are refused, and an empty text is none.
  it('is stood in for where a call must have some', () => {
    expect(sent(DEEPSEEK, silent)).toMatchObject({ reasoning_content: ' ' });
    expect(sent(at('https://api.moonshot.ai/v1'), silent)).toMatchObject({ reasoning_content: ' ' });
    expect(sent(DEEPSEEK, { role: 'assistant', content: 'ok', createdAt: 1 })).not.toHaveProperty('reasoning_content');
    const learnt = nothingLearnt();
    const gateway = at('https://gateway.example.com/v1');
    expect(sent(gateway, silent, learnt)).not.toHaveProperty('reasoning_content');
    const refused = new ModelError('bad_request', '', { providerMessage: 'The `reasoning_content` in the thinking mode must be passed back to the API.' });
    expect(learnFrom(learnt, refused, { effort: undefined, pictures: false, replayed: false, userAfterTool: false })).toBe(true);
    expect(sent(gateway, silent, learnt)).toMatchObject({ reasoning_content: ' ' });
    expect(learnFrom(learnt, refused, { effort: undefined, pictures: false, replayed: false, userAfterTool: false })).toBe(false);
  });
});

describe('learnFrom', () => {
  const learn = (message: string, more: { effort?: ReasoningEffort; pictures?: boolean; replayed?: boolean; code?: 'bad_request' | 'server' | 'not_found' } = {}, learnt = nothingLearnt()) => {
    const { code = 'bad_request', effort, pictures = false, replayed = false } = more;
    return { again: learnFrom(learnt, new ModelError(code, '', { providerMessage: message }), { effort, pictures, replayed, userAfterTool: false }), learnt };
  };

  // Bug: a model that knows fewer efforts fails every call, or an effort is dropped where a near one would do.
  it('asks for the nearest effort that the server names, else for none', () => {
    const said = "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'low', 'medium', and 'high'.";
    const { again, learnt } = learn(said, { effort: 'xhigh' });
    expect([again, learnt.effort.get('xhigh')]).toEqual([true, 'high']);
    expect(bodyOf(OPENAI, { reasoningEffort: 'xhigh' }, { learnt }).reasoning_effort).toBe('high');
    expect(learn(said, { effort: 'xhigh' }, learnt)).toMatchObject({ again: true });
    expect(bodyOf(OPENAI, { reasoningEffort: 'xhigh' }, { learnt })).not.toHaveProperty('reasoning_effort');
    expect(learn("Input should be 'low', 'medium' or 'high' (reasoning_effort)", { effort: 'minimal' }).learnt.effort.get('minimal')).toBe('low');
    for (const message of ['Unrecognized request argument supplied: reasoning_effort', '"llama3.2" does not support thinking']) {
      expect([...learn(message, { effort: 'high' }).learnt.without]).toEqual(['reasoning_effort']);
    }
  });

  it.each([
    ["property 'messages.1.reasoning_content' is unsupported", 'reasoning_content'],
    ['Extra inputs are not permitted: chat_template_kwargs', 'chat_template_kwargs'],
    ["Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", 'max_tokens'],
  ])('leaves out what is refused by name: %s', (message, field) => {
    const { again, learnt } = learn(message);
    expect([again, ...learnt.without]).toEqual([true, field]);
    expect(learn(message, {}, learnt).again).toBe(false);
    expect(Object.keys(bodyOf(VLLM, { maxTokens: 5 }, { learnt }))).toContain(field === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens');
  });

  // Bug: after a change of models the signatures of the old one are refused, and the chat is stuck.
  it('leaves foreign signatures out', () => {
    expect([...learn('messages.1.content.0: Invalid `signature` in `thinking` block', { replayed: true }).learnt.without]).toEqual(['reasoning_details']);
  });

  // Bug: a plain mistake in a request is taken for something to learn from, and asked again.
  it.each(['temperature must be positive', 'The tool t has an invalid schema', 'max_tokens is too large'])('learns nothing from: %s', (message) => {
    expect(learn(message, { effort: 'high' }).again).toBe(false);
  });

  // Bug: a note or what a person said meanwhile stands behind a tool's result: Mistral and its templates refuse it at every call.
  it.each([
    ['bad_request', "Unexpected role 'user' after role 'tool'"],
    ['bad_request', 'After the optional system message, conversation roles must alternate user/assistant/user/assistant/...'],
    ['server', 'Value is not callable: raise_exception: Conversation roles must alternate user/assistant/user/assistant/...'],
  ] as const)('lets the assistant have a word between a result and a user message (%s: %s)', (code, message) => {
    const talk: Message[] = [user, { role: 'tool', content: 'r', toolCallId: 'a', createdAt: 1 }, user];
    const learnt = nothingLearnt();
    const roles = (endpoint: Endpoint): unknown[] => bodyOf(endpoint, { messages: talk }, { learnt }).messages.map((m) => m.role);
    const refused = new ModelError(code, '', { providerMessage: message });
    const sent = { effort: undefined, pictures: false, replayed: false };
    expect(roles(VLLM)).toEqual(['user', 'tool', 'user']);
    expect(roles(at('https://api.mistral.ai/v1'))).toEqual(['user', 'tool', 'assistant', 'user']);
    expect(learnFrom(learnt, refused, { ...sent, userAfterTool: false })).toBe(false);
    expect(learnFrom(learnt, refused, { ...sent, userAfterTool: true })).toBe(true);
    expect(roles(VLLM)).toEqual(['user', 'tool', 'assistant', 'user']);
    expect(learnFrom(learnt, refused, { ...sent, userAfterTool: true })).toBe(false);
  });

  it.each([
    ['not_found', 'No endpoints found that support image input'],
    ['server', 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'],
    ['bad_request', 'this model does not support image input'],
    ['bad_request', 'At most 0 image(s) may be provided; m is not a multimodal model'],
    ['bad_request', "Failed to deserialize: messages[0]: unknown variant `image_url`, expected `text`"],
    ['server', 'Failed to parse messages: Unsupported content part type: "image_url"'],
    ['server', 'can only concatenate str (not "list") to str'],
  ] as const)('knows when a model takes no pictures (%s: %s)', (code, message) => {
    expect([...learn(message, { code, pictures: true }).learnt.without]).toEqual(['pictures']);
    expect(learn(message, { code, pictures: false }).learnt.without.has('pictures')).toBe(false);
  });
});
