import type { Message } from '#shared/trajectory.ts';
import { typedText } from '#shared/attached.ts';
import { askModel } from './ask-model.ts';
import { requestSeqs, wholeHistory } from './history.ts';
import type { Rooms } from './rooms.ts';

const TITLE_CHARS = 80;
const ASKED_CHARS = 2_000;
const ANSWERED_CHARS = 1_000;
const TIMEOUT_MS = 60_000;
const HAN = /\p{Script=Han}/u;

const INSTRUCTION =
  'Write a title for the conversation below: what it is about, in three to seven words, in the language of the person. Answer with the title only: no quotes, no full stop, no explanation.';
const INSTRUCTION_ZH = '为下面的对话写一个标题：概括它的主题，用中文，不超过十五个字。只回答标题本身：不加引号、不加句号、不作解释。';

/** Titles of chats: the first line of the prompt at once, a model's better one after the first turn, a person's own for good. */
export class Titles {
  readonly #rooms: Rooms;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
  }

  /** After the first message, unless there is a title already. */
  fromPrompt(id: string, prompt: string): void {
    const { store } = this.#rooms;
    if (this.#rooms.session(id).titleBy !== 'none') return;
    const title = firstLine(prompt);
    if (title !== '') store.update(id, { title, titleBy: 'prompt' });
  }

  /** Asks a model in the background, once, after the first turn of a session. What goes wrong leaves the title as it is. */
  improve(id: string): void {
    const work = this.#improve(id).catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#rooms.deps.log.info(`No title for the chat ${id}: ${error instanceof Error ? error.message : String(error)}`);
    });
    this.#running.add(work);
    void work.then(() => this.#running.delete(work));
  }

  rename(id: string, title: string, by: 'person' | 'model'): void {
    this.#rooms.store.rename(id, title, by);
    this.#rooms.feed.changed(id);
    this.#rooms.deps.hub.listChanged();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #improve(id: string): Promise<void> {
    const { deps } = this.#rooms;
    const { titles, title_model } = deps.config.read().chat;
    const session = this.#rooms.store.get(id);
    if (!titles || !session || session.titleBy !== 'prompt' || session.tip === null) return;
    const [request, ...later] = requestSeqs(deps.db, session.tip);
    if (request === undefined || later.length > 0) return;
    const history = wholeHistory(deps.db, session.tip);
    const answer = history.findLast((m) => m.role === 'assistant' && m.content.trim() !== '');
    if (!answer) return;
    const choice = title_model === undefined ? { provider: session.settings.provider, model: session.settings.model } : deps.models.parse(title_model);
    if ((await deps.models.create(choice)).scripted || deps.spend.overBudget({ sessionId: id }) !== null) return;
    const prompt = promptOf(history[request]!);
    const chinese = HAN.test(prompt);
    const text = await askModel(this.#rooms, {
      choice,
      purpose: 'titles',
      trajectoryId: session.tip,
      request: { messages: titleRequest(prompt, answer, chinese, deps.now()), tools: [] },
      signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    this.#rooms.feed.changed(id);
    const title = cleanTitle(text);
    // a person may have named it meanwhile
    if (title === '' || (chinese && !HAN.test(title)) || this.#rooms.store.get(id)?.titleBy !== 'prompt') return;
    this.rename(id, title, 'model');
  }
}

function titleRequest(prompt: string, answer: Message, chinese: boolean, now: number): Message[] {
  const said = `<person>\n${prompt.slice(0, ASKED_CHARS)}\n</person>\n<assistant>\n${answer.content.slice(0, ANSWERED_CHARS)}\n</assistant>`;
  return [
    { role: 'system', content: chinese ? INSTRUCTION_ZH : INSTRUCTION, createdAt: now },
    { role: 'user', content: said.toWellFormed(), createdAt: now },
  ];
}

function promptOf(message: Message): string {
  return typedText(message.content, message.attachments) || (message.attachments ?? []).map((a) => a.name).join(', ');
}

/** What a model answered as one short line. */
export function cleanTitle(text: string): string {
  const line = firstLine(text.replace(/<think>[\s\S]*?(<\/think>|$)/g, ''));
  return line
    .replace(/^(title|标题)\s*[:：]\s*/i, '')
    .replace(/^[\s"'“”‘’「」『』《》*#`]+|[\s"'“”‘’「」『』《》*`.。]+$/g, '');
}

function firstLine(text: string): string {
  const line = text.trim().split(/\r?\n/, 1)[0]!.trim().replace(/\s+/g, ' ');
  const chars = [...line];
  return chars.length > TITLE_CHARS ? `${chars.slice(0, TITLE_CHARS - 1).join('')}…` : line;
}
