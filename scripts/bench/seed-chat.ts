import type { Message } from '#shared/trajectory.ts';
import { SessionStore } from '#engine/chat/session-store.ts';
import type { Store } from '#engine/store/store.ts';
import { LiveHub } from '#engine/trajectories/live.ts';
import { TrajectoryRecorder } from '#engine/trajectories/record.ts';

const SENTENCE = 'The export spends its time in **events**: since the migration the filter on `tenant_id` runs on a text column, so the index is skipped. ';
const ANSWERS = [
  `${SENTENCE.repeat(3)}\n\n1. Check the plan\n2. Cast the parameter\n3. Time it again\n\n\`\`\`sql\nSELECT count(*)\nFROM events\nWHERE tenant_id = CAST(:tenant AS BIGINT);\n\`\`\`\n\n${SENTENCE}`,
  `## What changed\n\n| table | rows | time |\n|---|---|---|\n| orders | 4.1 M | 2.1 s |\n| events | 88 M | 48 min |\n\n${SENTENCE.repeat(2)}\n\n> Nothing else was touched.`,
  `日志显示，从周四开始导出变慢，原因是过滤条件作用在文本列上，没有用到索引。\n\n- 先看执行计划\n- 再改查询\n\n${SENTENCE}`,
  'Done.',
];
const OUTPUT = Array.from({ length: 40 }, (_, i) => `2026-01-0${(i % 9) + 1}T04:${String(i).padStart(2, '0')}:00Z INFO export step ${i} took ${i * 37} ms`).join('\n');

/** The newest message of a seeded chat ends with this. */
export const CHAT_END = 'This is the newest message.';

/**
 * Fills a store with one chat of `count` messages: requests, reasoning, calls with results, answers with code, lists and tables.
 * @param lastOutput what the command before the newest message gave
 * @returns the id of the session
 */
export function seedChat(store: Store, count: number, settings: { provider: string; model: string; workspace: string }, lastOutput = OUTPUT): string {
  const at = Date.parse('2026-01-05T09:00:00Z');
  const sessions = new SessionStore(store.db, () => at);
  const { id } = sessions.create({ ...settings, reasoningEffort: null, toolsets: ['terminal'], sandbox: 'host', maxTurns: 30 });
  store.db.transaction(() => {
    const recorder = TrajectoryRecorder.begin(store.db, new LiveHub(), () => at, {
      kind: 'chat', prompt: 'Why is the nightly export slow?', sessionId: id, model: settings.model, provider: settings.provider, scripted: false, systemPrompt: 'You are an agent.', toolsets: ['terminal'], tools: [],
    });
    recorder.append({ role: 'system', content: 'You are an agent.', createdAt: at });
    for (let seq = 1; seq < count - 3;) {
      const turn: Message[] = [{ role: 'user', content: `${seq}: why is the nightly export slow? Look at the three biggest tables.`, createdAt: at + seq }];
      for (let call = 0; call < 2; call++) {
        const callId = `c${seq}-${call}`;
        turn.push(
          { role: 'assistant', content: call === 0 ? 'I look at the log first.' : '', reasoning: SENTENCE.repeat(2), toolCalls: [{ id: callId, name: 'terminal', arguments: JSON.stringify({ command: `tail -n 40 export-${seq}.log` }) }], createdAt: at + seq, durationMs: 4_000 },
          { role: 'tool', content: JSON.stringify({ output: OUTPUT, exit_code: call, error: null }), toolCallId: callId, toolName: 'terminal', isError: false, createdAt: at + seq, durationMs: 120 },
        );
      }
      turn.push({ role: 'assistant', content: ANSWERS[seq % ANSWERS.length] ?? '', createdAt: at + seq, durationMs: 3_000 });
      for (const message of turn.slice(0, count - 3 - seq)) {
        recorder.append(message);
        seq++;
      }
    }
    recorder.append({ role: 'assistant', content: '', toolCalls: [{ id: 'last', name: 'terminal', arguments: '{"command":"cat export.log"}' }], createdAt: at + count });
    recorder.append({ role: 'tool', content: JSON.stringify({ output: lastOutput, exit_code: 0, error: null }), toolCallId: 'last', toolName: 'terminal', isError: false, createdAt: at + count, durationMs: 90 });
    recorder.append({ role: 'assistant', content: `All three are ruled out. ${CHAT_END}`, createdAt: at + count });
    recorder.end({ exitReason: 'completed', error: null });
    sessions.update(id, { tip: recorder.id, title: 'Why is the nightly export slow?', titleBy: 'model' });
  });
  return id;
}
