import { expect, test } from 'vitest';
import { skillIdOf, skillPath } from './address.ts';

// Bug: an id with a slash, a percent sign or a question mark opens another skill, or none.
test('an id survives its address', () => {
  for (const id of ['own/git/rebase', 'external:2/100% sure?', 'own/a#b/c', 'hermes/%2F/x']) expect(skillIdOf(skillPath(id))).toBe(id);
});

// Bug: a link of another screen that encodes the whole id leads nowhere; a broken one breaks the page.
test('encoded slashes are slashes, and what cannot be decoded stays', () => {
  expect(skillIdOf('/skills/own%2Fgit%2Frebase')).toBe('own/git/rebase');
  expect(skillIdOf('/skills/%E0%A4%A')).toBe('%E0%A4%A');
  expect(skillIdOf('/skills')).toBeNull();
  expect(skillIdOf('/skills/')).toBeNull();
});
