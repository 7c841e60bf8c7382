import { type Engine, openEngine } from '#engine/engine.ts';
import { serveWebSocket } from '#engine/api/transports.ts';
import type { EnginePaths } from '#engine/paths.ts';
import { HomeError, resolveHome } from '#engine/store/home.ts';
import { HomeBusyError } from '#engine/store/instance.ts';
import type { Logger } from '#engine/store/types.ts';
import { askForLink } from './control.ts';
import { isLoopbackName } from './hosts.ts';
import { canOpenBrowser, openBrowser } from './open-browser.ts';
import type { ServeOptions } from './options.ts';
import { PageServer } from './server.ts';

export interface ServeSetting {
  /** Folder of the built page. */
  pageFolder: string;
  paths: EnginePaths;
  version: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Runs browser mode until it is told to stop, and resolves to the exit code: 0 after a stop, or when a running instance has
 * given a new link; 1 when it could not start. Prints only what a person needs.
 */
export async function serve(options: ServeOptions, setting: ServeSetting): Promise<number> {
  // A closed terminal must not end a running batch with EPIPE.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  const stop = stopSignal();
  const home = resolveHome(options.home, setting.env);

  let server: PageServer;
  try {
    server = await PageServer.listen({
      host: options.host,
      port: options.port,
      allowRemote: options.allowRemote,
      pageFolder: setting.pageFolder,
      onError: (message, error) => terminalLog.error(message, error),
    });
  } catch (error) {
    return failed(listenSentence(options, error));
  }

  let engine: Engine;
  try {
    engine = await openEngine({ home, host: 'browser', paths: setting.paths, version: setting.version, env: setting.env, log: terminalLog, address: server.address });
  } catch (error) {
    await server.close();
    if (error instanceof HomeBusyError) return await secondStart(error, options, setting.env);
    if (error instanceof HomeError || hasCode(error)) return failed((error as Error).message);
    throw error;
  }
  server.open({
    exportsFolder: engine.home.exports,
    controlSecret: engine.lock.holder.controlSecret,
    serveSocket: (socket) => serveWebSocket(engine, socket),
  });
  greet(server, options, setting, home);

  await stop;
  say('\nStopping …');
  await server.close();
  await engine.close();
  return 0;
}

function greet(server: PageServer, options: ServeOptions, setting: ServeSetting, home: string): void {
  const outside = server.newLinkFromOutside();
  say(`Talaria ${setting.version}, data in ${home}`);
  if (!isLoopbackName(options.host)) {
    say('Warning: other machines can reach this one. Whoever gets in can run commands as you, and the connection is not encrypted.');
  }
  say(`\n  ${server.newLink()}\n`);
  if (outside !== null) say(`From other machines:\n\n  ${outside}\n`);
  say('Open the link to get in; it works once. Stop with Ctrl+C.');
  if (options.open && canOpenBrowser(setting.env, process.platform)) openBrowser(server.newLinkToOpen());
}

/** The home is in use: by browser mode, then a new link to that; by something else, then say so. */
async function secondStart(busy: HomeBusyError, options: ServeOptions, env: NodeJS.ProcessEnv): Promise<number> {
  const links = busy.holder ? await askForLink(busy.holder) : null;
  if (links === null) return failed(busy.message);
  say(`Talaria is running already with the data in ${busy.home}. A new link to it:\n\n  ${links.link}\n`);
  say('Open the link to get in; it works once.');
  if (options.open && canOpenBrowser(env, process.platform)) openBrowser(links.open);
  return 0;
}

/** One Ctrl+C reaches us several times: from the terminal, and from each program that started us and passes it on. */
const SAME_REQUEST_MS = 500;

/** Resolves at the first request to stop. A second one ends the process at once: what was answered is stored. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked: number | null = null;
    const ask = (): void => {
      if (asked !== null && performance.now() - asked > SAME_REQUEST_MS) process.exit(130);
      asked ??= performance.now();
      resolve();
    };
    process.on('SIGINT', ask);
    process.on('SIGTERM', ask);
    process.on('SIGHUP', ask);
  });
}

function listenSentence(options: ServeOptions, error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  const where = `${options.host}:${options.port ?? ''}`.replace(/:$/, '');
  if (code === 'EADDRINUSE') return `Port ${options.port} is in use by another program. Choose another with --port, or leave the option out.`;
  if (code === 'EACCES') return `This user may not listen on ${where}. Choose a --port above 1023.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `This machine has no address ${options.host}. Correct --host, or leave it out.`;
  return `Cannot listen on ${where}: ${error instanceof Error ? error.message : String(error)}.`;
}

/** An expected failure of opening the engine, with a sentence. */
function hasCode(error: unknown): boolean {
  return error instanceof Error && typeof (error as { code?: unknown }).code === 'string';
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function failed(message: string): number {
  process.stderr.write(`${message}\n`);
  return 1;
}

/** The terminal shows failures only; the engine's own log in the home has everything, with secrets replaced. */
const terminalLog: Logger = {
  info: () => undefined,
  error: (message) => process.stderr.write(`${message}\n`),
};
