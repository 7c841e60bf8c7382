import { oc } from '@orpc/contract';
import { z } from 'zod';

/**
 * Errors any procedure may answer with. `message` is a sentence a person can act on.
 * INVALID carries the offending field when there is one.
 */
export const base = oc.errors({
  NOT_FOUND: {},
  INVALID: { data: z.object({ field: z.string().optional() }).optional() },
  CONFLICT: {},
  UNAVAILABLE: {},
});
