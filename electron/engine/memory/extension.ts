import { MEMORY_TARGETS } from '#shared/contract/memory.ts';
import type { ChatExtension } from '../chat/extensions.ts';
import type { MemoryTools } from '../tools/types.ts';
import { hasBlock } from './render.ts';

interface Files {
  readonly enabled: boolean;
  toolsFor(by: { author: 'agent'; trajectoryId: () => string | null }): MemoryTools;
  promptBlocks(): { memory: string | null; user: string | null };
  used(): void;
}

/**
 * The memory in chats: the tool, and its blocks in the system prompt of a new session, kept with it from then on. Both only where the
 * memory is on and the chat has the tool.
 * @param refreshIdleMinutes time at rest after which a session goes on with the memory as it is then; 0: never
 */
export function memoryInChats(files: Files, refreshIdleMinutes: () => number): ChatExtension {
  return {
    services: (_place, turn) => (files.enabled ? { memory: files.toolsFor({ author: 'agent', trajectoryId: turn?.trajectoryId ?? (() => null) }) } : {}),
    promptBlocks(_place, tools) {
      if (!tools.some((tool) => tool.name === 'memory')) return Promise.resolve({});
      const blocks = files.promptBlocks();
      files.used();
      return Promise.resolve(blocks);
    },
    outdated(_place, { systemPrompt, idleMs }, tools) {
      const minutes = refreshIdleMinutes();
      if (minutes === 0 || idleMs < minutes * 60_000) return false;
      const blocks = tools.some((tool) => tool.name === 'memory') ? files.promptBlocks() : { memory: null, user: null };
      return MEMORY_TARGETS.some((target) => {
        const block = blocks[target];
        return block === null ? hasBlock(target, systemPrompt) : !systemPrompt.includes(block);
      });
    },
  };
}
