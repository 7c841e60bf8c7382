import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from '@playwright/test';
import { openBrowser } from './browser.ts';
import type { Ground } from './ground.ts';
import type { Row } from './table.ts';

const LONG_CHARS = 100_000;
const KEYS = 'the quick brown fox jumps over it ';
const KEY_PAUSE_MS = 100;
const TREE = '[role="tree"] [role="treeitem"]';

/**
 * The Skills screen in a real browser over `count` skills and one of 100,000 characters: opened for the first time (which reads and scans
 * all of them) and again, and how long a key takes from the press to the paint with its letter.
 */
export async function benchSkills(ground: Ground, count: number): Promise<Row[]> {
  const home = ground.folder();
  for (let i = 0; i < count; i++) put(home, `group-${i % 20}/skill-${i}`, `skill-${i}`, `Steps for ${i}.\n\n`.repeat(20));
  put(home, 'long', 'long', long());
  const link = await ground.serve('electron/serve/main.ts', ['--home', home, '--port', '0', '--no-open'], /http:\/\/\S+token=\S+/);
  const { origin } = new URL(link);
  const page = await openBrowser(ground);
  await page.goto(link);
  await page.goto(`${origin}/#/settings`);
  await page.getByRole('heading', { name: 'Settings' }).first().waitFor();
  const first = await opened(page);
  const again: number[] = [];
  for (let i = 0; i < 5; i++) {
    await page.goto(`${origin}/#/settings`);
    await page.getByRole('heading', { name: 'Settings' }).first().waitFor();
    again.push(await opened(page));
  }
  const inLong = await typing(page, `${origin}/#/skills/own/long`);
  const inShort = await typing(page, `${origin}/#/skills/own/group-0/skill-0`);
  return [
    { name: 'Skills opened for the first time, all read and scanned', value: first, unit: 'ms' },
    { name: 'opened again (median)', value: at(again, 0.5), unit: 'ms' },
    { name: `a key in ${LONG_CHARS} characters, to its paint (median)`, value: at(inLong, 0.5), unit: 'ms' },
    { name: '… at the 95th percentile', value: at(inLong, 0.95), unit: 'ms' },
    { name: 'a key in a short skill (median)', value: at(inShort, 0.5), unit: 'ms' },
  ];
}

function put(home: string, folder: string, name: string, body: string): void {
  const file = join(home, 'skills', folder, 'SKILL.md');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `---\nname: ${name}\ndescription: What ${name} is for.\n---\n\n${body}`);
}

function long(): string {
  let text = '';
  for (let i = 0; text.length < LONG_CHARS - 400; i++) text += `## Part ${i}\n\nA paragraph with \`code\` and **weight**, number ${i}.\n\n- one\n- two\n\n\`\`\`sh\nmake part-${i}\n\`\`\`\n\n`;
  return text;
}

/** From the change of the address to the first frame with rows. */
function opened(page: Page): Promise<number> {
  return page.evaluate(
    (row) =>
      new Promise<number>((done) => {
        const started = performance.now();
        const look = (): void => {
          if (document.querySelector(row)) requestAnimationFrame(() => done(performance.now() - started));
          else requestAnimationFrame(look);
        };
        location.hash = '#/skills';
        look();
      }),
    TREE,
  );
}

/** ms for each key, with the preview open. */
async function typing(page: Page, address: string): Promise<number[]> {
  await page.goto(address);
  const text = page.getByRole('textbox', { name: 'Text of SKILL.md' });
  await text.waitFor();
  await page.getByRole('tab', { name: 'Preview' }).click();
  await page.getByRole('region', { name: 'Preview' }).waitFor();
  await text.click();
  await page.evaluate(() => {
    const times: number[] = [];
    Object.assign(window, { keyTimes: times });
    document.addEventListener(
      'keydown',
      (event) =>
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => times.push(performance.now() - event.timeStamp);
          port2.postMessage(null);
        }),
      { capture: true },
    );
  });
  for (const key of KEYS) await page.keyboard.press(key === ' ' ? 'Space' : key, { delay: KEY_PAUSE_MS });
  await page.waitForFunction((n) => (window as never as { keyTimes: number[] }).keyTimes.length >= n, KEYS.length);
  return page.evaluate(() => (window as never as { keyTimes: number[] }).keyTimes);
}

function at(times: readonly number[], part: number): number {
  return times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))]!;
}
