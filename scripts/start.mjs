/** `npm start`: sets up what is missing, then opens the desktop app or, where that cannot be, browser mode. */
import { join } from 'node:path';
import { findElectron, hasDisplay } from './lib/electron.mjs';
import { ENGINE_FLAGS } from './lib/engine-flags.mjs';
import { insideEnv, main, passThrough, root, say } from './lib/run.mjs';
import { ensureBuilt, ensureInstalled, nodeBinary } from './lib/setup.mjs';

const HELP = `npm start [-- options]

Opens Talaria: the desktop app when an Electron binary and a display are there, otherwise in the browser.

  --browser       open in the browser in any case
  --home FOLDER   where Talaria keeps its data (TALARIA_HOME, or ~/.talaria)
  --help          this text

In the browser only (each of them also chooses the browser):
  --port NUMBER   listen on this port (4517, or another one when that is taken)
  --host ADDRESS  listen on this address (127.0.0.1); anything but this machine itself also needs --allow-remote
  --allow-remote  with --host: let other machines reach Talaria, which can run commands as you
  --no-open       only print the address, open nothing
`;

await main(async () => {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(HELP);
    return 0;
  }
  await ensureInstalled();
  await ensureBuilt();

  const electron = findElectron();
  const noDesktop = whyNoDesktop(args, electron);
  if (!noDesktop) {
    const env = insideEnv();
    // Would turn the app into a plain Node.
    delete env.ELECTRON_RUN_AS_NODE;
    return passThrough(electron, [root, ...args], { env });
  }
  say(noDesktop);
  const passedOn = args.filter((arg) => arg !== '--browser');
  return passThrough(nodeBinary(), [...ENGINE_FLAGS, join(root, 'electron/serve/main.ts'), ...passedOn], { env: insideEnv() });
});

/** One line that says why the desktop app is not opened; empty when it is. */
function whyNoDesktop(args, electron) {
  const browserOnly = ['--host', '--port', '--no-open'];
  if (args.includes('--browser')) return 'Browser mode, as asked for.';
  if (args.some((arg) => browserOnly.includes(arg.split('=')[0]))) return 'Browser mode, because of the given options.';
  if (!electron) return 'No Electron binary is installed here ("npx install-electron" fetches it), so Talaria opens in the browser.';
  if (!hasDisplay()) return 'No display was found, so Talaria opens in the browser instead of a window.';
  return '';
}
