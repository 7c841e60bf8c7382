import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Message } from '#shared/trajectory.ts';
import { openStore, type Store } from '../store/store.ts';
import { LiveHub } from './live.ts';
import { type NewTrajectory, TrajectoryRecorder } from './record.ts';

export const RESOURCES = resolve(import.meta.dirname, '../../../resources');
export const READER = resolve(import.meta.dirname, '../store/reader.ts');

/** A real store in a temporary home, for tests. */
export function testStore(): { store: Store; hub: LiveHub; home: string; close(): Promise<void> } {
  const home = mkdtempSync(join(tmpdir(), 'talaria-test-'));
  const store = openStore(home, { resources: RESOURCES, reader: READER });
  return {
    store,
    hub: new LiveHub(),
    home,
    async close() {
      await store.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export function user(content: string): Message {
  return { role: 'user', content, createdAt: 1 };
}

export function assistant(content: string, more: Partial<Message> = {}): Message {
  return { role: 'assistant', content, createdAt: 2, ...more };
}

export function toolResult(id: string, name: string, content: string, more: Partial<Message> = {}): Message {
  return { role: 'tool', content, toolCallId: id, toolName: name, isError: false, createdAt: 3, ...more };
}

/** Records one whole trajectory and returns its id. */
export function record(t: { store: Store; hub: LiveHub }, messages: readonly Message[], init: Partial<NewTrajectory> = {}, end = true): TrajectoryRecorder {
  const recorder = TrajectoryRecorder.begin(t.store.db, t.hub, Date.now, {
    kind: 'chat',
    prompt: messages.find((m) => m.role === 'user')?.content ?? 'prompt',
    model: 'test/model',
    provider: 'test',
    scripted: false,
    systemPrompt: '',
    toolsets: [],
    tools: [],
    ...init,
  });
  for (const m of messages) recorder.append(m);
  if (end) {
    recorder.end({ exitReason: 'completed', error: null });
    recorder.announceEnd();
  }
  return recorder;
}
