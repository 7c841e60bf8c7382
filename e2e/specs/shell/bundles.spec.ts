import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { APP_PATH, expect, test } from '../../drivers/shell.ts';

/** What a built file imports from a module, by the names of the module. */
function importedNames(text: string, module: string): string[] {
  const imports = text.matchAll(new RegExp(`import\\s*\\{([^}]*)\\}\\s*from\\s*["']${module}["']`, 'g'));
  return [...imports].flatMap(([, names = '']) => names.split(',').map((name) => name.trim().split(/\s+as\s+/)[0] ?? '')).filter(Boolean);
}

const read = (...path: string[]): string => readFileSync(join(APP_PATH, ...path), 'utf8');

test('the substitute has everything that the built main takes from electron', ({ driver }) => {
  test.skip(driver === 'electron', 'about the substitute');
  const files = readdirSync(join(APP_PATH, 'out/main')).filter((name) => name.endsWith('.js'));
  const taken = new Set(files.flatMap((name) => importedNames(read('out/main', name), 'electron')));
  const provided = new Set([...read('e2e/drivers/substitute/electron.ts').matchAll(/^export const (\w+)/gm)].map(([, name]) => name));
  expect(taken.size).toBeGreaterThan(5);
  expect([...taken].filter((name) => !provided.has(name))).toEqual([]);
  // Imported whole, a name that is missing would show only when it is used.
  for (const name of files) expect(read('out/main', name), name).not.toMatch(/import\s+(?:\*\s+as\s+)?\w+\s+from\s*["']electron["']|require\(["']electron["']\)/);
});

test('the built preload requires electron and nothing else: a sandboxed one has nothing else', () => {
  const required = [...read('out/preload/index.cjs').matchAll(/require\((["'])(.+?)\1\)/g)].map(([, , name]) => name);
  expect(new Set(required)).toEqual(new Set(['electron']));
  expect(read('out/preload/index.cjs')).not.toMatch(/contextBridge|ipcRenderer\.(?:invoke|sendSync)/);
});

test("the engine's process has no way to electron", () => {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const text = read('out/main', name);
    expect(text, name).not.toMatch(/(?:from|import|require\()\s*["']electron["']/);
    for (const [, next = ''] of text.matchAll(/["']\.\/([\w.-]+\.js)["']/g)) if (next !== 'index.js') visit(next);
  };
  visit('utility.js');
  visit('reader.js');
  expect(seen.size).toBeGreaterThanOrEqual(2);
});
