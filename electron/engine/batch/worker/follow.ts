import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Message } from '#shared/trajectory.ts';
import type { AgentEvent, AgentResult } from '../../agent/types.ts';
import type { RolloutSink } from '../queue/types.ts';

const DOING = { content: 'answering', reasoning: 'thinking', tool: 'calling a tool' };

/**
 * Hands everything an agent does to the sink, and collects the messages. An answer and what it cost are stored before its tools begin, all
 * else before the next call of the model.
 */
export async function follow(agent: AsyncIterable<AgentEvent>, sink: RolloutSink, messages: Message[]): Promise<AgentResult> {
  let doing = '';
  const say = (text: string): void => {
    if (text !== doing) sink.activity({ type: 'activity', text });
    doing = text;
  };
  let open: Promise<void>[] = [];
  const store = (work: Promise<void>): void => {
    // whoever waits for it next is told
    work.catch(() => undefined);
    open.push(work);
  };
  const stored = async (): Promise<void> => {
    const all = open;
    open = [];
    await Promise.all(all);
  };
  for await (const event of agent) {
    switch (event.type) {
      case 'message':
        messages.push(event.message);
        store(sink.message(event.message));
        if (event.message.role === 'assistant') await stored();
        break;
      case 'delta':
        sink.activity(event);
        say(DOING[event.channel]);
        break;
      case 'turn':
        sink.activity(event);
        say('waiting for the model');
        // a model that answers without real waiting must not keep the others from their turn
        await Promise.all([stored(), yieldToOthers()]);
        break;
      case 'tool_start':
        sink.activity(event);
        say(event.summary);
        break;
      case 'discard_deltas':
      case 'tool_output':
        sink.activity(event);
        break;
      case 'retry':
        say(`trying again in ${Math.ceil(event.waitMs / 1000)} s: ${event.error.message}`);
        break;
      case 'usage':
        store(sink.spend({ purpose: event.purpose, provider: event.provider, model: event.model, usage: event.usage, costUsd: event.costUsd }));
        break;
      case 'compressing':
        say('compressing the context');
        break;
      case 'context':
        break;
      case 'end':
        await stored();
        return event.result;
    }
  }
  throw new Error('The agent ended without a result');
}
