import { expect, test } from 'vitest';
import { runSpecSchema, runSummarySchema } from './runs.ts';

// a run whose folder cannot be copied to Windows; a stored one that makes the whole list fail
test('names that Windows cannot have are refused for new runs only', () => {
  const named = (runName: string) => runSpecSchema.safeParse({ datasetFile: '/d', runName });
  for (const name of ['CON', 'nul', 'Aux.txt', 'com1', 'LPT9.x', 'run.', 'a..']) expect(named(name).error?.issues[0]?.message, name).toContain('Windows');
  for (const name of ['console', 'nul-1', 'a.con', 'com10', 'v1.2', 'com']) expect(named(name).success, name).toBe(true);
  expect(runSummarySchema.shape.spec.safeParse({ datasetFile: '/d', runName: 'nul' }).success).toBe(true);
});
