/** The page's view of its line to the engine, as a pure state machine. */

export type ConnectionPhase = 'connecting' | 'up' | 'lost' | 'gave-up';

export interface ConnectionState {
  phase: ConnectionPhase;
  /** Failed attempts since the line was last up. */
  attempt: number;
  /** Epoch ms of the next attempt; null when none is planned. */
  retryAt: number | null;
  /** What the host said, when it said something. */
  message: string | null;
  /** How often the line came up; streams start anew when it grows. */
  generation: number;
}

export type ConnectionEvent =
  | { type: 'opened' }
  /** The line broke, or an attempt failed. */
  | { type: 'closed'; message: string | null }
  /** The host stopped trying, or trying is pointless (refused). */
  | { type: 'gave-up'; message: string | null }
  /** A person, or the clock, asks for another attempt. */
  | { type: 'retry' };

export const RETRY_FIRST_MS = 250;
export const RETRY_MAX_MS = 5_000;
/** About a minute of attempts; then the person decides. */
export const MAX_ATTEMPTS = 16;

export const INITIAL_CONNECTION: ConnectionState = { phase: 'connecting', attempt: 0, retryAt: null, message: null, generation: 0 };

/** Doubles from 250 ms to 5 s. @param attempt failed attempts so far, from 1 */
export function retryDelayMs(attempt: number): number {
  return Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.max(0, attempt - 1));
}

/** The state after an event. @param now epoch ms */
export function nextConnection(state: ConnectionState, event: ConnectionEvent, now: number): ConnectionState {
  switch (event.type) {
    case 'opened':
      return { phase: 'up', attempt: 0, retryAt: null, message: null, generation: state.generation + 1 };
    case 'closed': {
      if (state.phase === 'gave-up') return state;
      const attempt = state.attempt + 1;
      const message = event.message ?? state.message;
      if (attempt > MAX_ATTEMPTS) return { ...state, phase: 'gave-up', attempt, retryAt: null, message };
      // Before the first success the page is still starting: it says "connecting", not "lost".
      const phase = state.generation === 0 ? 'connecting' : 'lost';
      return { ...state, phase, attempt, retryAt: now + retryDelayMs(attempt), message };
    }
    case 'gave-up':
      return { ...state, phase: 'gave-up', retryAt: null, message: event.message ?? state.message };
    case 'retry':
      if (state.phase === 'up') return state;
      // A person's retry after giving up starts the count anew.
      return state.phase === 'gave-up'
        ? { ...state, phase: state.generation === 0 ? 'connecting' : 'lost', attempt: 0, retryAt: null }
        : { ...state, retryAt: null };
  }
}
