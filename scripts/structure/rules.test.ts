import { describe, expect, it } from 'vitest';
import { electronSupportRule } from './electron-support.ts';
import { checkStructure } from './rules.ts';

const TODAY = new Date('2026-11-30T00:00:00Z');

/** The findings for planted files as `path:line rule`. */
function found(files: Record<string, string>): string[] {
  const sources = Object.entries(files).map(([path, text]) => ({ path, text }));
  return checkStructure(sources, TODAY).map(({ path, line, rule }) => `${path}${line ? `:${line}` : ''} ${rule}`);
}

describe('folders and sizes', () => {
  it('finds a folder outside the closed set at every level that is closed', () => {
    expect(found({
      'src/a.ts': '',
      'electron/helpers/a.ts': '',
      'electron/engine/utils/a.ts': '',
      'renderer/components/a.ts': '',
      'renderer/features/misc/a.ts': '',
      'e2e/utils/a.ts': '',
    })).toEqual([
      'e2e/utils closed-folders',
      'electron/engine/utils closed-folders',
      'electron/helpers closed-folders',
      'renderer/components closed-folders',
      'renderer/features/misc closed-folders',
      'src closed-folders',
    ]);
  });

  it('leaves open what is open: files in a closed folder, folders inside a room', () => {
    expect(found({
      'README.md': '',
      'electron/engine/engine.ts': '',
      'electron/engine/trajectories/import/sharegpt.ts': '',
      'renderer/index.html': '',
      'renderer/features/batch/locales/en.json': '',
      '.ci/run': '',
    })).toEqual([]);
  });

  it('counts lines of sources, not of locales', () => {
    const long = 'x\n'.repeat(401);
    expect(found({ 'shared/a.ts': long, 'renderer/app/locales/en.json': long, 'shared/b.ts': 'x\n'.repeat(400) })).toEqual([
      'shared/a.ts file-length',
    ]);
  });
});

describe('what has one place', () => {
  it('finds a window in a second file, also under another name', () => {
    const first = { 'electron/main/window.ts': "import { BrowserWindow } from 'electron';\nnew BrowserWindow({});" };
    expect(found(first)).toEqual([]);
    for (const second of [
      "import { BrowserWindow as Frame } from 'electron';\nnew Frame();",
      "import electron from 'electron';\nnew electron.BrowserWindow();",
      "import electron from 'electron'; const { BrowserWindow: W } = electron;\nnew W();",
      "import electron from 'electron'; const W = electron.BrowserWindow;\nnew (W as never)();",
      "import { WebContentsView } from 'electron';\nnew WebContentsView();",
    ]) {
      expect(found({ ...first, 'electron/main/second.ts': second })).toEqual([
        'electron/main/second.ts:2 one-window-place',
        'electron/main/window.ts:2 one-window-place',
      ]);
    }
  });

  it('does not count the substitute of the e2e drivers or a test', () => {
    const window = 'new BrowserWindow({});';
    expect(found({ 'electron/main/window.ts': window, 'e2e/drivers/window.ts': window, 'electron/main/window.test.ts': window })).toEqual([]);
  });

  it('finds a second way out to the browser and a second place of ipcMain', () => {
    expect(found({
      'electron/main/a.ts': "shell.openExternal('https://a.example');\nipcMain.handle('a', () => 1);",
      'electron/main/b.ts': "const { openExternal } = shell;\nimport { ipcMain as bus } from 'electron'; bus.on('b', () => {});",
    })).toEqual([
      'electron/main/a.ts:1 one-open-external',
      'electron/main/a.ts:2 one-ipc-place',
      'electron/main/b.ts:1 one-open-external',
      'electron/main/b.ts:2 one-ipc-place',
    ]);
  });
});

describe('security settings', () => {
  it.each([
    'const p = { sandbox: false };',
    "const p = { 'webSecurity': false };",
    "const p = { ['nodeIntegration']: true };",
    'const p = { contextIsolation: !1 };',
    'const p = { allowRunningInsecureContent: value };',
    'const p = { experimentalFeatures };',
    "const p = { enableBlinkFeatures: 'X' };",
    'preferences.sandbox = (false as boolean);',
    "app.commandLine.appendSwitch('no-sandbox');",
  ])('finds %s', (text) => {
    expect(found({ 'electron/main/a.ts': text })).toEqual(['electron/main/a.ts:1 safe-settings']);
  });

  it('accepts the safe values and comments about the unsafe ones', () => {
    expect(found({ 'electron/main/a.ts': '// never sandbox: false\nconst p = { sandbox: true, webSecurity: true, nodeIntegration: false };' })).toEqual([]);
  });

  it('finds forbidden packages in imports and in package.json', () => {
    expect(found({
      'electron/main/a.ts': "import '@electron/remote/main';",
      'renderer/lib/a.tsx': "const raw = await import('rehype-raw');",
      'package.json': '{"devDependencies":{"electron":"45.5.0","rehype-raw":"7.0.0"}}',
    })).toEqual(['electron/main/a.ts:1 forbidden-package', 'package.json forbidden-package', 'renderer/lib/a.tsx:1 forbidden-package']);
  });

  it.each([
    'const a = <div dangerouslySetInnerHTML={{ __html: text }} />;',
    'const a = { dangerouslySetInnerHTML: { __html: text } };',
    'element.innerHTML = text;',
    "element.insertAdjacentHTML('beforeend', text);",
    'const a = <iframe srcDoc={text} />;',
  ])('finds raw HTML: %s', (text) => {
    expect(found({ 'renderer/ui/a.tsx': text })).toEqual(['renderer/ui/a.tsx:1 no-raw-html']);
  });
});

describe('tests', () => {
  it.each([
    "it.skip('a', () => {});",
    "test.only('a', () => {});",
    "describe.concurrent.only('a', () => {});",
    "test.describe.skip('a', () => {});",
    "test.skip('a', () => {});",
    "test.skip(true, 'later');",
    "it.todo('a');",
    "xit('a', () => {});",
  ])('finds %s', (text) => {
    expect(found({ 'shared/a.test.ts': text })).toEqual(['shared/a.test.ts:1 no-switched-off-tests']);
  });

  it('allows what depends on the machine', () => {
    expect(found({ 'e2e/specs/shell/a.spec.ts': "test.skip(!binary, 'no Electron binary');", 'shared/a.test.ts': "it.skipIf(windows)('a', () => {});" })).toEqual([]);
  });
});

describe('Electron', () => {
  it('is supported until the third major after it is out', () => {
    expect(electronSupportRule('45.5.0', TODAY)).toEqual([]);
    expect(electronSupportRule('43.1.0', new Date('2026-12-14T00:00:00Z'))).toEqual([]);
    expect(electronSupportRule('43.1.0', new Date('2026-12-15T00:00:00Z'))).toHaveLength(1);
  });

  it('must be a version that the table knows', () => {
    expect(electronSupportRule('12.0.0', TODAY)[0]?.message).toContain('does not know');
    expect(electronSupportRule('latest', TODAY)[0]?.message).toContain('no exact version');
    expect(electronSupportRule(undefined, TODAY)).toHaveLength(1);
  });
});
