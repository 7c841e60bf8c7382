import { z } from 'zod';
import { base } from './base.ts';
import { spendLineSchema } from './chats.ts';

/** USD for a million tokens. `cached` absent: as `input`. */
export const priceSchema = z.object({ input: z.number().min(0), output: z.number().min(0), cached: z.number().min(0).optional() });
export type Price = z.infer<typeof priceSchema>;

export const priceRowSchema = z.object({
  /** A model id, `provider/model id`, or either with `*` at the end. The longest that fits wins. */
  model: z.string().min(1).max(200),
  price: priceSchema,
  /** `built-in` ones can be changed (they become `own`), not removed. */
  source: z.enum(['own', 'built-in']),
});
export type PriceRow = z.infer<typeof priceRowSchema>;

/** Caps in USD; null = none. A run or session that reaches one stops cleanly and can go on after the cap is raised. */
export const capsSchema = z.object({ sessionUsd: z.number().positive().nullable(), runUsd: z.number().positive().nullable(), dayUsd: z.number().positive().nullable() });
export type Caps = z.infer<typeof capsSchema>;

export const spendContract = {
  summary: base.output(
    z.object({
      caps: capsSchema,
      today: z.array(spendLineSchema),
      /** Newest first, at most 30. */
      days: z.array(z.object({ day: z.string(), lines: z.array(spendLineSchema) })),
    }),
  ),
  setCaps: base.input(capsSchema.partial()).output(capsSchema),
  prices: base.output(z.object({ rows: z.array(priceRowSchema), unpriced: z.array(z.object({ provider: z.string(), model: z.string(), tokens: z.number() })) })),
  setPrice: base.input(z.object({ model: z.string().trim().min(1).max(200), price: priceSchema.nullable() })).output(z.object({ rows: z.array(priceRowSchema) })),
};
