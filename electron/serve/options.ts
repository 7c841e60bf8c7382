import { parseArgs } from 'node:util';
import { isLoopbackName } from './hosts.ts';

export interface ServeOptions {
  host: string;
  /** 0 = any free port; null = the usual one, or any free port when that is taken. */
  port: number | null;
  home: string | undefined;
  open: boolean;
  allowRemote: boolean;
}

export type ParsedOptions = { kind: 'run'; options: ServeOptions } | { kind: 'help' } | { kind: 'error'; message: string };

/** Tried first when no port is given, so that a bookmark or a tunnel stays right. */
export const USUAL_PORT = 4517;

export const HELP = `Talaria in the browser: the engine and the page on this machine.

  --host ADDRESS   listen on this address (127.0.0.1)
  --port NUMBER    listen on this port; 0 takes any free one (${USUAL_PORT}, or a free one when that is taken)
  --home FOLDER    where Talaria keeps its data (TALARIA_HOME, or ~/.talaria)
  --no-open        only print the link, do not open it
  --allow-remote   needed with a --host that other machines can reach
  --help           this text
`;

/** Reads the command line of browser mode. Anything unknown is an error with a sentence. */
export function parseOptions(args: readonly string[]): ParsedOptions {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: false,
      options: {
        host: { type: 'string', default: '127.0.0.1' },
        port: { type: 'string' },
        home: { type: 'string' },
        'no-open': { type: 'boolean', default: false },
        'allow-remote': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }));
  } catch (error) {
    return wrong((error as Error).message.split('. ')[0] ?? 'Unknown option');
  }
  if (values.help) return { kind: 'help' };

  const port = values.port === undefined ? null : Number(values.port);
  if (port !== null && !(/^\d{1,5}$/.test(values.port ?? '') && port <= 65_535)) return wrong(`--port takes a number from 0 to 65535, not "${values.port}"`);
  const host = values.host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (!/^[a-z0-9.:-]+$/.test(host)) return wrong(`--host takes an address such as 127.0.0.1, not "${values.host}"`);
  if (values.home !== undefined && values.home.trim() === '') return wrong('--home takes a folder');
  const allowRemote = values['allow-remote'];
  if (!isLoopbackName(host) && !allowRemote) {
    return wrong(
      `--host ${host} would let other machines reach Talaria, which can run commands as you. Add --allow-remote if you want that. ` +
        `From far away, a tunnel is safer: ssh -L ${USUAL_PORT}:127.0.0.1:${USUAL_PORT} this-machine`,
    );
  }
  return { kind: 'run', options: { host, port, home: values.home, open: !values['no-open'], allowRemote } };
}

function wrong(message: string): ParsedOptions {
  return { kind: 'error', message: `${message}.`.replace(/\.\.$/, '.') };
}
