import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startFakeModel, type FakeModel } from '../../../e2e/fakes/fake-model.ts';
import type { Message } from '#shared/trajectory.ts';
import { createOpenAiChatModel } from '../model/openai-chat.ts';
import type { ChatModel } from '../model/types.ts';
import { createHostSandbox } from '../sandbox/testing.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { createRegistry, registryOf } from '../tools/registry.ts';
import type { Tool } from '../tools/types.ts';
import { runAgent } from './loop.ts';
import type { AgentDeps, AgentEvent, AgentResult, AgentSpec } from './types.ts';

export interface Outcome {
  messages: Message[];
  events: AgentEvent[];
  result: AgentResult;
}

export interface RunOptions {
  deps?: Partial<AgentDeps>;
  signal?: AbortSignal;
  history?: readonly Message[];
  input?: readonly Message[];
  onEvent?: (event: AgentEvent) => void;
}

/** A real agent with a scripted model server and a real workspace, for tests. */
export interface AgentBench {
  fake: FakeModel;
  root: string;
  sandbox: Sandbox;
  model: ChatModel;
  deps: AgentDeps;
  /** One user turn. Checks on the way what holds for every run: one end, every call answered in order. */
  run(spec?: Partial<AgentSpec>, options?: RunOptions): Promise<Outcome>;
  /** The messages of the request with this number, from 0; negative from the end. */
  sent(at: number): Record<string, unknown>[];
  close(): Promise<void>;
}

export async function openAgentBench(): Promise<AgentBench> {
  const fake = await startFakeModel();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'talaria-agent-')));
  const sandbox = await createHostSandbox({ root });
  const model = createOpenAiChatModel({ provider: 'fake', baseUrl: fake.url, apiKey: 'k', model: 'fake/m' }, { sleep: () => Promise.resolve() });
  const deps: AgentDeps = { model, tools: createRegistry(['terminal', 'file']), sandbox, now: Date.now };
  return {
    fake,
    root,
    sandbox,
    model,
    deps,
    async run(spec = {}, { deps: more = {}, signal = new AbortController().signal, history = [], input = [ask('task')], onEvent } = {}) {
      const events: AgentEvent[] = [];
      for await (const event of runAgent({ systemPrompt: 'SYSTEM', maxTurns: 8, ...spec }, { history, input }, { ...deps, ...more }, signal)) {
        events.push(event);
        onEvent?.(event);
      }
      const ends = events.filter((event) => event.type === 'end');
      expect(ends).toHaveLength(1);
      expect(events.at(-1)).toBe(ends[0]);
      const messages = [...history, ...events.flatMap((event) => (event.type === 'message' ? [event.message] : []))];
      expectPaired(messages);
      return { messages, events, result: ends[0]!.result };
    },
    sent: (at) => (fake.chats.at(at)!.body as { messages: Record<string, unknown>[] }).messages,
    async close() {
      await fake.close();
      await sandbox.dispose({ remove: true });
      rmSync(root, { recursive: true, force: true });
    },
  };
}

export function ask(content: string): Message {
  return { role: 'user', content, createdAt: 1 };
}

/** Every call has exactly one result, in call order, before anything else; no id is used twice. */
export function expectPaired(messages: readonly Message[]): void {
  const all = messages.flatMap((m) => m.toolCalls?.map((c) => c.id) ?? []);
  messages.forEach((m, i) => {
    const ids = m.toolCalls?.map((c) => c.id) ?? [];
    expect(messages.slice(i + 1, i + 1 + ids.length).map((r) => r.toolCallId)).toEqual(ids);
  });
  expect(messages.filter((m) => m.role === 'tool')).toHaveLength(all.length);
  expect(new Set(all).size).toBe(all.length);
}

/** A tool for tests, beside the real ones. */
export function toolNamed(name: string, run: Tool['run'], parallel: Tool['parallel'] = 'safe'): Tool {
  return { spec: { name, description: `${name}.`, parameters: { type: 'object', properties: {} } }, toolset: 'test', parallel, run };
}

export function toolsOf(...tools: Tool[]): AgentDeps['tools'] {
  return registryOf(tools);
}

export const errorsOf = (messages: readonly Message[]): string[] => messages.filter((m) => m.role === 'tool' && m.isError).map((m) => m.content);
export const notesOf = (messages: readonly Message[]): string[] => messages.flatMap((m) => (m.note ? [m.note] : []));

/** Calls `then` once the file is there and has something in it. */
export function whenExists(file: string, then: () => void): void {
  const timer = setInterval(() => {
    if (!existsSync(file) || readFileSync(file, 'utf8') === '') return;
    clearInterval(timer);
    then();
  }, 10);
}
