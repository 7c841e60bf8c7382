import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capture, duration, outsideEnv, root, say, SetupError, withLock } from './run.mjs';
import { tail } from './setup.mjs';

/** How many checks `npm run interop` makes when it comes to its end; a loop over nothing would otherwise pass for success. */
export const INTEROP_CHECKS = 41;

const folder = join(root, '.cache', 'interop');
const stamp = join(folder, '.talaria-stamp');
const requirements = join(root, 'scripts', 'interop', 'requirements.txt');
// its requirements are those of a whole training stack (wandb, nltk, …), of which the parts that are checked need nothing
const ATROPOSLIB = 'atroposlib==0.4.0';
const NAMES = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python'];

const binary = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
const wanted = () => createHash('sha256').update(readFileSync(requirements)).update(ATROPOSLIB).digest('hex');

/** The Python of the environment that `npm run interop` has made; undefined when there is none, or an old one. */
export function interopPython() {
  return existsSync(binary) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted() ? binary : undefined;
}

/**
 * Makes the environment when it is missing or old: about 600 MB from PyPI, half a minute.
 * @returns {Promise<string>} its Python
 * @throws {SetupError} when there is no Python 3.11 or newer, or PyPI does not answer
 */
export async function ensureInteropPython() {
  return withLock('interop', async () => {
    const ready = interopPython();
    if (ready) return ready;
    const python = await findPython();
    say(`Making a Python environment in ${folder} …`);
    const started = Date.now();
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(root, '.cache'), { recursive: true });
    await run(python, ['-m', 'venv', folder], 'The environment could not be made. On Debian and Ubuntu the package python3-venv is needed.');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', '--only-binary', ':all:'];
    await run(binary, [...pip, '-r', requirements], 'The packages could not be installed from PyPI. Check the network, then try again.');
    await run(binary, [...pip, '--no-deps', ATROPOSLIB], 'atroposlib could not be installed from PyPI. Check the network, then try again.');
    writeFileSync(stamp, wanted());
    say(`Made in ${duration(Date.now() - started)}.`);
    return binary;
  });
}

async function findPython() {
  for (const name of process.env.PYTHON ? [process.env.PYTHON] : NAMES) {
    const { code } = await capture(name, ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))'], { env: outsideEnv() });
    if (code === 0) return name;
  }
  throw new SetupError('No Python 3.11 or newer was found. Install one, or set PYTHON to its path.');
}

async function run(command, args, advice) {
  const { code, output } = await capture(command, args, { env: outsideEnv() });
  if (code !== 0) throw new SetupError(`${tail(output, 12)}\n${advice}`);
}
