import { expect, test } from 'vitest';

// Vitest gives empty style sheets to imports, and the page's types know no Node: so the file is read by hand.
const { readFileSync } = (await import('node:fs' as string)) as { readFileSync(path: URL, encoding: 'utf8'): string };
const CSS = readFileSync(new URL('./styles.css', import.meta.url), 'utf8');

function tokens(theme: 'light' | 'dark'): Record<string, string> {
  const block = new RegExp(`\\[data-theme='${theme}'\\] \\{([^}]*)\\}`).exec(CSS)?.[1] ?? '';
  return Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map((m) => [m[1] ?? '', m[2] ?? '']));
}

/** Relative luminance, WCAG 2.2. @param hex "#rrggbb" */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const v = parseInt(hex.slice(at, at + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const TEXTS = ['fg', 'fg-2', 'fg-3', 'accent', 'good', 'warn', 'bad', 'info', 'role-human', 'role-agent', 'role-tool', 'role-think'];
const GROUNDS = ['bg', 'bg-raised', 'bg-sunken', 'bg-hover', 'bg-selected', 'bg-code'];
const PAIRS: [string, string][] = [
  ...TEXTS.flatMap((text) => GROUNDS.map((ground): [string, string] => [text, ground])),
  ...['good', 'warn', 'bad', 'info', 'accent'].map((tone): [string, string] => [tone, `${tone}-soft`]),
  ...['good', 'warn', 'bad', 'info', 'accent'].flatMap((tone): [string, string][] => [
    ['fg', `${tone}-soft`],
    ['fg-2', `${tone}-soft`],
  ]),
  ['fg-on-accent', 'accent'],
];

// Bug: grey small print that a part of the people cannot read.
test.each(['light', 'dark'] as const)('every text colour of the %s theme holds 4.5:1 on every ground', (theme) => {
  const colors = tokens(theme);
  const weak = PAIRS.filter(([text, ground]) => contrast(colors[text] ?? '#000000', colors[ground] ?? '#000000') < 4.5);
  expect(weak).toEqual([]);
  expect(PAIRS.flat().filter((name) => !(name in colors))).toEqual([]);
});
