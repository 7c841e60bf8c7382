import { join } from 'node:path';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import type { Page } from '@playwright/test';
import { WebSocket } from 'ws';
import type { Client } from '#shared/contract/index.ts';
import { openStore } from '#engine/store/store.ts';
import { startFakeModel } from '../../e2e/fakes/fake-model.ts';
import { say } from '../../e2e/fakes/steps.ts';
import { openBrowser } from './browser.ts';
import { type Ground, ROOT } from './ground.ts';
import { CHAT_END, seedChat } from './seed-chat.ts';
import type { Row } from './table.ts';

const RUNS = 5;
const STREAM_SECONDS = 15;
/** Four characters each. */
const TOKENS_PER_SECOND = 2_000;
const CHUNK_MS = 10;
const SLOW_FRAME_MS = 50;
const LOG = '[role="log"]';

/** Prose, lists, tables and code, as long as it takes. */
function answer(chars: number): string {
  const part = (n: number): string =>
    `## Part ${n}\n\n${'The export spends its **time** in `events`, because the filter runs on a text column; see [the runbook](https://wiki.example/export). '.repeat(6)}\n\n` +
    `1. Check the plan\n2. Cast the parameter\n   - and time it\n3. Tell the others\n\n\`\`\`python\n${`def step_${n}(row):\n    return {"id": row["id"], "took": ${n}}  # one more\n\n`.repeat(12)}\`\`\`\n\n` +
    `| table | rows | time |\n|---|---|---|\n${`| events | ${n} M | 48 min |\n`.repeat(12)}\n`;
  let text = '';
  for (let n = 1; text.length < chars; n++) text += part(n);
  return text.slice(0, chars);
}

/**
 * The chat page in a real browser against a real engine: opening a chat of `count` messages, scrolling it, and frames while a fake model
 * streams at 2,000 tokens a second into it. Network and engine included.
 */
export async function benchChat(ground: Ground, count: number): Promise<Row[]> {
  const chars = STREAM_SECONDS * TOKENS_PER_SECOND * 4;
  const pieceChars = (TOKENS_PER_SECOND * 4 * CHUNK_MS) / 1_000;
  const fake = await startFakeModel({ keepRequests: 0, respond: () => ({ ...say(answer(chars), { pieceChars }), pace: { betweenChunksMs: CHUNK_MS - 1 } }) });
  ground.defer(() => fake.close());
  const home = ground.folder();
  const store = openStore(home, { resources: join(ROOT, 'resources'), reader: join(ROOT, 'electron/engine/store/reader.ts') });
  const id = seedChat(store, count, { provider: 'bench', model: 'bench', workspace: ground.folder() });
  await store.close();
  const link = await ground.serve('electron/serve/main.ts', ['--home', home, '--port', '0', '--no-open'], /http:\/\/\S+token=\S+/);
  const page = await openBrowser(ground);
  await page.goto(link);
  // The page goes to a chat by itself; later that would lead away from the one that is opened here.
  await page.waitForURL(/#\/chat\/./);
  const client = await clientBeside(ground, page, new URL(link).host);
  const { providers } = await client.settings.saveProvider({ name: 'bench', baseUrl: fake.url, apiKey: 'sk-bench' });

  const opened: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    await page.evaluate(() => void (location.hash = '#/settings'));
    await page.locator(LOG).waitFor({ state: 'detached' });
    opened.push(await open(page, id));
  }
  // What is older has come.
  await page.waitForFunction((log) => !document.querySelector(log)?.closest('[aria-busy="true"]'), LOG);
  const scroll = await scrolling(page);

  const first = providers.find(({ name }) => name === 'bench')?.id ?? '';
  const fresh = await client.chats.create({ provider: first, model: 'bench', toolsets: [] });
  await client.chats.configure({ id, settings: { provider: first, model: 'bench', toolsets: [] } });
  const rows: Row[] = [
    { name: `chat of ${count} messages opened to painted messages (median)`, value: median(opened), unit: 'ms' },
    { name: 'the same, slowest', value: Math.max(...opened), unit: 'ms' },
    { name: 'scrolled up 400 frames: rows that were not where they should be', value: scroll.jumps, unit: 'frames' },
    { name: 'scrolled up 400 frames: blank frames', value: scroll.blank, unit: 'frames' },
    { name: 'scrolled up 400 frames: longest frame', value: scroll.longest, unit: 'ms' },
  ];
  for (const [name, session] of [['new chat', fresh.session.id], [`chat of ${count}`, id]] as const) rows.push(...(await streaming(page, client, session, name, chars)));
  return rows;
}

