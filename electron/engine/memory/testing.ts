import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MemoryTarget } from '#shared/contract/memory.ts';
import { ConfigFile } from '../store/config.ts';
import { runTool } from '../tools/registry.ts';
import { memoryTool } from '../tools/memory.ts';
import type { ToolContext } from '../tools/types.ts';
import { testStore } from '../trajectories/testing.ts';
import { FILE_NAMES } from './change.ts';
import { MemoryFiles } from './files.ts';

export type MemoryGround = ReturnType<typeof openMemory>;

/** Memory files on a real store in a home of their own, for tests. */
export function openMemory() {
  const store = testStore();
  const folder = join(store.home, 'memories');
  mkdirSync(folder, { recursive: true });
  const config = new ConfigFile(join(store.home, 'config.yaml'));
  let clock = 1_000;
  const errors: string[] = [];
  const open = (): MemoryFiles => new MemoryFiles({ db: store.store.db, folder, config, now: () => ++clock, log: { info: () => undefined, error: (message) => void errors.push(message) } });
  const files = open();
  const path = (target: MemoryTarget): string => join(folder, FILE_NAMES[target]);
  return {
    ...store,
    folder,
    config,
    files,
    /** Another one on the same store and files, as after a restart. */
    open,
    path,
    put: (target: MemoryTarget, text: string | Uint8Array) => writeFileSync(path(target), text),
    raw: (target: MemoryTarget) => readFileSync(path(target), 'utf8'),
    texts: (target: MemoryTarget) => files.read(target).entries.map((entry) => entry.text),
    add: (target: MemoryTarget, ...texts: string[]) => files.apply(target, texts.map((text) => ({ op: 'add' as const, text })), { author: 'person' }),
    /** A call of the tool as a model makes it: the result as the model reads it. */
    async call(args: Record<string, unknown>): Promise<Record<string, unknown>> {
      const context = { services: { memory: files.toolsFor({ author: 'agent', trajectoryId: () => null }) }, callId: 'call', signal: new AbortController().signal, state: new Map() } as unknown as ToolContext;
      return JSON.parse(await runTool(memoryTool, args, context)) as Record<string, unknown>;
    },
  };
}
