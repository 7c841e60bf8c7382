import { describe, expect, test } from 'vitest';
import { activatesByKey, comboOf, keyCaps, matchKey, mayFire, takesKeys, type Chord, type KeyPlace, type KeyPress } from './keymap.ts';

function press(key: string, more: Partial<KeyPress> & { altGr?: boolean } = {}): KeyPress {
  const { altGr = false, ...rest } = more;
  return {
    key,
    code: '',
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    repeat: false,
    isComposing: false,
    getModifierState: (name) => name === 'AltGraph' && altGr,
    ...rest,
  };
}

function element(
  tagName: string,
  attributes: Record<string, string> = {},
  more: { type?: string; isContentEditable?: boolean } = {},
): { tagName: string; getAttribute(name: string): string | null; type?: string; isContentEditable?: boolean } {
  return { tagName, getAttribute: (name) => attributes[name] ?? null, ...more };
}

const OPEN: KeyPlace = { typing: false, activates: false, covered: false };

describe('comboOf', () => {
  test('writes modifiers in one order, and mod for the platform', () => {
    expect(comboOf(press('k', { ctrlKey: true }), false)).toBe('mod+k');
    expect(comboOf(press('k', { metaKey: true }), true)).toBe('mod+k');
    expect(comboOf(press('k', { ctrlKey: true }), true)).toBe('ctrl+k');
    expect(comboOf(press('O', { shiftKey: true }), false)).toBe('shift+o');
    expect(comboOf(press('ArrowDown', { shiftKey: true, altKey: true }), false)).toBe('alt+shift+ArrowDown');
    expect(comboOf(press(' '), false)).toBe('Space');
  });

  // Bug: "?" never fires because the press has Shift.
  test('takes Shift as part of a symbol', () => {
    expect(comboOf(press('?', { shiftKey: true }), false)).toBe('?');
  });

  // Bug: AltGr+E (€) on a German layout runs a Ctrl+Alt command.
  test('does not take AltGr as Ctrl+Alt', () => {
    expect(comboOf(press('@', { ctrlKey: true, altKey: true, altGr: true }), false)).toBe('@');
  });

  // Bug: choosing a Chinese candidate with a letter key runs a command.
  test('leaves the input method alone', () => {
    expect(comboOf(press('j', { isComposing: true }), false)).toBeNull();
    expect(comboOf(press('Process'), false)).toBeNull();
    expect(comboOf(press('Shift', { shiftKey: true }), false)).toBeNull();
  });

  // Bug: on a Cyrillic layout no letter key works.
  test('falls back to the place of the key for letters that are not Latin', () => {
    expect(comboOf(press('о', { code: 'KeyJ' }), false)).toBe('j');
  });
});

describe('mayFire', () => {
  test('never while typing, unless the binding says so', () => {
    expect(mayFire({ keys: 'j' }, 'j', press('j'), { ...OPEN, typing: true })).toBe(false);
    expect(mayFire({ keys: 'mod+Enter', whileTyping: true }, 'mod+Enter', press('Enter'), { ...OPEN, typing: true })).toBe(true);
  });

  // Bug: "x" pressed in a dialog rejects the trajectory underneath.
  test('never under a dialog or menu, unless it belongs to it', () => {
    expect(mayFire({ keys: 'x' }, 'x', press('x'), { ...OPEN, covered: true })).toBe(false);
    expect(mayFire({ keys: 'x', inDialog: true }, 'x', press('x'), { ...OPEN, covered: true })).toBe(true);
  });

  // Bug: Enter on a focused button presses it and opens the current row as well.
  test('leaves Enter and Space to a focused button', () => {
    expect(mayFire({ keys: 'Enter' }, 'Enter', press('Enter'), { ...OPEN, activates: true })).toBe(false);
    expect(mayFire({ keys: 'j' }, 'j', press('j'), { ...OPEN, activates: true })).toBe(true);
  });

  // Bug: holding "p" pauses and resumes twenty times a second.
  test('repeats only what may repeat', () => {
    expect(mayFire({ keys: 'p' }, 'p', press('p', { repeat: true }), OPEN)).toBe(false);
    expect(mayFire({ keys: 'j', repeats: true }, 'j', press('j', { repeat: true }), OPEN)).toBe(true);
  });
});

describe('matchKey', () => {
  const bindings = [
    { keys: 'g g', id: 'top' },
    { keys: 'g l', id: 'library' },
    { keys: 'j', id: 'old' },
    { keys: 'j', id: 'new' },
  ];
  const step = (
    combo: string,
    waiting: Chord | null,
    now: number,
    repeat = false,
  ): ReturnType<typeof matchKey<(typeof bindings)[number]>> => matchKey(bindings, combo, press(combo, { repeat }), OPEN, waiting, now);

  test('the layer registered last wins', () => {
    expect(step('j', null, 0).binding?.id).toBe('new');
  });

  test('a chord waits for its second key', () => {
    const first = step('g', null, 0);
    expect(first.binding).toBeNull();
    expect(step('l', first.waiting, 500).binding?.id).toBe('library');
    expect(step('g', first.waiting, 500).binding?.id).toBe('top');
  });

  // Bug: holding "g" jumps to the top by itself.
  test('auto-repeat does not complete a chord', () => {
    const first = step('g', null, 0);
    expect(step('g', first.waiting, 30, true)).toEqual({ binding: null, waiting: null });
  });

  // Bug: "g", a pause, "l" still leaves the screen; "g", "x", "l" as well.
  test('time and any other key cancel a chord', () => {
    const first = step('g', null, 0);
    expect(step('l', first.waiting, 1_001).binding).toBeNull();
    const other = step('x', first.waiting, 100);
    expect(step('l', other.waiting, 200).binding).toBeNull();
  });
});

describe('places', () => {
  test('text fields and list boxes take their keys, a shared list gives them', () => {
    expect(takesKeys(element('INPUT', {}, { type: 'text' }))).toBe(true);
    expect(takesKeys(element('INPUT', {}, { type: 'checkbox' }))).toBe(false);
    expect(takesKeys(element('TEXTAREA'))).toBe(true);
    expect(takesKeys(element('DIV', {}, { isContentEditable: true }))).toBe(true);
    expect(takesKeys(element('DIV', { role: 'combobox' }))).toBe(true);
    expect(takesKeys(element('DIV', { role: 'listbox' }))).toBe(true);
    expect(takesKeys(element('DIV', { role: 'listbox', 'data-keys': 'shared' }))).toBe(false);
    expect(takesKeys(element('BUTTON'))).toBe(false);
  });

  test('buttons, links and tabs answer Enter themselves', () => {
    expect(activatesByKey(element('BUTTON'))).toBe(true);
    expect(activatesByKey(element('A'))).toBe(true);
    expect(activatesByKey(element('DIV', { role: 'tab' }))).toBe(true);
    expect(activatesByKey(element('DIV', { role: 'listbox' }))).toBe(false);
  });
});

test('keys are written the way the platform writes them', () => {
  expect(keyCaps('mod+k', true)).toEqual([['⌘', 'K']]);
  expect(keyCaps('mod+shift+ArrowDown', false)).toEqual([['Ctrl', 'Shift', '↓']]);
  expect(keyCaps('g g', false)).toEqual([['g'], ['g']]);
  expect(keyCaps('?', false)).toEqual([['?']]);
});
