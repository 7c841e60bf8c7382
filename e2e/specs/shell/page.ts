import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import type { Page } from '@playwright/test';
import type { Shell } from '../../drivers/shell.ts';
import type { Client } from '../../../shared/contract/index.ts';

type Listener = (event: { data: unknown }) => void;

/** Asks for a port as the page does, keeps it from the page's own listener, and returns the engine's client over it. */
export async function engineClient(page: Page): Promise<Client> {
  const id = await takePort(page);
  const listeners: Listener[] = [];
  await page.exposeFunction(`specReceive${id}`, (data: string) => listeners.forEach((listener) => listener({ data })));
  await page.evaluate(`specPorts[${id}].onmessage = (event) => specReceive${id}(event.data)`);
  const port = {
    on: (event: string, listener: Listener) => void (event === 'message' && listeners.push(listener)),
    postMessage: (data: unknown) => void page.evaluate(`specPorts[${id}].postMessage(${JSON.stringify(data)})`).catch(() => undefined),
  };
  return createORPCClient<Client>(new RPCLink({ port: port as never }));
}

/**
 * The first window with a listener that comes before the page's own: it can keep a port for the spec. A port shared with
 * the page would mix up their calls. (Listeners of a window run in the order in which they were added, capture or not.)
 */
export async function firstPage(shell: Pick<Shell, 'firstWindow'>): Promise<Page> {
  const page = await shell.firstWindow();
  await page.addInitScript(`
    globalThis.specPorts = [];
    globalThis.specPortsSeen = 0;
    addEventListener('message', (event) => {
      if (event.source !== window || event.data?.type !== 'talaria:port') return;
      specPortsSeen += 1;
      if (!globalThis.specWaiting) return;
      event.stopImmediatePropagation();
      const resolve = specWaiting;
      specWaiting = undefined;
      resolve(specPorts.push(event.ports[0]) - 1);
    });
  `);
  await page.reload();
  return page;
}

/** Asks for a port from the page's own world and leaves it in `specPorts`; returns its index there. */
export function takePort(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    globalThis.specWaiting = resolve;
    postMessage({ type: 'talaria:connect' }, location.origin);
  })`);
}

/** Collects what the shell tells the page of the engine into `specNotices`. */
export async function collectNotices(page: Page): Promise<() => Promise<{ state: string; message: string }[]>> {
  await page.evaluate(`{
    globalThis.specNotices = [];
    addEventListener('message', (event) => {
      if (event.source === window && event.data?.type === 'talaria:engine') specNotices.push(event.data);
    }, true);
  }`);
  return () => page.evaluate('specNotices');
}

/**
 * Runs a statement as the page's own script would, not as the debugger (which is above the content security policy), and
 * answers with the value of `result` and the policy's violations, once there is one, or after ten seconds without any.
 */
export function asPageScript(page: Page, statement: string): Promise<{ violations: string[]; result: unknown }> {
  return page.evaluate(`new Promise((resolve) => {
    const violations = [];
    let reported;
    const first = new Promise((done) => { reported = done; });
    const note = (event) => { violations.push(event.effectiveDirective); reported(); };
    document.addEventListener('securitypolicyviolation', note);
    setTimeout(async () => {
      let result;
      try { result = await (async () => { ${statement} })(); } catch (error) { result = error.name; }
      // Violations are reported by tasks of their own; that of a frame comes with its navigation, which may take its time.
      const limit = setTimeout(reported, 10000);
      await first;
      clearTimeout(limit);
      document.removeEventListener('securitypolicyviolation', note);
      resolve({ violations, result });
    });
  })`);
}
