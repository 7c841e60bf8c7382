import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { capture, duration, insideEnv, outsideEnv, root, say, SetupError, withLock } from './run.mjs';

const MIN_NODE_MAJOR = 24;
const windows = process.platform === 'win32';
const modules = join(root, 'node_modules');
const installStamp = join(modules, '.talaria-stamp');
const buildStamp = join(root, 'out', '.talaria-stamp');
const ownNode = join(modules, 'node', 'bin', windows ? 'node.exe' : 'node');

const sha256 = (data) => createHash('sha256').update(data).digest('hex');

/**
 * The Node that everything of ours runs on: the one from `node_modules`, or the machine's when that is new enough.
 * Only valid after `ensureInstalled()`.
 */
export function nodeBinary() {
  return existsSync(ownNode) ? ownNode : process.execPath;
}

/**
 * Installs the packages when `node_modules` is missing, stale or was left half done, and makes sure that Node 24 works.
 * Says what it does on stderr; says nothing when there is nothing to do.
 * @throws {SetupError} when the install fails, with what the person can do
 */
export async function ensureInstalled() {
  if (readStamp(installStamp) === installState()) return;
  await withLock('install', async () => {
    if (readStamp(installStamp) === installState()) return;
    if (!installedByNpm()) await install();
    await ensureNode();
    writeFileSync(installStamp, installState());
  });
}

/** What must be unchanged for the install to count as done: the lock file, the platform, the Node binary. */
function installState() {
  const node = existsSync(ownNode) ? statSync(ownNode).size : 0;
  return `${sha256(readFileSync(join(root, 'package-lock.json')))} ${process.platform}-${process.arch} node:${node}`;
}

function readStamp(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Whether a complete `npm install` or `npm ci` of exactly this lock file was done by hand: then no second one is needed. */
function installedByNpm() {
  try {
    const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    // npm writes this list as the last step of an install.
    const present = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages;
    return Object.entries(wanted).every(([place, entry]) => {
      if (place === '') return true;
      if (!present[place]) return Boolean(entry.optional || entry.devOptional);
      return present[place].version === entry.version && existsSync(join(root, place, 'package.json'));
    });
  } catch {
    return false;
  }
}

async function install() {
  const first = !existsSync(modules);
  say(first ? 'Installing the packages (the first time only, about half a minute) …' : 'The packages have changed: installing them …');
  rmSync(installStamp, { force: true });
  const started = Date.now();
  // NODE_ENV=production would leave out the packages that build and test. Of all install scripts only that of `node` is needed, and
  // it is run below: the one npm makes up for better-sqlite3 compiles nothing, but fetches Node's headers from the web.
  const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, output } = await capture('npm', args, { env: outsideEnv(), shell: windows });
  if (code === 127) throw new SetupError('npm was not found. Install Node.js 20 or newer together with npm, then try again.');
  if (code !== 0) {
    throw new SetupError(`${tail(output, 25)}\nThe packages could not be installed (npm ended with ${code}). Check the network, then try again.`);
  }
  say(`Installed in ${duration(Date.now() - started)}.`);
}

/** The `node` package fetches its binary in an install script; it is run here when the binary is not there yet. */
async function ensureNode() {
  if (await nodeWorks(ownNode)) return linkNode();
  say(`Fetching Node ${MIN_NODE_MAJOR} …`);
  const script = join(modules, 'node', 'installArchSpecificPackage.js');
  const { code, output } = await capture(process.execPath, [script], { cwd: join(modules, 'node'), env: outsideEnv() });
  if (code === 0 && (await nodeWorks(ownNode))) return linkNode();
  if (Number(process.versions.node.split('.')[0]) >= MIN_NODE_MAJOR) {
    rmSync(ownNode, { force: true });
    return;
  }
  throw new SetupError(
    `${tail(output, 15)}\nNode ${MIN_NODE_MAJOR} could not be fetched as a package. Check the network and try again, ` +
      `or install Node ${MIN_NODE_MAJOR} or newer on this machine.`,
  );
}

async function nodeWorks(binary) {
  if (!existsSync(binary)) return false;
  const { code, output } = await capture(binary, ['-p', 'process.versions.node.split(".")[0]']);
  return code === 0 && Number(output.trim()) >= MIN_NODE_MAJOR;
}

/** npm makes no link to a binary that did not exist yet when it linked. */
function linkNode() {
  if (windows) return;
  const link = join(modules, '.bin', 'node');
  if (existsSync(link)) return;
  mkdirSync(join(modules, '.bin'), { recursive: true });
  rmSync(link, { force: true });
  chmodSync(ownNode, 0o755);
  symlinkSync(join('..', 'node', 'bin', 'node'), link);
}

const BUILD_FOLDERS = ['electron', 'renderer', 'shared', 'resources'];
const BUILD_FILES = ['electron.vite.config.ts', 'package.json', 'package-lock.json', 'tsconfig.base.json', 'tsconfig.json', 'tsconfig.web.json'];

/**
 * Builds main, preload and page into `out/` when anything that goes into them has changed since the last good build.
 * @throws {SetupError} with the bundler's own output when the build fails
 */
export async function ensureBuilt() {
  if (readStamp(buildStamp) === buildState()) return;
  await withLock('build', async () => {
    // Taken before the build: what changes meanwhile is built the next time.
    const state = buildState();
    if (readStamp(buildStamp) === state) return;
    say('Building the app …');
    rmSync(buildStamp, { force: true });
    const started = Date.now();
    const builder = join(modules, 'electron-vite', 'bin', 'electron-vite.js');
    const { code, output } = await capture(nodeBinary(), [builder, 'build'], { env: insideEnv() });
    if (code !== 0) throw new SetupError(`${tail(output, 40)}\nThe build failed.`);
    writeFileSync(buildStamp, state);
    say(`Built in ${duration(Date.now() - started)}.`);
  });
}

function buildState() {
  const hash = createHash('sha256');
  const files = [...BUILD_FILES, ...BUILD_FOLDERS.flatMap((folder) => filesUnder(join(root, folder)))];
  for (const file of files) {
    if (!existsSync(join(root, file))) continue;
    hash.update(`${file}\0`).update(readFileSync(join(root, file))).update('\0');
  }
  return hash.digest('hex');
}

/** The files below a folder as sorted paths from the repository's root, without tests. */
function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/\.(test|spec)\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)).split(sep).join('/'))
    .sort();
}

/** The last lines of a tool's output. */
export function tail(output, lines) {
  return output.trimEnd().split('\n').slice(-lines).join('\n');
}
