import { describe, expect, it } from 'vitest';
import type { Message } from '#shared/trajectory.ts';
import { estimateTokens, messagesTokens, messageTokens, meterOf } from './tokens.ts';

/** Tokens by o200k_base and cl100k_base, counted once with those vocabularies. */
const COUNTED: [name: string, text: string, o200k: number, cl100k: number][] = [
  ['English', 'The agent reads the file first, then it changes only what the task needs, and finally it runs the tests again to see whether anything else was broken on the way.', 34, 34],
  ['Chinese', '智能体先读取文件，然后只修改任务需要的部分，最后再次运行测试，看看有没有别的地方被破坏。如果测试失败，它会查看错误信息并换一种方法重试。', 41, 62],
  ['Japanese', 'エージェントはまずファイルを読み、必要な部分だけを変更し、最後にもう一度テストを実行します。', 31, 44],
  ['code', 'export function addUsage(a: Usage, b: Usage): Usage {\n  return {\n    promptTokens: a.promptTokens + b.promptTokens,\n    completionTokens: a.completionTokens + b.completionTokens,\n  };\n}\n', 46, 46],
  ['JSON', '{"output":"total 12\\ndrwxr-xr-x 2 root root 4096 Nov 30 05:20 src\\n-rw-r--r-- 1 root root  812 Nov 30 05:20 package.json","exit_code":0,"duration_ms":41}', 62, 63],
  ['hex', 'a3f09c1d77e2b84406f1c9d2 5e8b1a90cc37d4f6 09ab3c77e1d2f845', 45, 45],
];

describe('estimateTokens', () => {
  // Bug: a quarter of the characters is taken for Chinese, JSON or digits, and the context overflows before anything is compressed.
  it.each(COUNTED)('%s: not far from what vocabularies count', (_name, text, o200k, cl100k) => {
    const estimate = estimateTokens(text);
    expect(estimate).toBeGreaterThanOrEqual(0.7 * Math.min(o200k, cl100k));
    expect(estimate).toBeLessThanOrEqual(1.4 * Math.max(o200k, cl100k));
  });

  it('grows with the text, also beyond what is scanned whole (catches samples that miss the rest)', () => {
    const line = 'The quick brown fox jumps over 12 lazy dogs; 快速的棕色狐狸。\n';
    const one = estimateTokens(line.repeat(1_000));
    expect(estimateTokens(line.repeat(100_000)) / one).toBeCloseTo(100, 0);
    expect(estimateTokens('')).toBe(0);
    expect(estimateTokens('\ud83d')).toBeGreaterThan(0);
  });
});

describe('messages', () => {
  const call = { id: 'c1', name: 'write_file', arguments: JSON.stringify({ path: 'a', content: 'word '.repeat(500) }) };
  const base: Message = { role: 'assistant', content: 'hello', createdAt: 1 };

  // Bug: a part of what is sent is not counted: arguments, reasoning, pictures.
  it('counts calls, replayed reasoning and pictures', () => {
    const attachments: Message['attachments'] = [{ id: 'a'.repeat(64), kind: 'image', name: 'x.png', mime: 'image/png', bytes: 9 }];
    expect(messageTokens({ ...base, toolCalls: [call] })).toBeGreaterThan(messageTokens({ ...base }) + 450);
    expect(messageTokens({ ...base, reasoning: 'word '.repeat(500) })).toBeGreaterThan(messageTokens({ ...base }) + 450);
    expect(messageTokens({ ...base, reasoningDetails: [{ type: 'reasoning.text', text: 'word '.repeat(500) }] })).toBeGreaterThan(messageTokens({ ...base }) + 450);
    expect(messageTokens({ ...base, role: 'user', attachments })).toBeGreaterThan(messageTokens({ ...base, role: 'user' }) + 700);
  });

  // Bug: the parts of the meter do not add up, or the system message is counted twice.
  it('meter: parts are the total, measured or not', () => {
    const messages: Message[] = [{ role: 'system', content: 'sys '.repeat(100), createdAt: 0 }, base];
    const tools = [{ name: 't', description: 'd'.repeat(100), parameters: {} }];
    const meter = meterOf({ system: 'sys '.repeat(100), tools, messages, limit: 1_000, compressAt: 500 });
    expect(meter).toMatchObject({ messages: messagesTokens([base]), limit: 1_000, compressAt: 500, measured: false });
    const measured = meterOf({ system: 'sys', tools, messages, limit: null, compressAt: null, measuredTotal: 12_345 });
    expect(measured).toMatchObject({ total: 12_345, measured: true });
    for (const m of [meter, measured]) expect(m.system + m.tools + m.messages).toBe(m.total);
  });
});
