import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

const DEFAULT_NAMES = { darwin: 'Electron.app/Contents/MacOS/Electron', win32: 'electron.exe' };

/**
 * The Electron binary, where the `electron` package would have put it, or undefined. Only looks: importing that package
 * tries to download the binary.
 */
export function findElectron() {
  const folder = join(root, 'node_modules', 'electron');
  let name = DEFAULT_NAMES[process.platform] ?? 'electron';
  try {
    name = readFileSync(join(folder, 'path.txt'), 'utf8').trim() || name;
  } catch {
    // Written together with the binary: absent where none was downloaded.
  }
  const file = join(process.env.ELECTRON_OVERRIDE_DIST_PATH || join(folder, 'dist'), name);
  return existsSync(file) ? file : undefined;
}

/** Whether a window can be shown on this machine. */
export function hasDisplay() {
  return process.platform !== 'linux' || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
}
