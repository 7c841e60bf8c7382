import { expect, test } from 'vitest';
import { splitHash } from './hash-location.ts';

// Bug: the router sees "/library?run=1" as a path, or the query is lost.
test('path and query both live in the hash', () => {
  expect(splitHash('#/library?run=ID&q=a%3Fb')).toEqual({ path: '/library', search: 'run=ID&q=a%3Fb' });
  expect(splitHash('#/batch/new')).toEqual({ path: '/batch/new', search: '' });
  expect(splitHash('')).toEqual({ path: '/', search: '' });
});
