import { agentScenario, type AgentOptions } from './agent.ts';
import type { ModelRequest, Responder } from './fake-model.ts';
import {
  callTool, callTools, contextOverflow, cutAfter, drip, drop, empty, fail, hangAfter, htmlError, malformedAfter, paced, say, sliced,
  streamErrorAfter, think, together, toolCall, type Step,
} from './steps.ts';

export interface Scenario {
  /** One line for `--help`. */
  about: string;
  create: (options: AgentOptions) => Responder;
}

const ANSWER = 'Hermes carried the message, and it arrived whole: “grüße, 你好, 🪽”. That is all there is to say about it.';

/**
 * Plays `step` on the first `times` asks of each turn of each conversation and then lets `otherwise` answer. Asks count as the
 * same turn when the last user message, its turns and the number of messages agree, so equal prompts share their count.
 */
export function failFirst(times: number, step: Step, otherwise: Responder): Responder {
  const asked = new Map<string, number>();
  return (request) => {
    const key = `${request.body.messages.length}\n${request.turnsSinceUser}\n${request.lastUser}`;
    const before = asked.get(key) ?? 0;
    if (before < times) {
      asked.set(key, before + 1);
      return step;
    }
    asked.delete(key);
    return otherwise(request);
  };
}

const answer: Responder = () => say(ANSWER);
const always = (step: Step) => (): Responder => () => step;
const once = (step: Step) => (): Responder => failFirst(1, step, answer);

/** `step` is asked for first; once a tool has answered, so does the model. */
const thenAnswer = (step: (request: ModelRequest) => Step) => (): Responder => (request) => request.turnsSinceUser === 0 ? step(request) : say(ANSWER);

/** Two calls that an agent with a terminal understands. */
const twoCalls = [toolCall('terminal', { command: 'echo one' }), toolCall('terminal', { command: 'echo two — zwei, 二' })];

/** Every scenario that `npm run fake-model` offers, by name. A scenario that fails "once" does so once per turn, then answers. */
export const SCENARIOS: Record<string, Scenario> = {
  agent: { about: 'tool calls, one per turn, then an answer (see --calls, --tool)', create: agentScenario },
  answer: { about: 'a plain answer', create: () => answer },
  reasoning: { about: 'thinks in the field `reasoning`', create: always(together(think('First think, then speak.'), say(ANSWER))) },
  'reasoning-content': {
    about: 'thinks in the field `reasoning_content`',
    create: always(together(think('First think, then speak.', 'reasoning_content'), say(ANSWER))),
  },
  'reasoning-details': {
    about: 'thinks in `reasoning` and, with a signature, in `reasoning_details`',
    create: always(together(think('First think, then speak.', ['reasoning', 'reasoning_details'], { signature: 'c2lnbmVk' }), say(ANSWER))),
  },
  'think-tags': { about: 'thinks inside the text, in <think> tags', create: always(say(`<think>\nFirst think, then speak.\n</think>\n\n${ANSWER}`)) },
  parallel: { about: 'two terminal calls in one answer, their pieces mixed', create: thenAnswer(() => callTools(twoCalls, { interleaved: true })) },
  'bad-arguments': { about: 'a terminal call with malformed JSON, every time', create: always(callTool('terminal', '{"command": "echo one')) },
  'unknown-tool': { about: 'a call of a tool that nobody offers, then an answer', create: thenAnswer(() => callTool('consult_the_oracle', { question: 'why?' })) },
  'no-index': {
    about: 'two terminal calls, their deltas without index',
    create: thenAnswer(() => together(callTools(twoCalls), { quirks: { toolIndex: 'omitted' } })),
  },
  'zero-index': {
    about: 'two terminal calls, both with index 0',
    create: thenAnswer(() => together(callTools(twoCalls), { quirks: { toolIndex: 'zero' } })),
  },
  'repeated-names': {
    about: 'a terminal call with its name in every delta',
    create: thenAnswer(() => together(callTools(twoCalls.slice(1)), { quirks: { repeatToolName: true } })),
  },
  empty: { about: 'an empty answer', create: always(empty()) },
  length: { about: 'an answer that stops at the token limit (finish reason `length`)', create: always(say('This answer is longer than', { finishReason: 'length' })) },
  filtered: { about: 'an answer with finish reason `content_filter`', create: always(say('I was about to', { finishReason: 'content_filter' })) },
  'no-usage': { about: 'never reports usage', create: always(say(ANSWER, { usage: null })) },
  unauthorized: { about: '401, every time', create: always(fail(401)) },
  'no-credit': { about: '402, every time', create: always(fail(402)) },
  forbidden: { about: '403, every time', create: always(fail(403)) },
  'not-found': { about: '404, every time', create: always(fail(404)) },
  'rate-limit': { about: '429 once, Retry-After in seconds (1)', create: once(fail(429, { retryAfter: 1 })) },
  'rate-limit-date': { about: '429 once, Retry-After as a date (2 s ahead)', create: once(fail(429, { retryAfterDate: 2 })) },
  'rate-limit-ms': { about: '429 once, retry-after-ms (300)', create: once(fail(429, { retryAfterMs: 300 })) },
  'server-error': { about: '500 once', create: once(fail(500)) },
  unavailable: { about: '503 once', create: once(fail(503)) },
  overloaded: { about: '529 once', create: once(fail(529)) },
  down: { about: '500, every time', create: always(fail(500)) },
  'context-length': { about: '400 for a conversation that is too long, every time', create: always(contextOverflow()) },
  'html-error': { about: 'a proxy’s 502 page in HTML, once', create: once(htmlError(502, '502 Bad Gateway')) },
  drop: { about: 'the connection closed before any answer, once', create: once(drop()) },
  cut: { about: 'the connection closed after two chunks, once', create: once(together(say(ANSWER), cutAfter(2))) },
  'cut-clean': { about: 'the stream ended after two chunks without finish reason or [DONE], once', create: once(together(say(ANSWER), cutAfter(2, 'end'))) },
  malformed: { about: 'a chunk that is no JSON after two good ones, once', create: once(together(say(ANSWER), malformedAfter(2))) },
  'stream-error': { about: 'an error object in the stream after two chunks, once', create: once(together(say(ANSWER), streamErrorAfter(2))) },
  hang: { about: 'two chunks, then silence', create: always(together(say(ANSWER), hangAfter(2))) },
  drip: { about: 'four bytes every 10 ms', create: always(together(say(ANSWER), drip(10, 4))) },
  slow: { about: 'one chunk every 200 ms', create: always(together(say(ANSWER, { pieceChars: 6 }), paced(200, 200))) },
  sliced: { about: 'slices of five bytes: borders inside characters and lines', create: always(together(say(ANSWER), sliced(5))) },
  crlf: { about: 'lines end with CRLF', create: always(together(say(ANSWER), { wire: { crlf: true } })) },
  comments: {
    about: 'SSE comment lines between the chunks',
    create: always(together(say(ANSWER), { wire: { comment: { text: 'OPENROUTER PROCESSING', everyChunks: 2 } } })),
  },
};
