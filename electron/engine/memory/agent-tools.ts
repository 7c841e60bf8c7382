import type { MemoryOperation, MemoryStore, MemoryTarget } from '#shared/contract/memory.ts';
import { MEMORY_TARGETS } from '#shared/contract/memory.ts';
import { ToolError } from '../tools/define.ts';
import type { MemoryTools } from '../tools/types.ts';
import { understandCall } from './call.ts';
import { type Done, quote } from './change.ts';
import { MemoryError } from './errors.ts';
import { notesOf, placeEntries } from './render.ts';
import { usageOf } from './text.ts';

type Answer = Record<string, unknown>;

/** What the memory tool needs of the files. */
interface Files {
  /** Throws MemoryError when the file cannot be used. */
  entries(target: MemoryTarget): { entries: readonly string[]; chars: number; limit: number };
  change(target: MemoryTarget, operations: readonly MemoryOperation[]): Promise<{ store: MemoryStore; done: readonly Done[]; warnings: readonly string[] }>;
}

/** The memory as one agent uses it. Answers show how the files are now, but of their entries only what a call changed. */
export function memoryTools(files: Files): MemoryTools {
  return {
    async call(input): Promise<Answer> {
      try {
        const call = understandCall(input);
        if (call.kind === 'read') return { success: true, ...(call.target === null ? Object.fromEntries(MEMORY_TARGETS.map((target) => [target, read(files, target)])) : { target: call.target, ...read(files, call.target) }) };
        const { store, done, warnings } = await files.change(call.target, call.operations);
        return {
          success: true,
          target: call.target,
          usage: usageOf(store.chars, store.limit),
          entry_count: store.entries.length,
          ...(call.many ? { changes: done.map((one) => ({ op: one.op, ...told(one) })) } : told(done[0]!)),
          ...(warnings.length > 0 ? { warning: `The person is shown that this text ${warnings.join(', ')}.` } : {}),
        };
      } catch (error) {
        if (error instanceof MemoryError) throw new ToolError(error.message, error.details);
        throw error;
      }
    },
  };
}

function told({ entry, was, note }: Done): Answer {
  return { ...(entry === null ? { removed: quote(was ?? '') } : { entry }), ...(entry !== null && was !== null ? { replaced: quote(was) } : {}), ...(note === null ? {} : { message: note }) };
}

function read(files: Files, target: MemoryTarget): Answer {
  const { entries, chars, limit } = files.entries(target);
  const placed = placeEntries(entries, limit);
  const notes = notesOf(placed);
  return {
    usage: usageOf(chars, limit),
    entry_count: entries.length,
    entries: placed.filter((entry) => entry.inPrompt !== 'none').map((entry) => entry.shown),
    ...(notes.length > 0 ? { notes } : {}),
  };
}
