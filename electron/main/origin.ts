import type { WebContents, WebFrameMain } from 'electron';

export const APP_SCHEME = 'app';
const APP_HOST = 'bundle';
export const START_URL = `${APP_SCHEME}://${APP_HOST}/`;

/** Whether a URL belongs to the app's own page. Compares the parsed parts: a prefix would also fit `app://bundle.evil/`. */
export function isOwnUrl(url: string): boolean {
  const parsed = URL.parse(url);
  return (
    parsed !== null &&
    parsed.protocol === `${APP_SCHEME}:` &&
    parsed.host === APP_HOST &&
    parsed.username === '' &&
    parsed.password === ''
  );
}

/** Whether a message came from the top frame of a window that shows our own page: the only sender that main listens to. */
export function isOwnTopFrame(
  sender: Pick<WebContents, 'getType'>,
  frame: Pick<WebFrameMain, 'url' | 'parent'> | null,
): boolean {
  return sender.getType() === 'window' && frame !== null && frame.parent === null && isOwnUrl(frame.url);
}

/** Whether a link may be handed to the system: only the web and mail, and no host hidden behind a user name. */
export function isSafeExternal(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  if (parsed.protocol === 'mailto:') return parsed.pathname !== '';
  // The written form counts too: `https:\\host` and `https:host` parse, but no honest link is written so.
  return parsed.protocol === 'https:' && /^https:\/\/[^/\\]/i.test(url) && parsed.username === '' && parsed.password === '';
}
