import { contextOf } from '#shared/context.ts';
import { isRequest, type Message, type StoredMessage } from '#shared/trajectory.ts';
import { estimateTokens } from '../agent/tokens.ts';
import type { Conversation } from './snapshot.ts';

/** Most characters of a message that are shown, by who said it. */
interface Caps {
  user: number;
  assistant: number;
  tool: number;
  /** Of the arguments of one call. */
  call: number;
}

const WHOLE: Caps = { user: 20_000, assistant: 8_000, tool: 6_000, call: 3_000 };
const DIGEST: Caps = { user: 4_000, assistant: 2_000, tool: 1_200, call: 800 };
/** Messages of the end that a digest keeps, besides the first request. Source: Hermes, background review. */
const TAIL_MESSAGES = 24;
const LEAST = 200;
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f]/g;

/**
 * Conversations as text for the review agent. Every message has a heading with its number at the beginning of a line, and its own lines
 * are indented: nothing that was said can pass for a heading. A pure function of what is stored.
 * @param options.maxTokens what the text may take, estimated
 * @param options.digest only the first request and the end, shortened, even where there is room for more
 */
export function transcriptOf(conversations: readonly Conversation[], { maxTokens, digest }: { maxTokens: number; digest: boolean }): string {
  const each = Math.floor(maxTokens / Math.max(1, conversations.length));
  return conversations.map((conversation, i) => one(conversation, { prefix: labelPrefix(i, conversations.length), maxTokens: each, digest })).join('\n\n');
}

/** "2:" before the numbers of the second of several conversations; nothing when there is one. */
export function labelPrefix(index: number, of: number): string {
  return of > 1 ? `${index + 1}:` : '';
}

function one(conversation: Conversation, { prefix, maxTokens, digest }: { prefix: string; maxTokens: number; digest: boolean }): string {
  const messages = shownOf(conversation.messages);
  const heading = `Conversation${prefix === '' ? '' : ` ${prefix.slice(0, -1)}`}: ${oneLine(conversation.title)} (${conversation.messages.length} messages, ended: ${conversation.exitReason ?? 'not yet'})`;
  if (!digest) {
    const whole = [heading, ...messages.map((m) => entry(m, prefix, WHOLE))].join('\n');
    if (estimateTokens(whole) <= maxTokens) return whole;
  }
  return shortened(heading, messages, prefix, maxTokens);
}

function shortened(heading: string, messages: readonly StoredMessage[], prefix: string, maxTokens: number): string {
  const first = messages.find(isRequest);
  let tail = messages.slice(-TAIL_MESSAGES);
  let caps = DIGEST;
  for (;;) {
    const head = first && !tail.includes(first) ? [entry(first, prefix, caps)] : [];
    const left = messages.length - tail.length - head.length;
    const text = [heading, ...head, ...(left > 0 ? [`[${left} messages are left out here]`] : []), ...tail.map((m) => entry(m, prefix, caps))].join('\n');
    if (estimateTokens(text) <= maxTokens || (tail.length <= 1 && caps.user <= LEAST)) return text;
    if (caps.user > LEAST) caps = { user: half(caps.user), assistant: half(caps.assistant), tool: half(caps.tool), call: half(caps.call) };
    else tail = tail.slice(Math.ceil(tail.length / 2));
  }
}

/** What the model was shown of the conversation, without its instructions and the harness's notes about budgets and the like. */
function shownOf(messages: readonly StoredMessage[]): StoredMessage[] {
  const context = contextOf(messages) as StoredMessage[];
  return context.filter((m) => m.role !== 'system' && (!m.synthetic || m.role !== 'user' || m.note === 'compaction' || m.note === 'delegation' || m.note === 'skill' || m.compaction !== undefined));
}

function entry(m: StoredMessage, prefix: string, caps: Caps): string {
  const lines = [`#${prefix}${m.seq} ${speaker(m)}`];
  const cap = m.role === 'tool' ? caps.tool : m.role === 'assistant' ? caps.assistant : caps.user;
  if (m.content.trim() !== '') lines.push(indented(cut(m.content, cap)));
  for (const call of m.toolCalls ?? []) lines.push(indented(`calls ${call.name} ${cut(call.arguments, caps.call)}`));
  return lines.join('\n');
}

function speaker(m: Message): string {
  if (m.role === 'tool') return `result of ${oneLine(m.toolName ?? 'a tool')}${m.isError ? ' (failed)' : ''}`;
  if (m.compaction || m.note === 'compaction') return 'summary of what came before';
  return m.role === 'user' && !isRequest(m) ? 'harness' : m.role;
}

function indented(text: string): string {
  return text.toWellFormed().replace(CONTROLS, ' ').split(LINE_ENDS).map((line) => `  ${line}`).join('\n');
}

function oneLine(text: string): string {
  return text.toWellFormed().replace(CONTROLS, ' ').split(LINE_ENDS).join(' ').slice(0, 200).toWellFormed();
}

function cut(text: string, cap: number): string {
  if (text.length <= cap) return text;
  const head = Math.ceil(cap * 0.75);
  return `${text.slice(0, head)} [… ${text.length - cap} characters are left out …] ${text.slice(text.length - (cap - head))}`;
}

const half = (n: number): number => Math.max(LEAST, Math.ceil(n / 2));
