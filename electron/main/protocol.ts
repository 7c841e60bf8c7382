import { protocol } from 'electron';
import { serveBundle } from './bundle.ts';
import { APP_SCHEME } from './origin.ts';

/** Makes `app:` a standard, secure scheme with an origin of its own. Only possible before the app is ready. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: APP_SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
}

/** Serves the built page under `app://bundle/`. @param root absolute folder of the built page */
export function serveAppScheme(root: string): void {
  protocol.handle(APP_SCHEME, (request) => serveBundle(root, request));
}
