import { expect, test } from 'vitest';
import type { Client } from '#shared/contract/index.ts';
import type { PromptItem, PromptState } from '#shared/contract/runs.ts';
import { PromptPages, REFRESH_MS } from './prompt-pages.ts';

/** 10,000 prompts behind the contract's call. */
function engine(stateOf: (index: number) => PromptState) {
  const asked: number[] = [];
  let broken = false;
  const prompts = (async (input: { after: number; limit: number }) => {
    asked.push(input.after);
    if (broken) throw new Error('gone');
    const items = Array.from({ length: input.limit }, (_, i): PromptItem => ({
      index: input.after + 1 + i,
      promptIndex: input.after + 1 + i,
      rollout: 0,
      cause: null,
      retryable: true,
      removed: false,
      reward: null,
      prompt: `p${input.after + 1 + i}`,
      state: stateOf(input.after + 1 + i),
      reason: null,
      trajectoryId: null,
    }));
    return { items, more: true };
  }) as unknown as Client['runs']['prompts'];
  return { runs: { prompts }, asked, breakDown: (value: boolean) => (broken = value) };
}

async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await Promise.resolve();
}

test('a page is asked once for all its rows', async () => {
  const { runs, asked } = engine(() => 'completed');
  let changes = 0;
  const pages = new PromptPages(
    runs,
    'r',
    () => changes++,
    () => 0,
  );
  for (let i = 4_200; i < 4_230; i++) expect(pages.get(i, 'completed')).toBeUndefined();
  await settled();
  expect(asked).toEqual([4_199]);
  expect(changes).toBe(1);
  expect(pages.get(4_207, 'completed')?.prompt).toBe('p4207');
});

// Bug: while the states run ahead of the rows, the page asks again on every frame.
test('a row that is older than its state is asked again, but not at once', async () => {
  const { runs, asked } = engine(() => 'running');
  let now = 0;
  const pages = new PromptPages(
    runs,
    'r',
    () => {},
    () => now,
  );
  pages.get(0, 'running');
  await settled();
  pages.get(0, 'completed');
  pages.get(0, 'completed');
  expect(asked).toHaveLength(1);
  now = REFRESH_MS;
  expect(pages.get(0, 'completed')?.prompt).toBe('p0');
  await settled();
  expect(asked).toHaveLength(2);
});

// Bug: an engine that answers with an error is asked thousands of times a second.
test('a failed page waits before it is tried again', async () => {
  const { runs, asked, breakDown } = engine(() => 'completed');
  let now = 0;
  const pages = new PromptPages(
    runs,
    'r',
    () => {},
    () => now,
  );
  breakDown(true);
  pages.get(0, 'completed');
  await settled();
  pages.get(0, 'completed');
  expect(asked).toHaveLength(1);
  breakDown(false);
  now = REFRESH_MS;
  pages.get(0, 'completed');
  await settled();
  expect(pages.get(0, 'completed')?.prompt).toBe('p0');
});

// Bug: scrolling through a large run keeps every row for ever.
test('old pages are let go', async () => {
  const { runs, asked } = engine(() => 'completed');
  const pages = new PromptPages(
    runs,
    'r',
    () => {},
    () => 0,
  );
  for (let i = 0; i < 10_000; i += 100) pages.get(i, 'completed');
  await settled();
  expect(pages.get(9_950, 'completed')?.prompt).toBe('p9950');
  expect(pages.get(50, 'completed')).toBeUndefined();
  expect(asked).toHaveLength(101);
});
