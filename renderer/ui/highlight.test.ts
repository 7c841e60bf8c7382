import { describe, expect, it } from 'vitest';
import { Highlights } from './highlight.ts';
import { tokenKind, TOKEN_KINDS, TOKEN_THEME, type HighlightRequest } from './highlight-theme.ts';

/** A worker that answers when it is told to. */
class SlowWorker {
  readonly asked: HighlightRequest[] = [];
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: (() => void) | null = null;
  postMessage(request: HighlightRequest): void {
    this.asked.push(request);
  }
  answer(id: number): void {
    this.onmessage?.({ data: { id, lines: [[['x', 1]]] } });
  }
}

const setUp = (): { worker: SlowWorker; highlights: Highlights } => {
  const worker = new SlowWorker();
  return { worker, highlights: new Highlights(() => worker as unknown as Worker) };
};

describe('Highlights', () => {
  it('asks once for the same code and keeps the answer (catches colours that flash at each scroll)', async () => {
    const { worker, highlights } = setUp();
    const both = [highlights.ask('x', 'py'), highlights.ask('x', 'py')];
    expect(worker.asked).toHaveLength(1);
    worker.answer(worker.asked[0]?.id ?? 0);
    expect(await Promise.all(both)).toEqual([[[['x', 1]]], [[['x', 1]]]]);
    expect(highlights.known('x', 'py')).toEqual([[['x', 1]]]);
    expect(highlights.known('x', 'rb')).toBeUndefined();
  });

  it('lets code without a language, and a worker that broke, stay plain (catches a page that waits for ever)', async () => {
    const { worker, highlights } = setUp();
    expect(highlights.known('x', '')).toBeNull();
    const waiting = highlights.ask('x', 'py');
    worker.onerror?.();
    expect(await waiting).toBeNull();
    expect(await highlights.ask('y', 'py')).toBeNull();
  });
});

describe('the theme of kinds', () => {
  it('gives every kind a colour that reads back as itself (catches keywords drawn as strings)', () => {
    const kinds = (TOKEN_THEME.settings ?? []).map((s) => tokenKind(s.settings.foreground));
    expect(new Set(kinds)).toEqual(new Set(TOKEN_KINDS.map((_, i) => i)));
    expect(tokenKind('#ffffff')).toBe(0);
    expect(tokenKind(undefined)).toBe(0);
  });
});
