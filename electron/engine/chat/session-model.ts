import type { SessionSettings } from '#shared/contract/chats.ts';
import { type ChatModel, type ChatRequest, ModelError, type ModelEvent } from '../model/types.ts';

/**
 * The model of a session as it is chosen at the moment: what a person switches holds from the next call on, also within a turn.
 */
export class SessionModel implements ChatModel {
  #current: ChatModel;
  #choice: string;
  /** The effort that the turn began with: requests that ask for another one (summaries) keep theirs. */
  readonly #effort: SessionSettings['reasoningEffort'];
  readonly #settings: () => SessionSettings;
  readonly #create: (settings: SessionSettings) => Promise<ChatModel>;
  readonly #switched: (model: ChatModel) => void;

  /** @param options.switched told when a call goes to another model than the one before. */
  constructor(first: ChatModel, options: { settings: () => SessionSettings; create: (settings: SessionSettings) => Promise<ChatModel>; switched: (model: ChatModel) => void }) {
    this.#current = first;
    this.#settings = options.settings;
    this.#create = options.create;
    this.#switched = options.switched;
    const settings = options.settings();
    this.#choice = choiceOf(settings);
    this.#effort = settings.reasoningEffort;
  }

  get endpoint(): ChatModel['endpoint'] {
    return this.#current.endpoint;
  }

  get scripted(): boolean {
    return this.#current.scripted;
  }

  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const settings = this.#settings();
    if (choiceOf(settings) !== this.#choice) {
      try {
        this.#current = await this.#create(settings);
      } catch (error) {
        throw new ModelError('not_found', error instanceof Error ? error.message : String(error), { cause: error });
      }
      this.#choice = choiceOf(settings);
      this.#switched(this.#current);
    }
    const { reasoningEffort, ...rest } = request;
    const effort = (reasoningEffort ?? null) === this.#effort ? settings.reasoningEffort : reasoningEffort;
    yield* this.#current.stream(effort ? { ...rest, reasoningEffort: effort } : rest, signal);
  }
}

function choiceOf({ provider, model }: SessionSettings): string {
  return `${provider}/${model}`;
}
