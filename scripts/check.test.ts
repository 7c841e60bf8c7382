import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

// Each test starts many processes, on a machine that may have more to do.
vi.setConfig({ testTimeout: 120_000 });

const repository = join(import.meta.dirname, '..');
const RULES = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.web.json', 'tsconfig.e2e.json', 'tsconfig.base.json', 'knip.json', '.dependency-cruiser.cjs', 'scripts'];

/** The smallest tree that the checks call clean. */
const CLEAN = {
  'electron/main/index.ts': "import { openWindow } from './window.ts';\nimport { greet } from '#engine/api/greet.ts';\nopenWindow(greet());\n",
  'electron/main/window.ts': "import { BrowserWindow } from 'electron';\nexport function openWindow(title: string): void {\n  new BrowserWindow({ title });\n}\n",
  'electron/engine/api/greet.ts': "import { NAME } from '#shared/name.ts';\nexport const greet = (): string => NAME;\n",
  'shared/name.ts': "export const NAME = 'Talaria';\n",
};

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'talaria-check-'));
  // They need the application, which is not in this tree.
  const apart = ['bench', 'interop', 'local-model.mjs'].map((name) => join(repository, 'scripts', name));
  for (const name of RULES) cpSync(join(repository, name), join(folder, name), { recursive: true, filter: (path) => !apart.includes(path) });
  for (const name of ['renderer', 'e2e']) mkdirSync(join(folder, name));
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  plant(CLEAN);
  writeFileSync(join(folder, '.gitignore'), 'node_modules\n');
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function plant(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function check(name: string): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/check.mjs', name], { cwd: folder, encoding: 'utf8' });
  return { code: status, output: stdout + stderr };
}

it('finds forbidden imports of every direction, a cycle and a package of the build in the app', () => {
  expect(check('imports').output).toContain('ok      imports');
  plant({
    'renderer/lib/direct.ts': "import type { greet } from '../../electron/engine/api/greet.ts';\nexport type Greet = typeof greet;\n",
    'shared/paths.ts': "import { join } from 'node:path';\nexport const path = join('a', 'b');\n",
    'electron/engine/api/host.ts': "import '../../main/window.ts';\n",
    'electron/engine/api/shell.ts': "import { app } from 'electron';\nexport const ready = app.whenReady();\n",
    'electron/serve/other.ts': "import '../main/window.ts';\n",
    'electron/cli/dev.ts': "import { createServer } from 'vite';\nexport const serve = createServer;\n",
    'electron/engine/batch/a.ts': "import { b } from './b.ts';\nexport const a = (): number => b();\n",
    'electron/engine/batch/b.ts': "import { a } from './a.ts';\nexport const b = (): number => a();\n",
  });
  const { code, output } = check('imports');
  expect(code).toBe(1);
  for (const line of [
    'page-only-shared: renderer/lib/direct.ts → electron/engine/api/greet.ts',
    'shared-packages: shared/paths.ts → path',
    'engine-only-shared: electron/engine/api/host.ts → electron/main/window.ts',
    'electron-only-in-shell: electron/engine/api/shell.ts →',
    'serve-only-engine: electron/serve/other.ts → electron/main/window.ts',
    'no-dev-package-in-the-app: electron/cli/dev.ts →',
    'no-cycles: electron/engine/batch/a.ts',
  ]) expect(output).toContain(line);
});

it('finds a file that nobody imports, and one that only its test imports', () => {
  plant({
    'electron/engine/api/orphan.ts': 'export const orphan = 1;\n',
    'electron/engine/api/tested.ts': 'export const tested = 1;\n',
    'electron/engine/api/tested.test.ts': "import { tested } from './tested.ts';\nconsole.log(tested);\n",
  });
  expect(check('unused').output).toMatch(/Unused files \(1\)\s+electron\/engine\/api\/orphan\.ts/);
  const onlyTests = check('unused-code');
  expect(onlyTests.code).toBe(1);
  expect(onlyTests.output).toContain('electron/engine/api/tested.ts');
  expect(onlyTests.output).not.toContain('electron/engine/api/greet.ts');
});

it('finds a window made in a second place', () => {
  expect(check('structure')).toMatchObject({ code: 0 });
  plant({ 'electron/main/about.ts': "import { BrowserWindow } from 'electron';\nexport const about = new BrowserWindow();\n" });
  const { code, output } = check('structure');
  expect(code).toBe(1);
  expect(output).toContain('electron/main/about.ts:2  one-window-place');
});
