import { describe, expect, it } from 'vitest';
import { canOpenBrowser, openerOf } from './open-browser.ts';
import { HELP, parseOptions } from './options.ts';

const message = (...args: string[]): string => {
  const parsed = parseOptions(args);
  return parsed.kind === 'error' ? parsed.message : `not an error: ${parsed.kind}`;
};

describe('parseOptions', () => {
  // Bug: a default that lets others in, or an option that is not passed on.
  it('reads every option in both writings', () => {
    expect(parseOptions([])).toEqual({ kind: 'run', options: { host: '127.0.0.1', port: null, home: undefined, open: true, allowRemote: false } });
    expect(parseOptions(['--host=[::1]', '--port', '0', '--home=~/x', '--no-open', '--allow-remote'])).toEqual({
      kind: 'run',
      options: { host: '::1', port: 0, home: '~/x', open: false, allowRemote: true },
    });
    expect(parseOptions(['-h', '--port', '1']).kind).toBe('help');
    for (const option of ['--host', '--port', '--home', '--no-open', '--allow-remote']) expect(HELP).toContain(option);
  });

  // Bug: a typing error is ignored and Talaria starts with something else.
  it('refuses what it does not know', () => {
    expect(message('--prot', '1')).toContain('--prot');
    expect(message('stray')).toContain('stray');
    expect(message('--no-open=1')).toContain('--no-open');
    for (const port of ['-1', '65536', 'abc', '1.5', '']) expect(message(`--port=${port}`), port).toContain('--port');
    expect(message('--home=')).toContain('--home');
    expect(message('--host=http://x')).toContain('--host');
  });

  // Bug: --host 0.0.0.0 alone gives a shell on this machine to the network.
  it('refuses to let other machines in without the flag', () => {
    for (const host of ['0.0.0.0', '::', '192.168.0.7', 'my-box', '127.0.0.1.example']) {
      expect(message('--host', host), host).toContain('--allow-remote');
      expect(parseOptions(['--host', host, '--allow-remote']).kind).toBe('run');
    }
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]']) expect(parseOptions(['--host', host]).kind, host).toBe('run');
  });
});

describe('opening a browser', () => {
  // Bug: a build machine or a server far away tries to open one.
  it('is left alone where nobody could see it', () => {
    expect(canOpenBrowser({ DISPLAY: ':0' }, 'linux')).toBe(true);
    expect(canOpenBrowser({}, 'darwin')).toBe(true);
    expect(canOpenBrowser({}, 'linux')).toBe(false);
    expect(canOpenBrowser({ DISPLAY: ':0', CI: 'true' }, 'linux')).toBe(false);
    expect(canOpenBrowser({ DISPLAY: ':0', SSH_CONNECTION: 'x' }, 'linux')).toBe(false);
  });

  // Bug: "&" in the address is interpreted by a shell; on macOS the token shows in the list of processes.
  it('goes through no shell', () => {
    const url = 'http://127.0.0.1:1/?token=a&b"c';
    for (const platform of ['linux', 'win32'] as const) expect(openerOf(platform, url).args.at(-1)).toBe(url);
    expect(openerOf('darwin', url)).toEqual({ command: 'osascript', args: ['-'], input: 'open location "http://127.0.0.1:1/?token=a&b\\"c"\n' });
  });
});
