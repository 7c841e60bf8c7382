import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../../drivers/shell.ts';
import { engineClient, firstPage } from './page.ts';

const PLANTED = 'sk-planted-4f1c9e77b2';
const PROVIDER = { name: 'Planted', baseUrl: 'http://127.0.0.1:9/v1', defaultModel: null, apiKey: PLANTED };

/** Every file below `folder` that has `text` in it; Chromium's profile included, whose files come and go. */
function filesWith(folder: string, text: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return files.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() && readFileSync(file).includes(text));
}

test('a key is kept by the keychain: nowhere in the home in the clear, and there after a restart', async ({ launch, driver }) => {
  test.skip(driver === 'electron', 'a machine for tests seldom has a keyring');
  const first = await launch();
  const client = await engineClient(await firstPage(first));
  const saved = await client.settings.saveProvider(PROVIDER);
  expect(saved.keyStore).toBe('keychain');
  expect(JSON.stringify(saved)).not.toContain(PLANTED);
  expect(filesWith(first.home, PLANTED)).toEqual([]);
  expect(first.output()).not.toContain(PLANTED);
  await first.evaluate(({ app }) => void setImmediate(() => app.quit()), null);
  await first.exited;

  const second = await launch({ home: first.home });
  const again = await (await engineClient(await firstPage(second))).settings.get();
  expect(again.providers.find(({ name }) => name === 'Planted')?.key).toBe('keychain');
});

test('a keyring that hides nothing is not used, and the settings say where keys go instead', async ({ launch, driver }) => {
  test.skip(driver === 'electron' || process.platform !== 'linux', 'only Linux has such a backend, and only the substitute can be told to use it');
  const shell = await launch({ storageBackend: 'basic_text' });
  const client = await engineClient(await firstPage(shell));
  expect((await client.settings.get()).keyStore).toBe('file');
  await client.settings.saveProvider(PROVIDER);
  expect(filesWith(shell.home, PLANTED).map((file) => file.slice(shell.home.length + 1))).toEqual(['.env']);
  expect(statSync(join(shell.home, '.env')).mode & 0o077).toBe(0);
});
