import { spawn } from 'node:child_process';

/** Whether opening a browser here can be of use: not on build machines and not without a display. */
export function canOpenBrowser(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  if (env.CI && env.CI !== 'false') return false;
  // A browser on the far end of an SSH session is not where the person sits.
  if (env.SSH_CONNECTION || env.SSH_TTY) return false;
  return platform === 'darwin' || platform === 'win32' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

/**
 * The program that opens a URL in the person's browser, its arguments and input. Other users can see arguments on Linux and
 * macOS: there the URL goes by the input, or its token is only good for the same user (see Access).
 */
export function openerOf(platform: NodeJS.Platform, url: string): { command: string; args: string[]; input: string } {
  if (platform === 'darwin') return { command: 'osascript', args: ['-'], input: `open location ${JSON.stringify(url)}\n` };
  // Not `cmd /c start`, which would interpret the URL.
  if (platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', url], input: '' };
  return { command: 'xdg-open', args: [url], input: '' };
}

/** Opens `url` in the default browser. Never fails: the link has been printed as well. */
export function openBrowser(url: string, platform: NodeJS.Platform = process.platform): void {
  const { command, args, input } = openerOf(platform, url);
  try {
    const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    child.on('error', () => undefined);
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.unref();
  } catch {
    // no such program
  }
}
