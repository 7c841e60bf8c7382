import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../../drivers/shell.ts';
import type { Shell } from '../../drivers/shell.ts';
import { collectNotices, engineClient, firstPage, takePort } from './page.ts';

/** The engine's process, as it has noted itself in its home. */
function enginePid(shell: Shell): number {
  return (JSON.parse(readFileSync(join(shell.home, 'instance.json'), 'utf8')) as { pid: number }).pid;
}

/** Whether another engine than the one of `pid` has taken the home. */
function engineIsBack(shell: Shell, pid: number): boolean {
  try {
    return enginePid(shell) !== pid;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a killed engine is back by itself: the page is told, asks for a new port and works again', async ({ launch }) => {
  const shell = await launch();
  const page = await firstPage(shell);
  const before = await (await engineClient(page)).app.info();
  const notices = await collectNotices(page);
  process.kill(enginePid(shell), 'SIGKILL');
  await expect.poll(async () => (await notices()).map(({ state }) => state)).toEqual(['down', 'up']);
  const after = await (await engineClient(page)).app.info();
  expect(after.engineEpoch).not.toBe(before.engineEpoch);
});

test('Ctrl-C in the terminal does not cut the engine off: main closes it', async ({ launch }) => {
  test.skip(process.platform === 'win32', 'there are no such signals');
  const shell = await launch();
  const client = await engineClient(await firstPage(shell));
  const before = await client.app.info();
  process.kill(enginePid(shell), 'SIGINT');
  expect((await client.app.info()).engineEpoch).toBe(before.engineEpoch);
});

test('an engine that keeps dying is given up with a reason, and asking once more starts it again', async ({ launch }) => {
  const shell = await launch();
  const page = await firstPage(shell);
  await (await engineClient(page)).app.info();
  const notices = await collectNotices(page);
  for (const ends of [1, 2, 3]) {
    const pid = enginePid(shell);
    process.kill(pid, 'SIGKILL');
    if (ends === 3) break;
    await expect.poll(async () => (await notices()).filter(({ state }) => state === 'up').length).toBe(ends);
  }
  await expect.poll(async () => (await notices()).at(-1)?.state).toBe('gave-up');
  expect((await notices()).at(-1)?.message).toContain('3 times within a minute');
  const info = await (await engineClient(page)).app.info();
  expect(info.home).toBe(shell.home);
});

test('what a person sees: the page goes on after a killed engine, says when it is given up, and one button brings it back', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  const status = page.getByRole('contentinfo', { name: 'Status' });
  const working = status.getByText('nothing running');
  await expect(working).toBeVisible({ timeout: 20_000 });
  for (const ends of [1, 2, 3]) {
    const pid = enginePid(shell);
    process.kill(pid, 'SIGKILL');
    // The status comes over the new line, from an engine that is not the killed one.
    if (ends < 3) await expect.poll(() => engineIsBack(shell, pid), { timeout: 20_000 }).toBe(true);
    if (ends < 3) await expect(working).toBeVisible({ timeout: 20_000 });
  }
  await expect(page.getByText('The engine ended 3 times within a minute')).toBeVisible({ timeout: 20_000 });
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await expect(working).toBeVisible({ timeout: 20_000 });
});

test('the menu restarts the engine', async ({ launch }) => {
  const shell = await launch();
  const page = await firstPage(shell);
  const before = await (await engineClient(page)).app.info();
  const notices = await collectNotices(page);
  await shell.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById('restart-engine')?.click(), null);
  await expect.poll(async () => (await notices()).map(({ state }) => state)).toEqual(['down', 'up']);
  expect((await (await engineClient(page)).app.info()).engineEpoch).not.toBe(before.engineEpoch);
});

test('quitting closes the engine, which gives its home back, and ends everything', async ({ launch }) => {
  const shell = await launch();
  const page = await firstPage(shell);
  await (await engineClient(page)).app.info();
  const pid = enginePid(shell);
  await shell.evaluate(({ app }) => void setImmediate(() => app.quit()), null);
  expect(await shell.exited).toBe(0);
  expect(existsSync(join(shell.home, 'instance.json'))).toBe(false);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('closing the last window quits, except on macOS', async ({ launch }) => {
  test.skip(process.platform === 'darwin', 'an app without windows goes on there');
  const shell = await launch();
  const page = await firstPage(shell);
  await takePort(page);
  await page.close();
  expect(await shell.exited).toBe(0);
  expect(existsSync(join(shell.home, 'instance.json'))).toBe(false);
});

test('a window that is closed while the engine still opens leaves the home free', async ({ launch }) => {
  test.skip(process.platform === 'darwin', 'an app without windows goes on there');
  const shell = await launch();
  await (await firstPage(shell)).close();
  expect(await shell.exited).toBe(0);
  expect(existsSync(join(shell.home, 'instance.json'))).toBe(false);
});

test('a home that another instance holds: says who holds it, quits and leaves the other alone', async ({ launch, driver }) => {
  test.skip(driver === 'electron', 'the dialog is a native one');
  const first = await launch();
  const client = await engineClient(await firstPage(first));
  await client.app.info();
  const second = await launch({ home: first.home });
  expect(await second.exited).toBe(0);
  const [dialog] = second.calls();
  expect(dialog?.call).toBe('dialog.showMessageBox');
  expect(JSON.stringify(dialog?.args)).toContain(`process ${enginePid(first)}`);
  expect((await client.app.info()).home).toBe(first.home);
});

test('a second start of the same app ends at once without a window', async ({ launch, driver }) => {
  test.skip(driver === 'electron', 'Playwright cannot attach to an app that ends at once');
  const shell = await launch({ firstInstance: false });
  expect(await shell.exited).toBe(0);
  expect(shell.requests()).toEqual([]);
});

test('a home that cannot be made: says so and ends', async ({ launch, driver }) => {
  test.skip(driver === 'electron', 'the dialog is a native one');
  const shell = await launch({ home: '/dev/null/home' });
  expect(await shell.exited).toBe(1);
  expect(JSON.stringify(shell.calls())).toContain('/dev/null');
});
