import { afterEach, beforeEach, expect, it } from 'vitest';
import { READER, testStore } from '../../trajectories/testing.ts';
import { PageConverter } from './converter.ts';

let t: ReturnType<typeof testStore>;
let converter: PageConverter;
beforeEach(() => {
  t = testStore();
});
afterEach(async () => {
  await converter.close();
  await t.close();
});
const never = new AbortController().signal;
const page = (html: string) => ({ html, url: 'http://a.example/' });

it('converts in a worker, several pages in order', async () => {
  converter = new PageConverter(READER, t.store.file);
  const all = await Promise.all(['<p>one', '<p>two'].map((html) => converter.convert(page(html), never)));
  expect(all.map(({ markdown }) => markdown)).toEqual(['one', 'two']);
});

// Bug: one page that takes for ever stops every page after it.
it('gives up on a page after the time allowed and goes on with a new worker', async () => {
  converter = new PageConverter(READER, t.store.file, 1);
  await expect(converter.convert(page('<p>slow</p>'.repeat(20_000)), never)).rejects.toMatchObject({ name: 'ToolError', message: expect.stringContaining('could not be turned into text') });
  await converter.close();
  converter = new PageConverter(READER, t.store.file);
  expect((await converter.convert(page('<p>next'), never)).markdown).toBe('next');
});

it('stops at once when the run is interrupted', async () => {
  converter = new PageConverter(READER, t.store.file);
  const stop = new AbortController();
  const work = converter.convert(page('<p>slow</p>'.repeat(20_000)), stop.signal);
  stop.abort(new Error('stopped by the person'));
  await expect(work).rejects.toThrow('stopped by the person');
  expect((await converter.convert(page('<p>next'), never)).markdown).toBe('next');
});
