import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

// Each test starts many processes, on a machine that may have more to do.
vi.setConfig({ testTimeout: 120_000 });

/** What a real npm leaves behind; the `node` package's binary is a link to the Node that runs this test. */
const NPM = `#!/bin/sh
echo "$@" >> npm-calls
rm -rf node_modules
mkdir -p node_modules/node/bin node_modules/.bin
echo '{"name":"node"}' > node_modules/node/package.json
cat > node_modules/node/installArchSpecificPackage.js <<'END'
require('fs').mkdirSync('bin', { recursive: true });
require('fs').symlinkSync(process.env.REAL_NODE, 'bin/node');
END
case "$FAKE_NPM" in
  cut) kill -9 $$ ;;
  offline) echo 'npm error network'; exit 1 ;;
  no-scripts) rmdir node_modules/node/bin ;;
  *) ln -s "$REAL_NODE" node_modules/node/bin/node; ln -s ../node/bin/node node_modules/.bin/node ;;
esac
cp package-lock.json node_modules/.package-lock.json
`;
const lock = (version: string): string => JSON.stringify({ packages: { '': {}, 'node_modules/node': { version } } });

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'talaria-setup-'));
  cpSync(import.meta.dirname, join(folder, 'scripts'), { recursive: true });
  put('package.json', '{"type":"module"}');
  put('package-lock.json', lock('24.21.0'));
  put('tools/npm', NPM);
  chmodSync(join(folder, 'tools/npm'), 0o755);
  put('show.ts', 'const said: string = process.argv.slice(2).join(" ");\nconsole.log(said);\nprocess.exit(3);\n');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function environment(extra: Record<string, string>): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, REAL_NODE: process.execPath, PATH: `${join(folder, 'tools')}:/usr/bin:/bin`, ...extra };
  for (const name of ['DISPLAY', 'WAYLAND_DISPLAY', 'ELECTRON_OVERRIDE_DIST_PATH', 'INIT_CWD']) if (!(name in extra)) delete env[name];
  return env;
}

function run(args: string[], extra: Record<string, string> = {}): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env: environment(extra), encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

const show = (extra?: Record<string, string>) => run(['scripts/with-node.mjs', 'show.ts', 'a', '--b'], extra);
const npmCalls = (): number => (existsSync(join(folder, 'npm-calls')) ? readFileSync(join(folder, 'npm-calls'), 'utf8').trim().split('\n').length : 0);

it('installs once, speaks on stderr only, and hands arguments and exit code on', () => {
  expect(show()).toMatchObject({ code: 3, out: 'a --b\n', err: expect.stringContaining('Installing the packages') as string });
  expect(show()).toEqual({ code: 3, out: 'a --b\n', err: '' });
  expect(npmCalls()).toBe(1);
});

it('does not take an install that was cut off or failed for a finished one', () => {
  expect(show({ FAKE_NPM: 'cut' })).toMatchObject({ code: 1, out: '' });
  expect(existsSync(join(folder, 'node_modules/node/package.json'))).toBe(true);
  const failed = show({ FAKE_NPM: 'offline' });
  expect(failed.err).toContain('npm error network');
  expect(failed.err).toContain('could not be installed');
  expect(failed.err).not.toContain('    at ');
  expect(show()).toMatchObject({ code: 3 });
  expect(npmCalls()).toBe(3);
});

it('installs again when the lock file has changed, but not after an npm install by hand', () => {
  show();
  put('package-lock.json', lock('24.22.0'));
  show();
  expect(npmCalls()).toBe(2);
  put('package-lock.json', lock('24.23.0'));
  put('node_modules/.package-lock.json', lock('24.23.0'));
  expect(show()).toMatchObject({ code: 3, err: '' });
  expect(npmCalls()).toBe(2);
});

it('fetches Node where npm runs no install scripts', () => {
  expect(show({ FAKE_NPM: 'no-scripts' })).toMatchObject({ code: 3, out: 'a --b\n', err: expect.stringContaining('Fetching Node') as string });
  expect(existsSync(join(folder, 'node_modules/.bin/node'))).toBe(true);
});

it('takes over the lock of an install that was killed', () => {
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  put('.cache/install.lock', String(gone));
  expect(show()).toMatchObject({ code: 3 });
  expect(existsSync(join(folder, '.cache/install.lock'))).toBe(false);
});

it('hands SIGTERM on and ends with what the child makes of it', async () => {
  show();
  put('wait.ts', "process.on('SIGTERM', () => process.exit(9));\nsetInterval(() => {}, 1000);\nconsole.log('ready');\n");
  const child = spawn(process.execPath, ['scripts/with-node.mjs', 'wait.ts'], { cwd: folder, env: environment({}), stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([9, null]);
});

const BUILDER = "require('fs').mkdirSync('out', { recursive: true });\nrequire('fs').appendFileSync('builds', 'x');\nif (require('fs').existsSync('broken')) { console.log('a syntax error'); process.exit(1); }\n";
const builds = (): number => (existsSync(join(folder, 'builds')) ? readFileSync(join(folder, 'builds'), 'utf8').length : 0);

function withApp(): void {
  show();
  put('node_modules/electron-vite/bin/electron-vite.js', BUILDER);
  put('node_modules/electron-vite/package.json', '{"type":"commonjs"}');
  put('electron/serve/main.ts', "console.log('serve', process.argv.slice(2).join(' '));\n");
}

it('builds when a source has changed, not when a test has, and never starts on a broken build', () => {
  withApp();
  const start = () => run(['scripts/start.mjs', '--no-open']);
  expect(start()).toMatchObject({ code: 0, out: 'serve --no-open\n' });
  start();
  put('electron/engine/thing.test.ts', '');
  start();
  expect(builds()).toBe(1);
  put('shared/new.ts', '');
  put('broken', '');
  expect(start()).toMatchObject({ code: 1, out: '', err: expect.stringContaining('a syntax error') as string });
  rmSync(join(folder, 'broken'));
  expect(start()).toMatchObject({ code: 0 });
  expect(builds()).toBe(3);
});

it('opens the desktop app only with a binary and a display, and says in one line why not', () => {
  withApp();
  const start = (extra: Record<string, string>, ...args: string[]) => run(['scripts/start.mjs', '--home', 'h', ...args], extra);
  start({});
  expect(start({ DISPLAY: ':0' })).toEqual({
    code: 0,
    out: 'serve --home h\n',
    err: 'No Electron binary is installed here ("npx install-electron" fetches it), so Talaria opens in the browser.\n',
  });
  put('dist/electron', '#!/bin/sh\necho "desktop $2 $3"\nexit 5\n');
  chmodSync(join(folder, 'dist/electron'), 0o755);
  const dist = { ELECTRON_OVERRIDE_DIST_PATH: join(folder, 'dist') };
  expect(start(dist).err).toBe('No display was found, so Talaria opens in the browser instead of a window.\n');
  expect(start({ ...dist, DISPLAY: ':0' })).toEqual({ code: 5, out: 'desktop --home h\n', err: '' });
  expect(start({ ...dist, DISPLAY: ':0' }, '--browser').out).toBe('serve --home h\n');
});

it('shows the help of npm start before anything is installed', () => {
  expect(run(['scripts/start.mjs', '--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--no-open') as string });
  expect(npmCalls()).toBe(0);
});
