/** `npm run talaria -- <command> [options]`: the same engine as the app, without a page. Runs from source. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Engine } from '#engine/engine.ts';
import { suggestion } from '#shared/suggestion.ts';
import { adoptCommand } from './adopt.ts';
import { batchCommand } from './batch.ts';
import { type Command, type CommandHost, EXIT } from './command.ts';
import { compressCommand } from './compress.ts';
import { exportCommand } from './export.ts';
import { runCommand } from './run-command.ts';
import { runsCommand } from './runs.ts';
import { scoreCommand } from './score.ts';
import { skillsCommand } from './skills.ts';
import { processTerminal, type Terminal } from './terminal.ts';
import { toolsCommand } from './tools.ts';

const COMMANDS = [batchCommand, adoptCommand, compressCommand, exportCommand, runsCommand, scoreCommand, skillsCommand, toolsCommand] as readonly Command[];
const root = fileURLToPath(new URL('../../', import.meta.url));
/** The terminal and npm both pass a Ctrl+C on: what follows so soon is the same key press. */
const SAME_PRESS_MS = 700;
const EXIT_GRACE_MS = 2_000;

async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first, ...rest] = args;
  if (first === '--version') {
    terminal.out(version());
    return EXIT.ok;
  }
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    terminal.out(overview());
    return first === undefined ? EXIT.usage : EXIT.ok;
  }
  const command = COMMANDS.find((c) => c.name === first);
  if (!command) {
    const names = COMMANDS.map((c) => c.name);
    terminal.err(first.startsWith('-') ? `Begin with a command: ${names.join(', ')}.` : `There is no command "${first}".${suggestion(first, names, '')}`);
    return EXIT.usage;
  }
  const engines: Engine[] = [];
  try {
    return await runCommand(command, rest, commandHost(terminal, engines));
  } finally {
    for (const engine of engines) await engine.close();
  }
}

function commandHost(terminal: Terminal, engines: Engine[]): CommandHost {
  const cwd = process.cwd();
  return {
    terminal,
    cwd,
    now: Date.now,
    async open(home) {
      // only now: help and wrong options should not wait for the engine to load
      const [{ openEngine }, { resolveHome }] = await Promise.all([import('#engine/engine.ts'), import('#engine/store/home.ts')]);
      const engine = await openEngine({
        home: resolveHome(home, process.env),
        host: 'cli',
        paths: { resources: join(root, 'resources'), reader: join(root, 'electron/engine/store/reader.ts') },
        version: version(),
        env: process.env,
        // the engine keeps a log in the home; what matters here is said in the summary
        log: { info: () => {}, error: () => {} },
        outputDir: resolve(cwd, 'data'),
      });
      engines.push(engine);
      return engine;
    },
    onInterrupt(first) {
      let at: number | null = null;
      const listener = (): void => {
        if (at === null) {
          at = Date.now();
          first();
        } else if (Date.now() - at > SAME_PRESS_MS) process.exit(EXIT.interrupted);
      };
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, listener);
      return () => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, listener);
      };
    },
  };
}

function overview(): string {
  const width = Math.max(...COMMANDS.map((c) => c.name.length)) + 2;
  return ['Usage: npm run talaria -- <command> [options]', '', ...COMMANDS.map((c) => `  ${c.name.padEnd(width)}${c.summary}`), '', '  <command> --help tells its options; --version tells the version. Chats are in the app: npm start.'].join('\n');
}

function version(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

process.exitCode = await main(process.argv.slice(2), processTerminal());
// Whatever is still open then, such as an idle connection, must not keep the terminal.
setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
