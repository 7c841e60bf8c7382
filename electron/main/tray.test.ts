import type { MenuItemConstructorOptions } from 'electron';
import { describe, expect, test } from 'vitest';
import { type EngineWork, NO_WORK } from './engine-messages.ts';
import { wordsFor } from './strings.ts';
import { WorkTray } from './tray.ts';

const BUSY: EngineWork = { tasks: 2, agents: 3, keep: true };

function setUp(options: { work?: EngineWork; noTray?: boolean } = {}) {
  const seen = { trays: 0, menu: [] as MenuItemConstructorOptions[], toolTip: '', opened: 0, quit: 0, errors: 0 };
  const state = { work: options.work ?? NO_WORK, window: true };
  const tray = new WorkTray({
    create() {
      if (options.noTray) throw new Error('There is none');
      seen.trays += 1;
      return {
        setToolTip: (text) => void (seen.toolTip = text),
        setMenu: (template) => void (seen.menu = template),
        onClick: () => undefined,
        destroy: () => void (seen.trays -= 1),
      };
    },
    words: wordsFor('en-US'),
    work: () => Promise.resolve(state.work),
    windowOpen: () => state.window,
    open: () => void (seen.opened += 1),
    quit: () => void (seen.quit += 1),
    log: { info: () => undefined, error: () => void (seen.errors += 1) },
  });
  const press = (id: string): void => (seen.menu.find((item) => item.id === id)?.click as () => void)();
  const label = (id: string): string | undefined => seen.menu.find((item) => item.id === id)?.label;
  return { tray, seen, state, press, label };
}

describe('the last window is closed', () => {
  // Bug: the app lingers without a window and without a sign of it although nothing works.
  test('nothing works: it quits', async () => {
    const { tray, seen, state } = setUp();
    state.window = false;
    await tray.windowsClosed();
    expect(seen).toMatchObject({ quit: 1, trays: 0 });
  });

  test('the person does not want it in the tray: it quits although agents work', async () => {
    const { tray, seen, state } = setUp({ work: { ...BUSY, keep: false } });
    state.window = false;
    await tray.windowsClosed();
    expect(seen).toMatchObject({ quit: 1, trays: 0 });
  });

  // Bug: a task is cut off by closing the window; or the icon goes away with the last task, and nothing leads back.
  test('agents work: it stays, the tray says so, and is the way back also when they have ended', async () => {
    const { tray, seen, state, press, label } = setUp({ work: BUSY });
    state.window = false;
    await tray.windowsClosed();
    expect(seen).toMatchObject({ quit: 0, trays: 1, toolTip: 'Talaria: 2 tasks are running' });
    tray.worked({ ...BUSY, tasks: 1 });
    expect(label('doing')).toBe('1 task is running');
    tray.worked({ ...NO_WORK, keep: true });
    expect([seen.trays, label('doing')]).toEqual([1, 'Nothing is running']);
    press('open');
    expect(seen.opened).toBe(1);
    tray.opened();
    expect(seen.trays).toBe(0);
  });

  test('a window that was opened again while the engine was asked is not quit', async () => {
    const { tray, seen } = setUp();
    await tray.windowsClosed();
    expect(seen.quit).toBe(0);
  });
});

test('with its window the tray is there only while tasks run, not for every chat', () => {
  const { tray, seen, press } = setUp();
  tray.worked({ tasks: 0, agents: 4, keep: true });
  expect(seen.trays).toBe(0);
  tray.worked(BUSY);
  tray.worked(BUSY);
  expect(seen.trays).toBe(1);
  press('quit');
  expect(seen.quit).toBe(1);
  tray.worked({ ...NO_WORK, keep: true });
  expect(seen.trays).toBe(0);
});

// Bug: on a desktop without a tray, closing the window throws, or ends what works.
test('a system without a tray: the work goes on, and it is said once', async () => {
  const { tray, seen, state } = setUp({ work: BUSY, noTray: true });
  state.window = false;
  await tray.windowsClosed();
  tray.worked(BUSY);
  expect(seen).toMatchObject({ quit: 0, errors: 1 });
});
