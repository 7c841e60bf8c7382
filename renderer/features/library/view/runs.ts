import type { LiveEvent } from '#shared/contract/trajectories.ts';

/** A tool call that is being worked on. */
export interface Run {
  name: string;
  /** What it is about, in a few words. */
  summary: string;
  startedAt: number;
  /** The end of its output so far. */
  output: string;
  /** Something was left out before it. */
  cut: boolean;
}

export type Runs = ReadonlyMap<string, Run>;

/** Live output is only glanced at: this much of its end is kept, characters. */
const OUTPUT_MAX = 20_000;

/** The runs after an event; the same object when it says nothing of them. A stored result ends its run, the next answer ends all. */
export function runsAfter(runs: Runs, event: LiveEvent): Runs {
  switch (event.type) {
    case 'tool_start':
      return new Map(runs).set(event.callId, { name: event.name, summary: event.summary, startedAt: event.startedAt, output: '', cut: false });
    case 'tool_output': {
      const run = runs.get(event.callId);
      if (!run) return runs;
      const output = run.output + event.text;
      return new Map(runs).set(event.callId, { ...run, output: output.slice(-OUTPUT_MAX), cut: run.cut || output.length > OUTPUT_MAX });
    }
    case 'message': {
      const { message } = event;
      if (message.role === 'assistant') return runs.size === 0 ? runs : new Map();
      if (message.toolCallId === undefined || !runs.has(message.toolCallId)) return runs;
      const left = new Map(runs);
      left.delete(message.toolCallId);
      return left;
    }
    default:
      return runs;
  }
}
