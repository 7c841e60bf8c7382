import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { preparePass } from './prepare.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'prefill-test-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function read(content: string | Buffer) {
  const file = join(dir, 'messages.json');
  writeFileSync(file, content);
  return preparePass({ prefillMessagesFile: file, sandbox: 'host' });
}

test('messages before each conversation are read once for a pass', async () => {
  expect(await read('\ufeff[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello","__proto__":{"x":1}}]')).toEqual({
    prefill: [
      { role: 'user', content: 'Hi', createdAt: 0 },
      { role: 'assistant', content: 'Hello', createdAt: 0 },
    ],
  });
  expect(await preparePass({ sandbox: 'host' })).toEqual({ prefill: [] });
});

test.each([
  ['[{"role":"user","content":"a"},{"role":"tool","content":"b"}]', /Message 2 of .*"tool"/],
  ['[{"role":"user"}]', /Message 1 of .*"content"/],
  ['[{"role":"user","content":"a"},"b"]', /Message 2 of /],
  ['{"role":"user","content":"a"}', /JSON list/],
  ['[{"role":', /not JSON/],
  [Buffer.from([0x5b, 0xff, 0x5d]), /not UTF-8/],
])('%s is refused with the message that is wrong', async (content, sentence) => {
  await expect(read(content)).rejects.toMatchObject({ code: 'invalid', field: 'prefillMessagesFile', message: expect.stringMatching(sentence) });
});

test('a file that is not there, or no file, is said to be', async () => {
  await expect(preparePass({ prefillMessagesFile: join(dir, 'none.json'), sandbox: 'host' })).rejects.toMatchObject({ field: 'prefillMessagesFile', message: expect.stringContaining('There is no file') });
  await expect(preparePass({ prefillMessagesFile: dir, sandbox: 'host' })).rejects.toMatchObject({ message: expect.stringContaining('not a file') });
  await expect(preparePass({ prefillMessagesFile: 'relative.json', sandbox: 'host' })).rejects.toMatchObject({ message: expect.stringContaining('whole path') });
});
