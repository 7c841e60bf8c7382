import { isRecord, textOf, type JsonRecord } from './json.ts';

const FIELDS = ['reasoning', 'reasoning_content', 'reasoning_details'] as const;
type Field = (typeof FIELDS)[number];

/** Texts inside an entry of `reasoning_details`; encrypted ones have only `data`. */
const DETAIL_TEXTS = ['summary', 'content', 'text'] as const;
const STREAMED_STRINGS = [...DETAIL_TEXTS, 'data'] as const;

/**
 * Collects native reasoning. Providers send it as `reasoning`, `reasoning_content` or `reasoning_details`, some in two of
 * them side by side. Each field is collected on its own: the first that carries text is displayed, the longest is kept.
 * `reasoning_details` are put together by index and type, and otherwise kept as they are, for the replay.
 */
export function createReasoningAssembler() {
  const texts: Record<Field, string> = { reasoning: '', reasoning_content: '', reasoning_details: '' };
  const details: JsonRecord[] = [];
  let source: Field | null = null;

  function pushText(field: Field, text: string): string {
    if (text === '') return '';
    texts[field] += text;
    source ??= field;
    return field === source ? text : '';
  }

  function pushDetail(entry: unknown): string {
    if (!isRecord(entry)) return '';
    const known = details.find((detail) => isSameEntry(detail, entry));
    if (known === undefined) details.push({ ...entry });
    else mergeDetail(known, entry);
    const field = DETAIL_TEXTS.find((name) => textOf(entry[name]) !== '');
    return field === undefined ? '' : textOf(entry[field]);
  }

  return {
    pushText,

    /** Takes one delta; answers with the reasoning to display. */
    push(delta: JsonRecord): string {
      let shown = pushText('reasoning', textOf(delta.reasoning));
      shown += pushText('reasoning_content', textOf(delta.reasoning_content));
      if (Array.isArray(delta.reasoning_details)) {
        shown += pushText('reasoning_details', (delta.reasoning_details as unknown[]).map(pushDetail).join(''));
      }
      return shown;
    },

    text(): string | null {
      let best = source === null ? '' : texts[source];
      for (const field of FIELDS) if (texts[field].length > best.length) best = texts[field];
      return best.trim() === '' ? null : best;
    },

    details(): unknown[] | null {
      return details.length === 0 ? null : details;
    },
  };
}

/** Pieces without an index are entries of their own. */
function isSameEntry(a: JsonRecord, b: JsonRecord): boolean {
  const sameId = textOf(a.id) === '' || textOf(b.id) === '' || a.id === b.id;
  return typeof b.index === 'number' && a.index === b.index && a.type === b.type && sameId;
}

function mergeDetail(known: JsonRecord, piece: JsonRecord): void {
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const isStreamed = (STREAMED_STRINGS as readonly string[]).includes(name) && typeof value === 'string';
    known[name] = isStreamed ? textOf(known[name]) + value : value;
  }
}
