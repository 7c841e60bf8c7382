import { app, shell } from 'electron';
import type { WebContents } from 'electron';
import type { Logger } from '#engine/store/types.ts';
import { isOwnUrl, isSafeExternal } from './origin.ts';

/** Holds every page that the app ever makes to its own origin: no navigation elsewhere, no new windows, no webviews. */
export function installGuards(log: Logger): void {
  app.on('web-contents-created', (_event, contents) => guard(contents, log));
}

function guard(contents: WebContents, log: Logger): void {
  const stay = (details: { url: string; preventDefault(): void }): void => {
    if (isOwnUrl(details.url)) return;
    details.preventDefault();
    log.info(`Refused to navigate to ${schemeOf(details.url)}`);
  };
  contents.on('will-navigate', (details) => {
    stay(details);
    // A plain link in the page's text: the person meant to see it, in a browser.
    if (!isOwnUrl(details.url)) openExternalSafely(details.url, log);
  });
  contents.on('will-frame-navigate', stay);
  contents.on('will-redirect', stay);
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    openExternalSafely(url, log);
    return { action: 'deny' };
  });
}

/** The one way out: hands https and mailto links to the system, refuses everything else. Logs the scheme, never the URL. */
function openExternalSafely(url: string, log: Logger): void {
  if (!isSafeExternal(url)) {
    log.info(`Refused to open ${schemeOf(url)}`);
    return;
  }
  // Outside the handler: the system's dialog must not hold up the page's navigation.
  setImmediate(() => {
    shell.openExternal(url).catch((error: unknown) => log.error(`Could not open ${schemeOf(url)}`, error));
  });
}

function schemeOf(url: string): string {
  return `a ${URL.parse(url)?.protocol ?? 'malformed'} link`;
}
