import type { ToolSpec } from '#shared/trajectory.ts';
import { offeredTools } from './offered-tools.ts';
import { CALL_FORMS, type CallForm, type Reader, type TextCall } from './text-call-forms.ts';

export interface CallPiece {
  channel: 'content' | 'tool';
  text: string;
}

export interface TextCallSplitter {
  /** Takes the next piece of visible text; answers with what can already be told apart. */
  push(text: string): CallPiece[];
  /**
   * The text is over. With `native`, calls have come on their own and everything stays text. `content` is what is left for a
   * person: unchanged when there are no calls.
   */
  end(native: boolean): { rest: CallPiece[]; content: string; calls: TextCall[] };
}

type Item = { kind: 'text'; text: string } | { kind: 'call'; raw: string; calls: TextCall[]; form: CallForm };

const MARKED = CALL_FORMS.filter((form) => form.onlyAtStart !== true);
const OPENINGS = MARKED.flatMap((form) => form.openings.map((opening) => ({ opening, form }))).toSorted((a, b) => b.opening.length - a.opening.length);
const ANY_OPENING = new RegExp(OPENINGS.map(({ opening }) => opening.replaceAll(/[|[\]]/g, '\\$&')).join('|'), 'g');
/** Calls up to here are read at every piece; longer ones each time they have grown by a `STEPS`th. */
const LONG_CALL_CHARS = 16_384;
const STEPS = 64;
const START_FORM = CALL_FORMS.find((form) => form.onlyAtStart === true);

/**
 * Takes calls that a model wrote into its text out of it, while it streams. What may be a call goes to the channel `tool`; when
 * it turns out to be none it is shown as the text it is. Nothing in a code fence or in backticks is a call, except a fence that
 * holds nothing but one and ends the answer. Without tools all is text.
 */
