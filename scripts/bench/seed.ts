import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Message } from '#shared/trajectory.ts';
import type { Store } from '#engine/store/store.ts';
import { LiveHub } from '#engine/trajectories/live.ts';
import { TrajectoryRecorder } from '#engine/trajectories/record.ts';

const WORDS =
  'agent batch bucket cache checkpoint cluster commit config container cursor database deploy deadline encoder error export filter gradient index invoice kernel latency ledger merge metric migration model nightly parser pipeline prompt queue region replica retry rollout sandbox schema script shard staging supplier table tenant tokenizer trace vector webhook worker'.split(
    ' ',
  );
const CHINESE = '统计日志中最慢的接口并写成报告，检查配置文件里的错误，整理供应商数据，把脚本改成每天运行。';
const MODELS = ['kimi-k2', 'glm-5', 'hermes-4-70b'];

/** Numbers that look random and are the same in every run. */
function generator(seed: number): () => number {
  let s = seed;
  return () => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return s / 2 ** 32;
  };
}

/** Fills a store with `count` varied trajectories of about 8 messages; the same ones for the same count. Lets signals through on the way. */
export async function seed(store: Store, count: number): Promise<void> {
  const random = generator(7);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const sentence = (words: number): string => Array.from({ length: words }, () => pick(WORDS)).join(' ');
  const hub = new LiveHub();
  const day = Date.parse('2026-01-01T00:00:00Z');
  for (let from = 0; from < count; from += 500) {
    await yieldToOthers();
    store.db.transaction(() => {
      for (let i = from; i < Math.min(from + 500, count); i++) {
        const prompt = i % 5 === 0 ? `${CHINESE.slice(i % 20, (i % 20) + 14)}（${i}）` : `${sentence(9)} ${i}`;
        const recorder = TrajectoryRecorder.begin(store.db, hub, () => day + i * 1000, {
          kind: 'batch',
          prompt,
          model: pick(MODELS),
          provider: 'bench',
          scripted: false,
          systemPrompt: 'You are an agent.',
          toolsets: ['terminal', 'file'],
          tools: [],
        });
        const messages: Message[] = [{ role: 'user', content: prompt, createdAt: day }];
        for (let turn = 0; turn < 3; turn++) {
          const id = `c${turn}`;
          messages.push(
            { role: 'assistant', content: '', reasoning: sentence(25), toolCalls: [{ id, name: 'terminal', arguments: JSON.stringify({ command: sentence(5) }) }], createdAt: day },
            { role: 'tool', content: JSON.stringify({ output: sentence(60), exit_code: 0, error: null }), toolCallId: id, toolName: 'terminal', isError: turn === 1 && i % 7 === 0, createdAt: day },
          );
        }
        messages.push({ role: 'assistant', content: `${sentence(30)} ${i % 3 === 0 ? CHINESE : ''}`, createdAt: day });
        for (const m of messages) recorder.append(m);
        recorder.end({ exitReason: i % 11 === 0 ? 'max_turns' : i % 17 === 0 ? 'provider_error' : 'completed', error: null });
      }
    });
  }
}
