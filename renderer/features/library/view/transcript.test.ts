import { describe, expect, it } from 'vitest';
import { createStore } from 'zustand/vanilla';
import type { Client } from '#shared/contract/index.ts';
import type { LiveEvent } from '#shared/contract/trajectories.ts';
import type { StoredMessage, TrajectoryDetail } from '#shared/trajectory.ts';
import type { Engine } from '../../../lib/client.ts';
import type { ConnectionState } from '../../../lib/connection-state.ts';
import { Transcript } from './transcript.ts';

const message = (seq: number): StoredMessage => ({ seq, role: seq === 0 ? 'user' : 'assistant', content: `text ${seq}`, createdAt: seq });

/** The far side of the line: stored messages, and what each subscription says before it ends or hangs. */
function engineWith(stored: StoredMessage[], state: 'running' | 'ended', streams: ((since: number) => LiveEvent[])[]) {
  const detail = { id: 't', state } as TrajectoryDetail;
  const asked: string[] = [];
  const trajectories = {
    get: async () => ({ ...detail }),
    messages: async ({ after = -1, limit = 200 }: { after?: number; limit?: number }) => {
      asked.push(`messages ${after}`);
      const rest = stored.filter((m) => m.seq > after);
      return { items: rest.slice(0, limit), more: rest.length > limit };
    },
    subscribe: async ({ since = -1 }: { since?: number }) => {
      asked.push(`subscribe ${since}`);
      const events = streams.shift()?.(since) ?? [];
      return (async function* () {
        yield* events;
      })();
    },
  };
  const connection = createStore<ConnectionState>(() => ({ phase: 'up', attempt: 0, retryAt: null, message: null, generation: 1 }));
  const engine: Engine = { client: { trajectories } as unknown as Client, connection, retry: () => undefined, dispose: () => undefined };
  return { engine, asked };
}

/** Frames that come at once, so that every delta is told. */
const atOnce = {
  schedule(flush: () => void) {
    flush();
    return () => undefined;
  },
};
const seqs = (t: Transcript): number[] => t.state.getState().turns.map((turn) => turn.key);

describe('Transcript', () => {
  it('reads all pages of an ended trajectory (catches one that stops after the first page)', async () => {
    const { engine, asked } = engineWith(Array.from({ length: 450 }, (_, i) => message(i)), 'ended', []);
    const transcript = new Transcript(engine, 't', atOnce);
    await transcript.open();
    expect(transcript.state.getState()).toMatchObject({ loaded: 450, complete: true, error: null });
    expect(seqs(transcript)).toEqual(Array.from({ length: 450 }, (_, i) => i));
    expect(asked).toEqual(['messages -1', 'messages 199', 'messages 399']);
  });

  it('reads on from the last message after a gap, and shows none twice (catches a guess over lost events)', async () => {
    const { engine, asked } = engineWith([message(0)], 'running', [
      () => [{ type: 'message', message: message(1) }, { type: 'message', message: message(3) }, { type: 'message', message: message(4) }],
      (since) => [1, 2, 3, 4].filter((n) => n > since).map((n) => ({ type: 'message', message: message(n) })),
    ]);
    const transcript = new Transcript(engine, 't', atOnce);
    await transcript.open();
    expect(seqs(transcript)).toEqual([0, 1, 2, 3, 4]);
    expect(asked).toEqual(['messages -1', 'subscribe 0', 'subscribe 1']);
  });

  it('drops what was streamed on a reset (catches text of a call that was made again)', async () => {
    const { engine } = engineWith([message(0)], 'running', [
      () => [{ type: 'delta', seq: 1, channel: 'content', text: 'first try' }, { type: 'reset' }],
      () => [{ type: 'delta', seq: 1, channel: 'content', text: 'second' }],
    ]);
    const transcript = new Transcript(engine, 't', atOnce);
    const seen: (string | undefined)[] = [];
    transcript.live.subscribe(({ text }) => seen.push(text?.content));
    await transcript.open();
    expect(seen.filter((s) => s !== undefined)).toEqual(['first try', 'second']);
    expect(transcript.live.getState().text).toBeNull();
  });

  it('replaces streamed text by the stored message (catches the same answer shown twice)', async () => {
    const { engine } = engineWith([message(0)], 'running', [
      () => [{ type: 'delta', seq: 1, channel: 'content', text: 'text' }, { type: 'message', message: message(1) }, { type: 'delta', seq: 1, channel: 'content', text: 'late' }],
    ]);
    const transcript = new Transcript(engine, 't', atOnce);
    await transcript.open();
    expect(seqs(transcript)).toEqual([0, 1]);
    expect(transcript.live.getState().text).toBeNull();
  });

  it('says what went wrong (catches a skeleton that stays for ever)', async () => {
    const { engine } = engineWith([], 'ended', []);
    (engine.client as unknown as { trajectories: { get: () => Promise<never> } }).trajectories.get = () => Promise.reject(new Error('gone'));
    const transcript = new Transcript(engine, 't', atOnce);
    await transcript.open();
    expect(transcript.state.getState().error).toMatchObject({ message: 'gone' });
  });
});
