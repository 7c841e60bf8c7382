/** Why a review was ended before it was done: what the person reads, and what is decided by it later. */
export const WENT_ON = 'The chat went on before this was done.';
export const CLOSED = 'Talaria was closed before this was done.';
export const STOPPED = 'Stopped.';
export const KILLED = 'Talaria was ended while this ran. What it had done by then is listed.';
export const GONE = 'The conversation is no longer in the store.';
/** What begins with this can be taken up again when the cap allows it. */
export const CAPPED = 'Not begun: ';

type Ended = { state: string; error: string | null };

/** Given up for reasons that say nothing about the conversation: what it would have read is still to be looked at. */
export function gaveUp({ state, error }: Ended): boolean {
  return state === 'cancelled' && error !== STOPPED && error !== GONE;
}

/** One that a cap kept from beginning. */
export function wasCapped({ state, error }: Ended): boolean {
  return state === 'cancelled' && (error ?? '').startsWith(CAPPED);
}
