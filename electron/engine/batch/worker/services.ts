import { createHash } from 'node:crypto';
import { ZERO_USAGE } from '#shared/trajectory.ts';
import type { ChatModel } from '../../model/types.ts';
import { ToolError } from '../../tools/define.ts';
import type { ToolServices } from '../../tools/types.ts';
import type { RolloutSink } from '../queue/types.ts';

/** The engine's services as one rollout has them: a look at a picture is paid by its run. */
export function rolloutServices(shared: ToolServices, vision: ChatModel | null, sink: RolloutSink, now: () => number): ToolServices {
  const { vision: _, ...others } = shared;
  if (vision === null) return others;
  return { ...others, vision: (image, question, signal) => look(vision, image, question, sink, now, signal) };
}

async function look(model: ChatModel, image: { bytes: Uint8Array; mime: string }, question: string, sink: RolloutSink, now: () => number, signal: AbortSignal): Promise<string> {
  const over = sink.overBudget();
  if (over !== null) throw new ToolError(over);
  const id = createHash('sha256').update(image.bytes).digest('hex');
  const attachments = [{ id, kind: 'image' as const, name: 'picture', mime: image.mime, bytes: image.bytes.length }];
  const request = { messages: [{ role: 'user' as const, content: question, attachments, createdAt: now() }], tools: [], attachment: (asked: string) => Promise.resolve(asked === id ? image.bytes : null) };
  try {
    for await (const event of model.stream(request, signal)) {
      if (event.type !== 'answer') continue;
      const { usage, costUsd, content, servedBy } = event.answer;
      const { provider, model: name } = servedBy ?? model.endpoint;
      await sink.spend({ purpose: 'vision', provider, model: name, usage: usage ?? ZERO_USAGE, costUsd });
      return content;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ToolError(`The picture could not be looked at: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new ToolError('The picture could not be looked at: the model gave no answer.');
}
