/**
 * Runs sandboxed in the isolated world of the page's top frame. It hands the page its port to the engine, word of the
 * engine's state and of notifications that were pressed, and exposes nothing else: there is no bridge object.
 */
import { ipcRenderer } from 'electron';
import { SHELL_CONNECT, SHELL_ENGINE, SHELL_NOTIFY, SHELL_OPEN, SHELL_PORT } from '#shared/shell.ts';
import type { EngineNotice } from '#shared/shell.ts';

/** The little of the DOM used here; the Node side is compiled without the DOM's types. */
interface PageWindow {
  addEventListener(type: 'message', listener: (event: { source: unknown; origin: string; data: unknown }) => void): void;
  postMessage(data: unknown, targetOrigin: string, transfer?: readonly object[]): void;
}
declare const window: PageWindow;
declare const location: { readonly origin: string };

window.addEventListener('message', (event) => {
  // Frames inside the page can post here as well; only the page itself is answered.
  if (event.source !== window || event.origin !== location.origin) return;
  const data = event.data;
  if (typeof data !== 'object' || data === null || !('type' in data)) return;
  if (data.type === SHELL_CONNECT) ipcRenderer.send(SHELL_CONNECT);
  // Main checks what it is given.
  if (data.type === SHELL_NOTIFY) ipcRenderer.send(SHELL_NOTIFY, data);
});

ipcRenderer.on(SHELL_PORT, (event) => {
  window.postMessage({ type: SHELL_PORT }, location.origin, event.ports);
});

ipcRenderer.on(SHELL_ENGINE, (_event, notice: EngineNotice) => {
  window.postMessage({ type: SHELL_ENGINE, state: notice.state, message: notice.message }, location.origin);
});

ipcRenderer.on(SHELL_OPEN, (_event, place: string) => {
  window.postMessage({ type: SHELL_OPEN, place }, location.origin);
});
