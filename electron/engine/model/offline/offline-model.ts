import { createHash } from 'node:crypto';
import type { Message, ToolCall, Usage } from '#shared/trajectory.ts';
import { abortedError } from '../faults.ts';
import { OFFLINE_BASE_URL, OFFLINE_MODEL, OFFLINE_PROVIDER } from '../providers.ts';
import { realSleep } from '../sleep.ts';
import type { ChatAnswer, ChatModel, ChatRequest, ModelEvent } from '../types.ts';
import { playGeneric } from './generic.ts';
import { playScenario, type Plan } from './player.ts';
import { loadScenarios, type ScenarioBook } from './scenario.ts';
import { readConversation } from './turns.ts';

export interface OfflineModelOptions {
  /** Folder that holds `demo/`. */
  resources: string;
  now?: () => number;
  /** How slowly it streams: 1 is about half a second per answer, 0 is without any wait. */
  pace?: number;
}

type Channel = Extract<ModelEvent, { type: 'delta' }>['channel'];

const FIRST_PIECE_MS = 60;
const BASE_MS = 110;
const MS_PER_CHAR = 0.35;
const MAX_STREAM_MS = 600;
const CHARS_PER_PIECE = 18;
const MIN_WAIT_MS = 12;
const CHARS_PER_TOKEN = 4;

/**
 * The scripted teacher `offline/demo`. For each prompt of the bundled demo dataset it plays a scenario: it streams reasoning
 * and real tool calls, reacts to their real results and answers; to any other prompt it says honestly what it is.
 * Every answer is a pure function of the request, so runs may be interrupted, resumed and run side by side. Token counts are
 * estimated at four characters each.
 */
export function createOfflineModel(options: OfflineModelOptions): ChatModel {
  const { resources, now = Date.now, pace = 1 } = options;
  let book: Promise<ScenarioBook> | null = null;

  async function* stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const startedAt = now();
    book ??= loadScenarios(resources);
    const scenarios = await book;
    if (signal.aborted) throw abortedError();
    const { prompt, turns } = readConversation(request.messages);
    const offered = new Set(request.tools.map((tool) => tool.name));
    const scenario = scenarios.get(prompt);
    const plan = scenario ? playScenario(scenario, turns, offered) : playGeneric(prompt, turns, offered);
    yield* streamed(plan, pace, signal);
    yield { type: 'answer', answer: answerOf(plan, request, prompt, Math.max(0, now() - startedAt)) };
  }

  return { endpoint: { provider: OFFLINE_PROVIDER, baseUrl: OFFLINE_BASE_URL, model: OFFLINE_MODEL }, scripted: true, stream };
}

async function* streamed(plan: Plan, pace: number, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const texts: [Channel, string][] = [['reasoning', plan.think ?? ''], ['content', plan.say]];
  for (const call of plan.calls) texts.push(['tool', call.arguments]);
  const pieces = texts.flatMap(([channel, text]) => piecesOf(text).map((piece) => ({ channel, piece })));
  const chars = texts.reduce((sum, [, text]) => sum + text.length, 0);
  const waitMs = (pace * Math.min(MAX_STREAM_MS, BASE_MS + chars * MS_PER_CHAR)) / Math.max(1, pieces.length);
  let owedMs = pace * FIRST_PIECE_MS;
  for (const { channel, piece } of pieces) {
    if (owedMs >= MIN_WAIT_MS) {
      await realSleep(owedMs, signal).catch(() => undefined);
      owedMs = 0;
    }
    if (signal.aborted) throw abortedError();
    yield { type: 'delta', channel, text: piece };
    owedMs += waitMs;
  }
}

/** Pieces of about `CHARS_PER_PIECE` characters, cut after white space where there is some. */
function piecesOf(text: string): string[] {
  const words = text.match(/\S{1,18}\s*|\s+/gu) ?? [];
  const pieces: string[] = [];
  let piece = '';
  for (const word of words) {
    piece += word;
    if (piece.length < CHARS_PER_PIECE) continue;
    pieces.push(piece);
    piece = '';
  }
  return piece === '' ? pieces : [...pieces, piece];
}

function answerOf(plan: Plan, request: ChatRequest, prompt: string, durationMs: number): ChatAnswer {
  const turn = request.messages.filter((message) => message.role === 'assistant').length;
  const toolCalls: ToolCall[] = plan.calls.map((call, at) => ({ id: callId(prompt, turn, at), ...call }));
  return {
    content: plan.say,
    reasoning: plan.think,
    reasoningDetails: null,
    toolCalls,
    finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    unclosedReasoning: false,
    usage: usageOf(plan, request),
    costUsd: null,
    durationMs,
  };
}

function callId(prompt: string, turn: number, at: number): string {
  return `call_${createHash('sha256').update(`${turn}|${at}|${prompt}`).digest('hex').slice(0, 24)}`;
}

/** Everything up to the last answer counts as cached, as a provider with prompt caching would bill it. */
function usageOf(plan: Plan, request: ChatRequest): Usage {
  const lastAnswer = request.messages.findLastIndex((message) => message.role === 'assistant');
  const toolChars = JSON.stringify(request.tools).length;
  const reasoningTokens = tokens(plan.think?.length ?? 0);
  const answerChars = plan.say.length + plan.calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
  return {
    promptTokens: tokens(toolChars + charsOf(request.messages)),
    completionTokens: reasoningTokens + tokens(answerChars),
    reasoningTokens,
    cachedTokens: lastAnswer < 0 ? 0 : tokens(toolChars + charsOf(request.messages.slice(0, lastAnswer))),
  };
}

function charsOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => {
    const calls = message.toolCalls?.reduce((all, call) => all + call.name.length + call.arguments.length, 0) ?? 0;
    return sum + message.content.length + (message.reasoning?.length ?? 0) + calls;
  }, 0);
}

function tokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
