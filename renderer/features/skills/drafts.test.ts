import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const kept = new Map<string, string>();
const page = Object.assign(new EventTarget(), {
  localStorage: { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) },
}) as unknown as Window;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('window', page);
  vi.resetModules();
  kept.clear();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const draft = { text: 'Unsaved words.', baseHash: 'a' };

/** What a page that is opened anew finds. */
async function foundLater(): Promise<string | undefined> {
  vi.resetModules();
  const { draftOf } = await import('./drafts.ts');
  return draftOf('bisect', 'SKILL.md')?.text;
}

// Bug: the screen is left for another one and the page closed within half a second: nobody writes down any more what was typed last.
test('leaving the screen writes down what was typed last', async () => {
  const { keepDraft, keepOnLeave } = await import('./drafts.ts');
  const leave = keepOnLeave(page);
  keepDraft('bisect', 'SKILL.md', draft);
  leave();
  expect(await foundLater()).toBe(draft.text);
});

// Bug: a page that is closed right after a key loses that key.
test('closing the page writes down what was typed last', async () => {
  const { keepDraft, keepOnLeave } = await import('./drafts.ts');
  keepOnLeave(page);
  keepDraft('bisect', 'SKILL.md', draft);
  page.dispatchEvent(new Event('pagehide'));
  expect(await foundLater()).toBe(draft.text);
});
