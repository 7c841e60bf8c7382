import { createStore } from 'zustand/vanilla';
import { readRemembered, remember } from '../../lib/remembered.ts';

/** What was typed into a file and not saved. */
export interface Draft {
  /** With "\n" at the ends of lines. */
  text: string;
  /** The hash of the file it began from. */
  baseHash: string | null;
}

const KEY = 'skills.drafts';
/** Browsers keep about five million characters of all that a page remembers. */
const MAX_KEPT_CHARS = 1_500_000;
const KEPT_AFTER_MS = 500;

const keyOf = (id: string, path: string): string => `${id}\n${path}`;

function load(): ReadonlyMap<string, Draft> {
  try {
    const found = JSON.parse(readRemembered(KEY) ?? '[]') as [string, Draft][];
    return new Map(found.filter(([key, draft]) => typeof key === 'string' && typeof draft?.text === 'string'));
  } catch {
    return new Map();
  }
}

/** Drafts outlive the screen and, where the browser lets them, the page. `unsaved`: ids of skills with any, another set only when others have. */
export const drafts = createStore<{ all: ReadonlyMap<string, Draft>; unsaved: ReadonlySet<string> }>(() => {
  const all = load();
  return { all, unsaved: unsavedIds(all) };
});

export function draftOf(id: string, path: string): Draft | null {
  return drafts.getState().all.get(keyOf(id, path)) ?? null;
}

/** @param draft null when it was saved or given up */
export function keepDraft(id: string, path: string, draft: Draft | null): void {
  const before = drafts.getState().all;
  const key = keyOf(id, path);
  const old = before.get(key);
  if (draft === null ? !old : old?.text === draft.text && old.baseHash === draft.baseHash) return;
  const all = new Map(before);
  all.delete(key);
  if (draft !== null) all.set(key, draft);
  const unsaved = unsavedIds(all);
  drafts.setState(same(unsaved, drafts.getState().unsaved) ? { all } : { all, unsaved });
  keepSoon();
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Writing a long text down takes longer than a key may. */
function keepSoon(): void {
  if (timer !== undefined) return;
  timer = setTimeout(keepNow, KEPT_AFTER_MS);
}

function keepNow(): void {
  clearTimeout(timer);
  timer = undefined;
  let room = MAX_KEPT_CHARS;
  const newest = [...drafts.getState().all].reverse().filter(([, { text }]) => (room -= text.length) >= 0);
  remember(KEY, JSON.stringify(newest.reverse()));
}

/** A page that is closed, or a screen that is left, keeps what was typed last. Returns the way to leave. */
export function keepOnLeave(page: Window): () => void {
  const flush = (): void => void (timer !== undefined && keepNow());
  page.addEventListener('pagehide', flush);
  return () => {
    page.removeEventListener('pagehide', flush);
    flush();
  };
}

/** A skill that was renamed or moved takes its drafts along. */
export function moveDrafts(from: string, to: string): void {
  if (from === to) return;
  for (const [key, draft] of drafts.getState().all) {
    const [id, path] = key.split('\n') as [string, string];
    if (id !== from) continue;
    keepDraft(id, path, null);
    keepDraft(to, path, draft);
  }
}

function unsavedIds(all: ReadonlyMap<string, Draft>): ReadonlySet<string> {
  return new Set([...all.keys()].map((key) => key.split('\n', 1)[0]!));
}

function same(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id));
}
