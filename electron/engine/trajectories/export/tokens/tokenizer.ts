import { existsSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import type { OpenAiMessage } from '../atropos/messages.ts';
import { ChatTemplate, TemplateError } from './template.ts';

/** A folder that cannot be used, in a sentence that says what to do. */
export class TokenizerError extends Error {
  override name = 'TokenizerError';
}

export interface FoundTemplate {
  template: ChatTemplate;
  /** The file, and of several templates in it the name. */
  source: string;
  /** Whether what it writes depends on the tools. */
  takesTools: boolean;
}

export interface LoadedTokenizer {
  /** Ids of a text, no special tokens added: templates write their own. */
  encode(text: string): number[];
  /** The template for conversations with tools and for those without; most folders have one for both. */
  template(withTools: boolean): FoundTemplate;
  eosTokenId: number | null;
  /** Texts that become control tokens wherever they stand. */
  control: readonly string[];
}

const MAX_BYTES = 200 * 1024 * 1024;
const SPECIAL = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'] as const;

// what tokenizers get wrong: white space, line ends, digits, other scripts, combined and rare characters, code
const PROBES = [
  'Hello, world! It\'s 12345 o\'clock.',
  '  two spaces\tand a tab \n\nline ends\r\nof both kinds ',
  '中文,日本語、한국어 и русский, ελληνικά, العربية',
  '👩🏽‍💻 naïve café 𝒜 € ½ ſ',
  'for (let i = 0; i < n; i++) {\n    x[i] = {"a": [1.5, -2e-7]};\n}\n',
];

/**
 * Reads a tokenizer as `AutoTokenizer.from_pretrained` would find it: `tokenizer.json`, `tokenizer_config.json`, and the chat template
 * from `chat_template.jinja`, else from the configuration (one, or several of which `tool_use` is for tools and `default` for all else).
 * It is tried out before it may make tokens.
 * @throws TokenizerError
 */
export function loadTokenizer(folder: string): LoadedTokenizer {
  if (!isAbsolute(folder)) throw new TokenizerError('Give the folder of the tokenizer as an absolute path.');
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new TokenizerError(`There is no folder ${folder}.`);
  const model = readJson(join(folder, 'tokenizer.json'));
  if (model === null) throw new TokenizerError(`${folder} has no tokenizer.json. Choose the folder of a model or of its tokenizer.`);
  const config = readJson(join(folder, 'tokenizer_config.json')) ?? {};
  const special = specialTokens(config, readJson(join(folder, 'special_tokens_map.json')) ?? {});
  const templates = findTemplates(folder, config).map(({ name, source, text }) => ({ name, ...tryTemplate(parseTemplate(text, special, source), source) }));
  let tokenizer: Tokenizer;
  try {
    tokenizer = new Tokenizer(model, config);
  } catch (error) {
    throw new TokenizerError(`${join(folder, 'tokenizer.json')} cannot be used: ${(error as Error).message}`);
  }
  const encode = (text: string): number[] => {
    const { ids } = tokenizer.encode(text, { add_special_tokens: false });
    if (ids.some((id) => !Number.isInteger(id) || id < 0)) throw new TokenizerError('The tokenizer gave something else than token ids.');
    return ids;
  };
  tryOut(encode, tokenizer, special);
  const eos = special['eos_token'] === undefined ? undefined : tokenizer.token_to_id(special['eos_token']);
  const general = templates.find((t) => t.name === 'default') ?? templates[0]!;
  const forTools = templates.find((t) => t.name === 'tool_use') ?? general;
  return { encode, template: (withTools) => (withTools ? forTools : general), eosTokenId: eos ?? null, control: controlTokens(model) };
}

function readJson(path: string): Record<string, unknown> | null {
  if (!existsSync(path)) return null;
  if (statSync(path).size > MAX_BYTES) throw new TokenizerError(`${path} is larger than 200 MiB, which no tokenizer is.`);
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    throw new TokenizerError(`${path} cannot be read: ${(error as Error).message}`);
  }
  throw new TokenizerError(`${path} is not a JSON object.`);
}

