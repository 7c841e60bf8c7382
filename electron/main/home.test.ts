import { expect, test } from 'vitest';
import { homeFolder } from './home.ts';

test.each([
  [['electron', '.', '--home', '/a'], { TALARIA_HOME: '/env' }, '/a'],
  [['electron', '.', '--home=/a b'], {}, '/a b'],
  [['electron', '.'], { TALARIA_HOME: '/env' }, '/env'],
  [['electron', '.'], {}, '/u/.talaria'],
  // The last argument, with its value missing.
  [['electron', '.', '--home'], {}, '/u/.talaria'],
  [['electron', '.', '--homely=/x'], {}, '/u/.talaria'],
])('%j with %j is %s', (argv, env, home) => {
  expect(homeFolder(argv, env, '/u')).toBe(home);
});