/** From the address to the first frame in which the newest message is shown. */
async function open(page: Page, id: string): Promise<number> {
  return page.evaluate(
    ([log, hash, end]) =>
      new Promise<number>((done, fail) => {
        const started = performance.now();
        const look = (): void => {
          if (document.querySelector(log)?.textContent?.includes(end)) requestAnimationFrame(() => done(performance.now() - started));
          else if (performance.now() - started > 30_000) fail(new Error('The chat did not open'));
          else requestAnimationFrame(look);
        };
        location.hash = hash;
        look();
      }),
    [LOG, `#/chat/${id}`, CHAT_END] as const,
  );
}

/** Scrolls up as a wheel does, looking in each frame whether what was seen moved by just as much. */
async function scrolling(page: Page): Promise<{ jumps: number; blank: number; longest: number }> {
  const box = await page.locator(LOG).boundingBox();
  if (box) await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, -200);
  return page.evaluate(async (log) => {
    // What counts is what was painted, which is settled only behind the frame's own callbacks.
    const frame = (): Promise<number> => new Promise((r) => requestAnimationFrame((now) => setTimeout(() => r(now), 0)));
    const list = document.querySelector(log);
    if (!list) throw new Error('There is no conversation');
    const seen = (): Element[] => [...list.querySelectorAll('[data-index]')].filter((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      const { top: from, bottom: to } = list.getBoundingClientRect();
      return bottom > from + 40 && top < to - 200;
    });
    const result = { jumps: 0, blank: 0, longest: 0 };
    let before = await frame();
    for (let i = 0; i < 400; i++) {
      const row = seen()[0];
      const top = row?.getBoundingClientRect().top ?? 0;
      const step = 90 + (i % 5) * 30;
      list.scrollTop -= step;
      const now = await frame();
      result.longest = Math.max(result.longest, now - before);
      before = now;
      if (!row) result.blank++;
      else if (row.isConnected && Math.abs(row.getBoundingClientRect().top - top - step) > 2) result.jumps++;
    }
    return result;
  }, LOG);
}

async function streaming(page: Page, client: Client, id: string, name: string, chars: number): Promise<Row[]> {
  await page.evaluate((hash) => void (location.hash = hash), `#/chat/${id}`);
  await page.waitForTimeout(1_500);
  await page.evaluate(() => {
    const record = { gaps: [] as number[], tasks: [] as number[], stop: false };
    (window as unknown as { record: typeof record }).record = record;
    new PerformanceObserver((list) => record.tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: 'longtask' });
    let before = performance.now();
    const tick = (now: number): void => {
      record.gaps.push(now - before);
      before = now;
      if (!record.stop) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  const started = performance.now();
  await client.chats.send({ id, text: 'Tell me everything.' });
  let state = await client.chats.get({ id });
  while (state.session.state !== 'idle') {
    await page.waitForTimeout(100);
    state = await client.chats.get({ id });
  }
  const seconds = (performance.now() - started) / 1_000;
  await page.waitForTimeout(500);
  const { gaps, tasks } = await page.evaluate(() => {
    const { record } = window as unknown as { record: { gaps: number[]; tasks: number[]; stop: boolean } };
    record.stop = true;
    return { gaps: record.gaps.slice(1), tasks: record.tasks };
  });
  const atEnd = await page.evaluate((log) => {
    const list = document.querySelector(log);
    return list ? list.scrollHeight - list.scrollTop - list.clientHeight : -1;
  }, LOG);
  gaps.sort((a, b) => a - b);
  return [
    { name: `${name}: streamed`, value: chars / 4 / seconds, unit: 'tokens/s' },
    { name: `${name}: longest frame`, value: gaps.at(-1) ?? 0, unit: 'ms' },
    { name: `${name}: 99 % of frames within`, value: gaps[Math.floor(gaps.length * 0.99)] ?? 0, unit: 'ms' },
    { name: `${name}: frames over ${SLOW_FRAME_MS} ms, of ${gaps.length}`, value: gaps.filter((gap) => gap > SLOW_FRAME_MS).length, unit: 'frames' },
    { name: `${name}: long tasks`, value: tasks.length, unit: `(longest ${Math.round(Math.max(0, ...tasks))} ms)` },
    { name: `${name}: distance from the end afterwards`, value: atEnd, unit: 'px' },
  ];
}

/** A client of the engine with the page's own way in. */
async function clientBeside(ground: Ground, page: Page, host: string): Promise<Client> {
  const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  const socket = new WebSocket(`ws://${host}/rpc`, { headers: { origin: `http://${host}`, cookie } });
  ground.defer(() => socket.terminate());
  await new Promise((done, fail) => socket.once('open', done).once('error', fail));
  return createORPCClient(new RPCLink({ websocket: socket as never }));
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
