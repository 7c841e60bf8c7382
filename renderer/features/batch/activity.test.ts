import { expect, test } from 'vitest';
import { activityText } from './activity.ts';

// Bug: what an agent does is told in English on a Chinese page, while the words for it are there.
test('all that the engine says of an agent besides tools has words of the page', () => {
  const t = ((key: string) => `[${key}]`) as never;
  const said = ['starting', 'waiting for the model', 'thinking', 'answering', 'calling a tool', 'compressing', 'compressing the context', 'waiting to try again', 'trying again in 4 s: it was busy'];
  for (const one of said) expect(activityText(one, t)).toMatch(/^\[activity\.\w+\]$/);
  expect(activityText('terminal sleep 5', t)).toBe('terminal sleep 5');
});
