import { z } from 'zod';
import type { Proposal } from '#shared/contract/reviews.ts';
import { ToolError } from '../tools/define.ts';
import { labelPrefix } from './transcript.ts';
import type { Conversation } from './snapshot.ts';

type Evidence = Proposal['evidence'];

const MAX_QUOTES = 8;
const MAX_QUOTE_CHARS = 600;
/** Shorter ones are in any text. */
const MIN_QUOTE_CHARS = 4;

const EXAMPLE = '[{"message": "12", "quote": "words exactly as they stand there"}]';

/** The parameters that every change of a review has besides those of its tool. */
export const EVIDENCE_PARAMETERS = {
  reason: { type: 'string', description: 'One sentence for the person: why this is worth keeping.' },
  evidence: {
    type: 'array',
    description: `What in the conversation this is drawn from, 1 to ${MAX_QUOTES} quotes: ${EXAMPLE}. "message" is the number behind # of that message.`,
    items: { type: 'object', properties: { message: { type: 'string' }, quote: { type: 'string' } }, required: ['message', 'quote'] },
  },
} as const;

const givenSchema = z.array(z.object({ message: z.union([z.string(), z.number()]).transform(String), quote: z.string() }));

/**
 * Quotes as the model gave them, checked against the conversations: a quote counts where its words really stand, whatever number was
 * given with it. At least one must. Throws ToolError that says what to send.
 */
export function checkedEvidence(given: unknown, conversations: readonly Conversation[]): Evidence {
  const parsed = givenSchema.safeParse(parseText(given));
  if (!parsed.success || parsed.data.length === 0) {
    throw new ToolError(`Every change needs "evidence": quotes of the messages it is drawn from, as ${EXAMPLE}. What no message shows is not to be kept. Send the call again with it.`);
  }
  const found: Evidence = [];
  const places = placesOf(conversations);
  for (const { message, quote } of parsed.data.slice(0, MAX_QUOTES)) {
    const words = plain(quote);
    if (words.length < MIN_QUOTE_CHARS) continue;
    const label = message.replace(/^#/, '').trim();
    const place = places.find((p) => p.label === label && p.text.includes(words)) ?? places.find((p) => p.text.includes(words));
    if (place) found.push({ trajectoryId: place.trajectoryId, seq: place.seq, role: place.role, quote: quote.trim().slice(0, MAX_QUOTE_CHARS).toWellFormed() });
  }
  if (found.length === 0) {
    const first = parsed.data[0]!.quote.slice(0, 80).toWellFormed();
    throw new ToolError(`None of the quotes is in the conversation (first: "${first}"). Quote a few words exactly as a message has them, or do not make this change.`);
  }
  return found;
}

interface Place {
  label: string;
  trajectoryId: string;
  seq: number;
  role: string;
  text: string;
}

const known = new WeakMap<readonly Conversation[], Place[]>();

/** What can be quoted: what was said and called by people, models and tools, not what the harness or a skill says. */
function placesOf(conversations: readonly Conversation[]): Place[] {
  let places = known.get(conversations);
  if (!places) {
    places = conversations.flatMap(({ trajectoryId, messages }, i) =>
      messages
        .filter((m) => m.role !== 'system' && !m.synthetic && m.note !== 'skill')
        .map((m) => ({
          label: `${labelPrefix(i, conversations.length)}${m.seq}`,
          trajectoryId,
          seq: m.seq,
          role: m.role,
          text: plain([m.content, ...(m.toolCalls ?? []).flatMap((call) => [`${call.name} ${call.arguments}`, unescaped(call.arguments)])].join('\n')),
        })),
    );
    known.set(conversations, places);
  }
  return places;
}

/** Texts in the arguments as they read, without the escapes of JSON. */
function unescaped(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return value && typeof value === 'object' ? Object.values(value).filter((v) => typeof v === 'string').join('\n') : '';
  } catch {
    return '';
  }
}

/** Without what models change when they quote: case, spaces, kinds of quotation marks, dots for what they left out at the ends. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^(?:\.\.\.|")+|(?:\.\.\.|")+$/g, '')
    .trim();
}

function parseText(given: unknown): unknown {
  if (typeof given !== 'string') return given && typeof given === 'object' && !Array.isArray(given) ? [given] : given;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return given;
  }
}