function specialTokens(...configs: readonly Record<string, unknown>[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of SPECIAL) {
    for (const config of configs) {
      const value = config[name];
      const text = typeof value === 'object' && value !== null ? (value as { content?: unknown }).content : value;
      if (typeof text === 'string') found[name] ??= text;
    }
  }
  return found;
}

function controlTokens({ added_tokens: added }: Record<string, unknown>): string[] {
  return (Array.isArray(added) ? added : []).flatMap((entry: unknown) => {
    const { content, special } = (entry ?? {}) as { content?: unknown; special?: unknown };
    return special === true && typeof content === 'string' && content !== '' ? [content] : [];
  });
}

function findTemplates(folder: string, config: Record<string, unknown>): { name: string; source: string; text: string }[] {
  const file = join(folder, 'chat_template.jinja');
  if (existsSync(file)) {
    const found = [{ name: 'default', source: 'chat_template.jinja', text: readFileSync(file, 'utf8') }];
    const tools = join(folder, 'additional_chat_templates', 'tool_use.jinja');
    if (existsSync(tools)) found.push({ name: 'tool_use', source: 'additional_chat_templates/tool_use.jinja', text: readFileSync(tools, 'utf8') });
    return found;
  }
  const stored = config['chat_template'];
  if (typeof stored === 'string') return [{ name: 'default', source: 'tokenizer_config.json', text: stored }];
  const named = (Array.isArray(stored) ? stored : []).flatMap((entry: unknown) => {
    const { name, template } = (entry ?? {}) as { name?: unknown; template?: unknown };
    return typeof name === 'string' && typeof template === 'string' ? [{ name, source: `tokenizer_config.json (${name})`, text: template }] : [];
  });
  if (named.length > 0) return named;
  throw new TokenizerError(`${folder} has no chat template, neither as chat_template.jinja nor in tokenizer_config.json. Choose an instruct model's folder, or put a template there.`);
}

function parseTemplate(text: string, special: Record<string, string>, source: string): ChatTemplate {
  try {
    return new ChatTemplate(text, special);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new TokenizerError(`The chat template in ${source} cannot be read: ${error.message}`);
  }
}

/** A tokenizer of a kind that is not understood gives other ids, and texts do not come back from them. */
function tryOut(encode: (text: string) => number[], tokenizer: Tokenizer, special: Record<string, string>): void {
  for (const probe of PROBES) {
    let back: string;
    try {
      back = tokenizer.decode(encode(probe), { skip_special_tokens: false, clean_up_tokenization_spaces: false });
    } catch (error) {
      throw new TokenizerError(`The tokenizer fails on a test text: ${(error as Error).message}`);
    }
    // some put a space before the first word
    if (back !== probe && back !== ` ${probe}`) throw new TokenizerError(`The tokenizer does not give a test text back (${JSON.stringify(probe.slice(0, 24))} came back as ${JSON.stringify(back.slice(0, 24))}), so its tokens cannot be trusted. Export without it and use tokenize_groups.py.`);
  }
  for (const [name, token] of Object.entries(special)) {
    if (['bos_token', 'eos_token'].includes(name) && encode(token).length !== 1) throw new TokenizerError(`The ${name} ${JSON.stringify(token)} is not one token of tokenizer.json. The files of the folder do not belong together.`);
  }
}

function tryTemplate(template: ChatTemplate, source: string): FoundTemplate {
  const messages: OpenAiMessage[] = [
    { role: 'user', content: 'question' },
    { role: 'assistant', content: 'answer', reasoning_content: '' },
  ];
  const tools = '[{"type": "function", "function": {"name": "probe", "description": "probe", "parameters": {"type": "object", "properties": {}}}}]';
  const render = (offered: string | null): string => template.render({ messages, tools: offered }, false);
  try {
    const text = render(null);
    if (!text.includes('question') || !text.includes('answer')) throw new TemplateError('it does not write the messages');
    return { template, source, takesTools: render(tools) !== text };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new TokenizerError(`The chat template in ${source} cannot be used: ${error.message}`);
  }
}
