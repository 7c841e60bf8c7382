import { Template } from '@huggingface/jinja';
import type { OpenAiMessage } from '../atropos/messages.ts';
import { pack, unpack } from './python-numbers.ts';

/** One conversation as a template gets it. */
export interface Conversation {
  messages: readonly OpenAiMessage[];
  /** JSON text of the list of tools in OpenAI's shape; null when none were offered. */
  tools: string | null;
}

/** The template cannot render this conversation; the message says why in the template's or the engine's words. */
export class TemplateError extends Error {
  override name = 'TemplateError';
}

// tags that Hugging Face's own Jinja extension knows and Jinja does not: they mark what the model wrote
const MARKER = /\{%(-?)\s*(end)?generation\s*(-?)%\}/g;

/** A chat template as `transformers` would render it: same white space around blocks, same variables. */
export class ChatTemplate {
  /** Whether `{% generation %}` marks what the model wrote. */
  readonly marksGeneration: boolean;
  readonly #plain: Template;
  readonly #marked: Template | null;
  readonly #special: Record<string, string>;

  /**
   * @param source Jinja
   * @param special `bos_token`, `eos_token` and their like, as text
   * @throws TemplateError when it is not Jinja that this engine can read
   */
  constructor(source: string, special: Record<string, string>) {
    this.marksGeneration = source.search(MARKER) >= 0;
    this.#special = special;
    try {
      this.#plain = new Template(source);
      // blocks in place of the tags, so that Jinja's rules for white space around blocks go on to hold
      const block = (_: string, left: string, end: string | undefined, right: string): string => `{%${left} if true %}{{ ${end ? 'generation_close__' : 'generation_open__'} }}{% endif ${right}%}`;
      this.#marked = this.marksGeneration ? new Template(source.replace(MARKER, block)) : null;
    } catch (error) {
      throw new TemplateError((error as Error).message, { cause: error });
    }
  }

  /** The text of a conversation, with what asks for the next answer when `ask` says so. */
  render(conversation: Conversation, ask: boolean): string {
    const [mark] = unused(conversation);
    return unpack(this.#render(this.#plain, conversation, ask, mark, {}), mark);
  }

  /** The text in pieces: every other one, from the second on, is what the model wrote. Only with `marksGeneration`. */
  renderPieces(conversation: Conversation): string[] {
    const [mark, open, close] = unused(conversation);
    const text = unpack(this.#render(this.#marked!, conversation, false, mark, { generation_open__: open, generation_close__: close }), mark);
    const pieces = text.split(new RegExp(`[${open}${close}]`));
    const order = text.replace(new RegExp(`[^${open}${close}]`, 'gu'), '');
    if (order !== (open + close).repeat(order.length / 2)) throw new TemplateError('its generation markers do not come in pairs');
    return pieces;
  }

  #render(template: Template, { messages, tools }: Conversation, ask: boolean, mark: string, more: Record<string, string>): string {
    try {
      return template.render({
        ...this.#special,
        messages: messages.map((message) => forTemplate(message, mark)),
        tools: tools === null ? undefined : pack(tools, mark),
        add_generation_prompt: ask,
        ...more,
      });
    } catch (error) {
      throw new TemplateError((error as Error).message, { cause: error });
    }
  }
}

/** As templates expect a message: no empty reasoning, and arguments as an object, which inference servers give them too. */
function forTemplate(message: OpenAiMessage, mark: string): Record<string, unknown> {
  if (message.role !== 'assistant') return { ...message };
  const { role, content, reasoning_content, tool_calls } = message;
  return {
    role,
    content,
    ...(reasoning_content === '' ? {} : { reasoning_content }),
    ...(tool_calls ? { tool_calls: tool_calls.map((call) => ({ ...call, function: { name: call.function.name, arguments: pack(call.function.arguments, mark) } })) } : {}),
  };
}

/** Three characters of Unicode's private use area that a conversation does not hold. */
function unused({ messages, tools }: Conversation): [string, string, string] {
  const all = JSON.stringify(messages) + (tools ?? '');
  // escapes in the texts of calls and tools become characters when they are parsed
  const holds = (c: string): boolean => all.includes(c) || all.toLowerCase().includes(`\\u${c.charCodeAt(0).toString(16)}`);
  const found: string[] = [];
  for (let code = 0xe000; found.length < 3 && code < 0xf900; code++) if (!holds(String.fromCharCode(code))) found.push(String.fromCharCode(code));
  if (found.length < 3) throw new TemplateError('the conversation uses every private character of Unicode');
  return found as [string, string, string];
}
