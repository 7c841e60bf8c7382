import { randomUUID } from 'node:crypto';
import type { Answer, Question } from '#shared/contract/chats.ts';
import { ChatError } from './errors.ts';

type Kind = Question['kind'];
type Asked<K extends Kind> = Extract<Question, { kind: K }>;
type AnswerOf<K extends Kind> = Extract<Answer, { kind: K }>;

interface Open {
  question: Question;
  resolve(answer: Answer): void;
}

/** What the agent of one session waits for. Several calls may ask at once: they are shown one after the other. */
export class Questions {
  readonly #open = new Map<string, Open>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The one that is shown. */
  get current(): Question | null {
    const [first] = this.#open.values();
    return first?.question ?? null;
  }

  /** Resolves with the person's answer; rejects with the signal's reason when the turn is interrupted meanwhile. */
  async ask<K extends Kind>(question: Omit<Asked<K>, 'id' | 'askedAt'>, askedAt: number, signal: AbortSignal): Promise<AnswerOf<K>> {
    signal.throwIfAborted();
    const id = randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
    this.#open.set(id, { question: { ...question, id, askedAt } as unknown as Question, resolve });
    this.#changed();
    try {
      return (await promise) as AnswerOf<K>;
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#open.delete(id);
      this.#changed();
    }
  }

  /** Throws ChatError: not_found when nobody waits for it any more, invalid when the answer is of another kind. */
  answer(id: string, answer: Answer): void {
    const open = this.#open.get(id);
    if (!open) throw new ChatError('not_found', 'This question has been answered already, or the turn that asked it has ended.');
    if (open.question.kind !== answer.kind) throw new ChatError('invalid', 'This answer does not fit the question.', { field: 'answer' });
    open.resolve(answer);
  }
}
