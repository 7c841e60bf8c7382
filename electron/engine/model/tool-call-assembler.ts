import type { ToolCall } from '#shared/trajectory.ts';
import { isRecord, parseJson, textOf, type JsonRecord } from './json.ts';

interface Slot {
  index: number | null;
  id: string;
  name: string;
  arguments: string;
}

/**
 * Puts streamed tool calls together. Deltas belong together by `index`; where a server leaves it out, or says 0 for every
 * call, by id and name. A name repeated in every delta counts once; a name given with another id, or after complete
 * arguments, opens a new call.
 */
export function createToolCallAssembler() {
  const slots: Slot[] = [];

  function open(delta: JsonRecord, index: number | null): Slot {
    const slot: Slot = { index, id: textOf(delta.id), name: '', arguments: '' };
    slots.push(slot);
    return slot;
  }

  function slotFor(delta: JsonRecord, name: string): Slot {
    const index = typeof delta.index === 'number' ? delta.index : null;
    const id = textOf(delta.id);
    const candidate =
      index === null ? (slots.find((slot) => id !== '' && slot.id === id) ?? slots.at(-1)) : slots.findLast((slot) => slot.index === index);
    if (candidate === undefined) return open(delta, index);
    if (id !== '' && candidate.id === id) return candidate;
    // A continuing delta may carry a fresh id (old vLLM), but then no name.
    if (name !== '' && id !== '' && candidate.id !== '') return open(delta, index);
    if (name !== '' && candidate.name !== '' && isRecord(parseJson(candidate.arguments))) return open(delta, index);
    if (name !== '' && index === null && candidate.name !== '' && name !== candidate.name) return open(delta, index);
    return candidate;
  }

  return {
    /** Takes one entry of `delta.tool_calls`; answers with the text to display for it. */
    push(entry: unknown): string {
      if (!isRecord(entry)) return '';
      const body = isRecord(entry.function) ? entry.function : {};
      const name = textOf(body.name);
      const slot = slotFor(entry, name);
      if (slot.id === '') slot.id = textOf(entry.id);
      if (name !== '' && name !== slot.name) slot.name = name.startsWith(slot.name) ? name : slot.name + name;
      if (body.arguments === undefined || body.arguments === null) return '';
      const piece = typeof body.arguments === 'string' ? body.arguments : JSON.stringify(body.arguments);
      slot.arguments += piece;
      return piece;
    },

    get any(): boolean {
      return slots.length > 0;
    },

    /**
     * The calls in order. Missing ids, and ids that this conversation has already used, are replaced by made-up ones:
     * the same for the same conversation, and unique in it.
     */
    finish(takenIds: ReadonlySet<string>, turn: number): ToolCall[] {
      const taken = new Set(takenIds);
      return [...slots]
        .filter((slot) => slot.name !== '' || slot.arguments !== '')
        .map((slot, at) => {
          let id = slot.id;
          for (let n = 0; id === '' || taken.has(id); n += 1) id = `call_${turn}_${at}${n === 0 ? '' : `_${n}`}`;
          taken.add(id);
          return { id, name: slot.name, arguments: slot.arguments.trim() === '' ? '{}' : slot.arguments };
        });
    },
  };
}
