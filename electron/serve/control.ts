import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Holder } from '#engine/store/instance.ts';

/** Where a second start asks the running one for a link. */
export const CONTROL_PATH = '/control/link';

const linksSchema = z.object({
  /** To print. */
  link: z.url(),
  /** To hand to a browser at once. */
  open: z.url(),
});
export type Links = z.infer<typeof linksSchema>;

const ATTEMPTS = 20;
const PAUSE_MS = 500;

/**
 * Asks the running browser mode for new one-time links, with the secret that only the owner of the home can read. Waits up
 * to ten seconds for one that is just starting. Null when it does not answer as it should.
 */
export async function askForLink(holder: Holder): Promise<Links | null> {
  if (holder.host !== 'browser' || holder.address === null) return null;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      const response = await fetch(new URL(CONTROL_PATH, holder.address), {
        method: 'POST',
        headers: { authorization: `Bearer ${holder.controlSecret}` },
        redirect: 'error',
        signal: AbortSignal.timeout(5_000),
      });
      if (response.ok) return linksSchema.parse(await response.json());
      if (response.status !== 503) return null;
    } catch (error) {
      if (error instanceof z.ZodError || error instanceof SyntaxError) return null;
      // Not listening yet, or no longer.
    }
    await delay(PAUSE_MS);
  }
  return null;
}
