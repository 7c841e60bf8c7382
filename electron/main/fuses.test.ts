import { expect, test } from 'vitest';
import { FUSES } from './fuses.ts';

test('the packed binary cannot be turned into a Node, inspected, or made to run other code', () => {
  expect(FUSES).toEqual({
    runAsNode: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableCookieEncryption: true,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    loadBrowserProcessSpecificV8Snapshot: false,
    grantFileProtocolExtraPrivileges: false,
  });
});
