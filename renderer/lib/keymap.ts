/** Rules of the keyboard, free of the DOM's state: which key press means which combination, and when keys are ours at all. */

export interface KeyPress {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  repeat: boolean;
  isComposing: boolean;
  getModifierState(key: string): boolean;
}

export interface KeyPlace {
  /** The element that has the focus accepts text or moves its own selection by keys. */
  typing: boolean;
  /** The focus is on something that Enter or Space activates. */
  activates: boolean;
  /** A dialog, menu or list box is open on top. */
  covered: boolean;
}

/** "mod" is Cmd on a Mac and Ctrl elsewhere; combos are written like "mod+k", "shift+o", "g g", "?". */
export function comboOf(press: KeyPress, mac: boolean): string | null {
  if (press.isComposing || press.key === 'Process' || press.key === 'Dead') return null;
  if (['Shift', 'Control', 'Alt', 'Meta', 'AltGraph', 'CapsLock'].includes(press.key)) return null;
  // AltGr writes ordinary characters on many layouts and arrives as Ctrl+Alt on Windows: it is no modifier.
  const altGr = press.getModifierState('AltGraph');
  const ctrl = press.ctrlKey && !altGr;
  const alt = press.altKey && !altGr;
  let key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  // A layout without Latin letters still has the key in the same place.
  if (press.key.length === 1 && press.key.charCodeAt(0) > 127 && /^Key[A-Z]$/.test(press.code)) key = press.code.slice(3).toLowerCase();
  if (key === ' ') key = 'Space';
  // Shift is part of a symbol ("?") but a modifier of a letter or a named key.
  const shift = press.shiftKey && (key.length > 1 || /[a-z]/.test(key));
  const mod = mac ? press.metaKey : ctrl;
  const other = mac ? ctrl : press.metaKey;
  return [mod && 'mod', other && (mac ? 'ctrl' : 'meta'), alt && 'alt', shift && 'shift', key].filter(Boolean).join('+');
}

export interface KeyBinding {
  /** Combination, or two of them separated by a space. */
  keys: string;
  /** Also fires while typing (only combinations with "mod" should). */
  whileTyping?: boolean | undefined;
  /** Belongs to the open dialog itself. */
  inDialog?: boolean | undefined;
  /** Holding the key down repeats it (moving in lists). */
  repeats?: boolean | undefined;
}

/** Whether a binding may fire for a press made in this place. */
export function mayFire(binding: KeyBinding, combo: string, press: Pick<KeyPress, 'repeat'>, place: KeyPlace): boolean {
  if (place.typing && !binding.whileTyping) return false;
  if (place.covered && !binding.inDialog) return false;
  if (place.activates && (combo === 'Enter' || combo === 'Space')) return false;
  return !press.repeat || binding.repeats === true;
}

/** Waiting time for the second key of a chord, ms. */
export const CHORD_MS = 1_000;

export interface Chord {
  first: string;
  until: number;
}

/**
 * Finds the binding for a press. Later bindings win over earlier ones.
 * @returns the binding to run, and the chord that now waits for its second key
 */
export function matchKey<B extends KeyBinding>(
  bindings: readonly B[],
  combo: string,
  press: Pick<KeyPress, 'repeat'>,
  place: KeyPlace,
  waiting: Chord | null,
  now: number,
): { binding: B | null; waiting: Chord | null } {
  const usable = bindings.filter((b) => mayFire(b, combo, press, place));
  if (waiting && now <= waiting.until && !press.repeat) {
    const binding = usable.findLast((b) => b.keys === `${waiting.first} ${combo}`);
    if (binding) return { binding, waiting: null };
  }
  const single = usable.findLast((b) => b.keys === combo);
  if (single) return { binding: single, waiting: null };
  if (!press.repeat && usable.some((b) => b.keys.startsWith(`${combo} `)))
    return { binding: null, waiting: { first: combo, until: now + CHORD_MS } };
  return { binding: null, waiting: null };
}

const TYPING_ROLES = new Set([
  'textbox',
  'combobox',
  'listbox',
  'option',
  'searchbox',
  'spinbutton',
  'slider',
  'menuitem',
  'menuitemradio',
]);
const PLAIN_INPUTS = new Set(['button', 'checkbox', 'radio', 'submit', 'reset', 'file', 'image']);

interface ElementLike {
  tagName: string;
  type?: string;
  isContentEditable?: boolean;
  getAttribute(name: string): string | null;
}

/** Whether keys pressed on this element belong to the element. */
export function takesKeys(el: ElementLike): boolean {
  const tag = el.tagName.toUpperCase();
  if (tag === 'TEXTAREA' || tag === 'SELECT') return true;
  if (tag === 'INPUT') return !PLAIN_INPUTS.has((el.type ?? 'text').toLowerCase());
  if (el.isContentEditable) return true;
  const role = el.getAttribute('role');
  // A list of ours is a list box too, but hands its keys to the keymap.
  return role !== null && TYPING_ROLES.has(role) && el.getAttribute('data-keys') !== 'shared';
}

/** Whether Enter and Space already mean "press" on this element. */
export function activatesByKey(el: ElementLike): boolean {
  const tag = el.tagName.toUpperCase();
  if (tag === 'BUTTON' || tag === 'A' || tag === 'SUMMARY' || tag === 'INPUT') return true;
  return ['button', 'link', 'tab', 'checkbox', 'switch', 'radio'].includes(el.getAttribute('role') ?? '');
}

const SYMBOLS: Record<string, string> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
  Enter: '↵',
  Backspace: '⌫',
  Delete: 'Del',
  Home: 'Home',
  End: 'End',
  PageUp: 'PgUp',
  PageDown: 'PgDn',
  Space: 'Space',
};

/** How a combination is written for people: ["Ctrl", "K"] or ["⌘", "K"]; chords give one array per key. */
export function keyCaps(keys: string, mac: boolean): string[][] {
  return keys.split(' ').map((combo) => {
    const parts = combo === '+' ? ['+'] : combo.split('+').map((p) => p || '+');
    return parts.map((part, i) => {
      if (i < parts.length - 1 || parts.length === 1) {
        if (part === 'mod') return mac ? '⌘' : 'Ctrl';
        if (part === 'shift') return mac ? '⇧' : 'Shift';
        if (part === 'alt') return mac ? '⌥' : 'Alt';
        if (part === 'ctrl') return mac ? '⌃' : 'Ctrl';
        if (part === 'meta') return 'Meta';
      }
      return SYMBOLS[part] ?? (parts.length > 1 && part.length === 1 ? part.toUpperCase() : part);
    });
  });
}
