import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { capture, insideEnv, outsideEnv, root, say, SetupError } from './run.mjs';
import { nodeBinary, tail } from './setup.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PLACES = {
  darwin: ['/Applications/Chromium.app/Contents/MacOS/Chromium', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
  linux: ['/usr/lib/chromium/chromium', '/opt/google/chrome/chrome'],
  win32: ['C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe', 'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe'],
};

/**
 * The path of a Chromium that starts: `CHROMIUM`, the machine's own, an earlier download of Playwright; and with
 * `install` Debian's package where that can be installed without asking, else Playwright's download.
 * @param {{install: boolean}} options
 * @returns {Promise<string | undefined>} undefined when there is none and `install` is false
 * @throws {SetupError} when `CHROMIUM` names something that does not start, or when no way leads to one
 */
export async function findChromium({ install }) {
  const named = process.env.CHROMIUM;
  if (named) {
    if (await starts(named)) return named;
    throw new SetupError(`CHROMIUM is set to ${named}, which does not start. Correct it or unset it.`);
  }
  const found = (await systemChromium()) ?? (await playwrightChromium());
  if (found || !install) return found;
  const installed = (await installDebianPackage()) ?? (await installWithPlaywright());
  if (installed) return installed;
  throw new SetupError(
    'No Chromium was found and none could be installed. Install the package "chromium" of this system, ' +
      'or set CHROMIUM to the path of a Chromium or Chrome.',
  );
}

async function systemChromium() {
  const onPath = NAMES.flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)));
  for (const file of [...onPath, ...(PLACES[process.platform] ?? [])]) {
    if (existsSync(file) && (await starts(file))) return file;
  }
  return undefined;
}

/** Ubuntu's `chromium-browser` may be a script that only tells to install a snap, so a file alone proves nothing. */
async function starts(file) {
  if (process.platform === 'win32') return existsSync(file);
  const { code, output } = await capture(file, ['--version'], { timeout: 20_000 });
  return code === 0 && /Chrom/.test(output);
}

async function playwrightChromium() {
  try {
    const { chromium } = (await import(pathToFileURL(join(root, 'node_modules/playwright-core/index.js')).href)).default;
    const file = chromium.executablePath();
    return existsSync(file) && (await starts(file)) ? file : undefined;
  } catch {
    return undefined;
  }
}

async function installDebianPackage() {
  if (!isDebian()) return undefined;
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (asRoot.length > 0 && (await capture('sudo', ['-n', 'true'])).code !== 0) return undefined;
  say("Installing Debian's package chromium for the tests in the browser …");
  const env = { ...outsideEnv(), DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => {
    const [command, ...rest] = [...asRoot, 'apt-get', ...args];
    return capture(command, rest, { env });
  };
  const packages = ['install', '-y', '-q', '--no-install-recommends', 'chromium'];
  let result = await apt(...packages);
  if (result.code !== 0) {
    // A fresh machine has no package lists yet, or old ones.
    await apt('update', '-q');
    result = await apt(...packages);
  }
  const file = result.code === 0 ? await systemChromium() : undefined;
  if (!file) say(`${tail(result.output, 3)}\nThat did not work; trying Playwright's download instead.`);
  return file;
}

/** Debian itself and its near relatives; not Ubuntu, where the package only leads to a snap. */
function isDebian() {
  try {
    const release = readFileSync('/etc/os-release', 'utf8');
    const field = (name) => new RegExp(`^${name}="?([^"\n]*)`, 'm').exec(release)?.[1] ?? '';
    const family = `${field('ID')} ${field('ID_LIKE')}`.split(' ');
    return existsSync('/usr/bin/apt-get') && family.includes('debian') && !family.includes('ubuntu');
  } catch {
    return false;
  }
}

async function installWithPlaywright() {
  say('Downloading a Chromium with Playwright for the tests in the browser …');
  const command = join(root, 'node_modules', '@playwright', 'test', 'cli.js');
  const { code, output } = await capture(nodeBinary(), [command, 'install', 'chromium'], { env: insideEnv() });
  const file = code === 0 ? await playwrightChromium() : undefined;
  if (!file) say(tail(output.replace(/^ {4}at .*\n?/gm, ''), 3));
  return file;
}
