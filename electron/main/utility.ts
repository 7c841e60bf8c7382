/**
 * Entry of the engine's process in the desktop. Main says where its home is and hands over ports; everything else is
 * the engine's. Imports nothing of Electron: the same file runs under a plain Node in the tests.
 */
import { openEngine } from '#engine/engine.ts';
import type { Engine } from '#engine/engine.ts';
import { servePort } from '#engine/api/transports.ts';
import { HomeBusyError } from '#engine/store/instance.ts';
import type { Keychain, Logger } from '#engine/store/types.ts';
import type { MessagePortMain } from 'electron';
import type { EngineStart, FromEngine, ToEngine } from './engine-messages.ts';
import { mainKeychain } from './utility-keychain.ts';
import { reportWork, type WorkReport } from './utility-work.ts';

const log: Logger = {
  info: (message) => console.log(message),
  error: (message, error) => console.error(message, error ?? ''),
};

const send = (message: FromEngine): void => process.parentPort.postMessage(message);
const keychain = mainKeychain(send);
/** Ports that came before the engine was open. */
const waiting: MessagePortMain[] = [];
let engine: Engine | undefined;
let opening: Promise<void> | undefined;
let closing: Promise<void> | undefined;
let report: WorkReport | undefined;

// Ctrl-C in a terminal reaches every process of the group; main quits on it and then asks this one to close.
process.on('SIGINT', () => undefined);

process.parentPort.on('message', ({ data, ports }) => {
  const message = data as ToEngine;
  switch (message.type) {
    case 'start':
      opening = open(message.start);
      return;
    case 'port':
      for (const port of ports) serve(port);
      return;
    case 'keychain':
      keychain.receive(message);
      return;
    case 'work':
      report?.tell();
      return;
    case 'close':
      closing ??= close();
  }
});

async function open(start: EngineStart): Promise<void> {
  try {
    const usable = await usableKeychain();
    const opened = await openEngine({ ...start, host: 'desktop', env: process.env, log, ...(usable && { keychain: usable }) });
    engine = opened;
    send({ type: 'ready' });
    report = reportWork(opened.client, send, log);
    for (const port of waiting.splice(0)) servePort(opened, port);
  } catch (error) {
    if (error instanceof HomeBusyError) return send({ type: 'busy', message: error.message });
    log.error('The engine could not be opened', error);
    send({ type: 'failed', message: error instanceof Error ? error.message : 'The engine could not be opened.' });
  }
}

/** Without a keychain that is one, the engine keeps keys as it does in the browser, in a file of the owner's, and says so. */
async function usableKeychain(): Promise<Keychain | undefined> {
  try {
    await keychain.check();
    return keychain;
  } catch (error) {
    log.info(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

function serve(port: MessagePortMain): void {
  if (engine === undefined) waiting.push(port);
  else servePort(engine, port);
}

async function close(): Promise<void> {
  // A window can be closed before the engine is open: what is half open would leave its marks in the home.
  await opening;
  report?.end();
  try {
    await engine?.close();
  } catch (error) {
    log.error('The engine did not close cleanly', error);
  }
  send({ type: 'closed' });
}
