import { z } from 'zod';
import { base } from './base.ts';

export const skillTextsContract = {
  /** Ids of the skills whose SKILL.md holds every word of the query, in any case and any order. */
  find: base.input(z.object({ query: z.string().trim().min(1).max(500) })).output(z.object({ ids: z.array(z.string()) })),
};