export function createTextCallSplitter(specs: readonly ToolSpec[]): TextCallSplitter {
  const tools = offeredTools(specs);
  const items: Item[] = [];
  /** Something else than white space has come: noted, for looking through all of it at each piece would take ever longer. */
  let begun = false;
  let held = '';
  let candidate: { form: CallForm; read: Reader; text: string; opening: string; isImplied: boolean } | null = null;
  /** A call has just ended: its closing tags may follow. */
  let after: CallForm | null = null;
  let spaces = '';
  let place = START;
  let out: CallPiece[] = [];

  function show(text: string): void {
    if (text === '') return;
    if (text.trim() !== '') {
      begun = true;
      keepAsText((item) => item.form.onlyAtEnd === true);
    }
    emit(text);
    const last = items.at(-1);
    if (last?.kind === 'text') last.text += text;
    else items.push({ kind: 'text', text });
  }

  function emit(text: string): void {
    place = advance(place, text);
    const shown = text.trimEnd();
    if (shown === '') {
      spaces += text;
      return;
    }
    out.push({ channel: 'content', text: spaces + shown });
    spaces = text.slice(shown.length);
  }

  /** What counted as a call is text after all. */
  function keepAsText(which: (item: Extract<Item, { kind: 'call' }>) => boolean): void {
    items.forEach((item, at) => {
      if (item.kind !== 'call' || !which(item)) return;
      emit(item.raw);
      items[at] = { kind: 'text', text: item.raw };
    });
  }

  function begin(form: CallForm, opening: string, isImplied: boolean): void {
    candidate = { form, read: form.read(tools), text: isImplied ? opening : '', opening, isImplied };
  }

  function tell(over: boolean): boolean {
    if (candidate === null) return false;
    // each look costs as much as the call is long: a long one is looked at by growing steps
    if (!over && candidate.text.length > LONG_CALL_CHARS && held.length * STEPS < candidate.text.length) return false;
    const { form, read, opening, isImplied } = candidate;
    const before = candidate.text.length;
    const text = candidate.text + held;
    const verdict = read(text, over);
    if (verdict === 'more' && !over) {
      if (held !== '') out.push({ channel: 'tool', text: held });
      candidate.text = text;
      held = '';
      return false;
    }
    const start = isImplied ? opening.length : 0;
    candidate = null;
    if (typeof verdict === 'string') {
      const shown = isImplied ? start + 1 : opening.length;
      show(text.slice(start, shown));
      held = text.slice(shown);
      return true;
    }
    if (verdict.end > before) out.push({ channel: 'tool', text: text.slice(before, verdict.end) });
    items.push({ kind: 'call', raw: text.slice(start, verdict.end), calls: verdict.calls, form });
    begun = true;
    held = text.slice(verdict.end);
    after = form;
    return true;
  }

  function close(form: CallForm, over: boolean): boolean {
    const rest = held.trimStart();
    const space = held.length - rest.length;
    const closer = form.closers.find((tag) => rest.startsWith(tag));
    const last = items.at(-1);
    if (closer !== undefined) {
      if (last?.kind === 'call') last.raw += held.slice(0, space + closer.length);
      held = rest.slice(closer.length);
      return true;
    }
    if (!over && (rest === '' || form.closers.some((tag) => tag.startsWith(rest)))) return false;
    after = null;
    if (form.again !== undefined && rest.startsWith(form.again)) {
      if (last?.kind === 'call') last.raw += held.slice(0, space);
      held = rest;
      begin(form, form.openings[0] ?? '', true);
    }
    return true;
  }

  function look(over: boolean): boolean {
    if (START_FORM !== undefined && !begun && held.trimStart().startsWith('{')) {
      const at = held.indexOf('{');
      show(held.slice(0, at));
      held = held.slice(at);
      begin(START_FORM, '{', false);
      return true;
    }
    let at = 0;
    let here = place;
    for (const match of held.matchAll(ANY_OPENING)) {
      here = advance(here, held.slice(at, match.index));
      at = match.index;
      const found = OPENINGS.find(({ opening }) => opening === match[0]);
      if (found === undefined || !canBegin(found.form, here)) continue;
      show(held.slice(0, at));
      held = held.slice(at);
      begin(found.form, found.opening, false);
      return true;
    }
    const keep = over ? 0 : beginningAtEnd(held);
    show(held.slice(0, held.length - keep));
    held = held.slice(held.length - keep);
    return false;
  }

  function step(over: boolean): boolean {
    if (candidate !== null) return tell(over);
    if (after !== null) return close(after, over);
    return held === '' ? false : look(over);
  }

  return {
    push(text) {
      out = [];
      if (tools.any) {
        held += text;
        while (step(false));
      } else show(text);
      return out;
    },
    end(native) {
      out = [];
      while (step(true));
      if (native) keepAsText(() => true);
      const calls = items.flatMap((item) => (item.kind === 'call' ? item.calls : []));
      const content = items.map((item) => (item.kind === 'text' ? item.text : '')).join('');
      if (calls.length === 0 && spaces !== '') out.push({ channel: 'content', text: spaces });
      return { rest: out, content: calls.length === 0 ? content : content.trim(), calls };
    },
  };
}

/** Where in Markdown a text stands. */
interface Place {
  /** The first characters of the current line. */
  head: string;
  isBlank: boolean;
  /** Backticks in the current line. */
  ticks: number;
  fenced: boolean;
}

const START: Place = { head: '', isBlank: true, ticks: 0, fenced: false };
const FENCE = /^ {0,3}(?:```|~~~)/;
const FENCE_CHARS = 6;

function advance(from: Place, text: string): Place {
  let place = from;
  text.split('\n').forEach((part, at) => {
    if (at > 0) place = { ...START, fenced: FENCE.test(place.head) ? !place.fenced : place.fenced };
    if (part === '') return;
    const { head, isBlank, ticks, fenced } = place;
    place = { head: (head + part.slice(0, FENCE_CHARS)).slice(0, FENCE_CHARS), isBlank: isBlank && part.trim() === '', ticks: ticks + part.split('`').length - 1, fenced };
  });
  return place;
}

function canBegin(form: CallForm, { isBlank, ticks, fenced }: Place): boolean {
  if (fenced) return false;
  return form.onlyAtEnd === true ? isBlank : ticks % 2 === 0;
}

/** Length of the longest end of `text` that is a proper beginning of an opening. */
function beginningAtEnd(text: string): number {
  const from = text.slice(-30).search(/[<[`]/);
  if (from === -1) return 0;
  const start = Math.max(0, text.length - 30) + from;
  for (let at = start; at < text.length; at += 1) {
    const end = text.slice(at);
    if (OPENINGS.some(({ opening }) => opening.length > end.length && opening.startsWith(end))) return end.length;
  }
  return 0;
}
