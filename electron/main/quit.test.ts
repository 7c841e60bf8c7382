import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { closeBeforeQuit } from './quit.ts';

test('the app ends only after the engine has closed, which is asked to once', async () => {
  const events: string[] = [];
  const closed = Promise.withResolvers<void>();
  const app = Object.assign(new EventEmitter(), {
    quit(): void {
      let prevented = false;
      app.emit('before-quit', { preventDefault: () => (prevented = true) });
      events.push(prevented ? 'held back' : 'ended');
    },
  });
  closeBeforeQuit(app, () => {
    events.push('close');
    return closed.promise;
  });
  app.quit();
  // Impatient people press twice.
  app.quit();
  expect(events).toEqual(['close', 'held back', 'held back']);
  closed.resolve();
  await closed.promise;
  await Promise.resolve();
  expect(events.at(-1)).toBe('ended');
});
