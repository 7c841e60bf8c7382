import type { App } from 'electron';

/**
 * Lets the engine close before the app ends: the first `before-quit` is held back until `close` has settled.
 * @param close never rejects and is capped in time
 */
export function closeBeforeQuit(app: { on(event: 'before-quit', listener: (event: { preventDefault(): void }) => void): unknown } & Pick<App, 'quit'>, close: () => Promise<void>): void {
  let state: 'running' | 'closing' | 'closed' = 'running';
  app.on('before-quit', (event) => {
    if (state === 'closed') return;
    event.preventDefault();
    if (state === 'closing') return;
    state = 'closing';
    void close().then(() => {
      state = 'closed';
      app.quit();
    });
  });
}
