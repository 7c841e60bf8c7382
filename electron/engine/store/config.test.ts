import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, ConfigFile } from './config.ts';

let folder: string;
let file: string;
let config: ConfigFile;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'talaria-config-'));
  file = join(folder, 'config.yaml');
  config = new ConfigFile(file);
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const HAND_MADE = `# my Talaria
ui:
  theme: dark # easier on the eyes
  density: compact   # not known yet

providers:
  # the box under the desk
  desk:
    base_url: http://desk:8000/v1
    default_model: qwen3
future: [1, 2]
`;

describe('ConfigFile', () => {
  // Bug: a fresh home has no settings, or reading alone creates a file.
  it('uses defaults without a file and writes one for the owner only', () => {
    expect(config.read()).toMatchObject({ ui: { theme: 'system', language: 'system' }, agent: { max_turns: 90 }, providers: {}, toolsets: null, prices: {}, problems: [] });
    expect(existsSync(file)).toBe(false);
    config.change([[['ui', 'theme'], 'light']]);
    expect(readFileSync(file, 'utf8')).toBe('ui:\n  theme: light\n');
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(config.read().ui.theme).toBe('light');
  });

  // Bug: saving a setting drops the person's comments, their order or keys of a newer version.
  it('keeps comments, order and unknown keys', () => {
    writeFileSync(file, HAND_MADE);
    config.change([
      [['ui', 'theme'], 'light'],
      [['ui', 'language'], 'zh-CN'],
      [['providers', 'desk', 'default_model'], undefined],
    ]);
    expect(readFileSync(file, 'utf8')).toBe(
      HAND_MADE.replace('theme: dark', 'theme: light')
        .replace('compact   #', 'compact # ')
        .replace('#  not', '# not')
        .replace('known yet\n', 'known yet\n  language: zh-CN\n')
        .replace('    default_model: qwen3\n', '')
        .replace('[1, 2]', '[ 1, 2 ]'),
    );
  });

  // Bug: a value that looks like a number or boolean in YAML comes back as one.
  it('keeps text text', () => {
    for (const value of ['1.10', 'true', 'null', 'a: b', '# x', ' padded'.trim(), '模型']) {
      config.change([[['providers', 'desk', 'default_model'], value]]);
      expect(config.read().providers.desk?.default_model).toBe(value);
      expect(config.read().problems).toEqual([]);
    }
  });

  // Bug: one wrong key makes all others count for nothing, or is silently replaced.
  it('reports each wrong key with its line and uses the rest', () => {
    writeFileSync(
      file,
      'ui:\n  theme: pink\n  language: en\nproviders:\n  desk:\n    base_url: ftp://desk\n    name: 7\n    key_env: "A B"\n    default_model: m\n  Bad Id: {}\n  list: [1]\n',
    );
    const { ui, providers, problems } = config.read();
    expect(ui).toEqual({ theme: 'system', language: 'en' });
    expect(providers).toEqual({ desk: { default_model: 'm' }, list: {} });
    expect(problems).toHaveLength(6);
    expect(problems[0]).toBe('config.yaml line 2: ui.theme must be one of system, light, dark; "system" is used.');
    expect(problems.map((problem) => /line \d+/.exec(problem)?.[0])).toEqual(['line 2', 'line 7', 'line 6', 'line 8', 'line 10', 'line 11']);
  });

  // Bug: a typing error in the file destroys it at the next click in Settings.
  it.each([
    ['a tab', 'ui:\n\ttheme: dark\n', /line 2/],
    ['a repeated key', 'ui: {}\nui: {}\n', /line 2/],
    ['an open quote', 'ui:\n  theme: "dark\n', /line \d/],
    ['no keys at all', '- a\n- b\n', /line 1/],
    ['many aliases', `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefg'.replace(/./g, (c) => `${c}: &${c} [${Array(9).fill(`*${String.fromCharCode(c.charCodeAt(0) - 1)}`).join()}]\n`)}`, /alias/],
  ])('never writes to a broken file: %s', (_name, text, place) => {
    writeFileSync(file, text);
    expect(config.read().ui.theme).toBe('system');
    expect(config.read().problems[0]).toMatch(place);
    expect(() => config.change([[['ui', 'theme'], 'dark']])).toThrow(ConfigError);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  // Bug: bytes that are not UTF-8 come back as replacement characters.
  it('never writes to a file in another encoding', () => {
    const bytes = Buffer.from('ui:\n  theme: dark # gr\xfcn\n', 'latin1');
    writeFileSync(file, bytes);
    expect(config.read().problems[0]).toContain('UTF-8');
    expect(() => config.change([[['ui', 'theme'], 'dark']])).toThrow(ConfigError);
    expect(readFileSync(file)).toEqual(bytes);
  });

  // Bug: "ui:" with nothing below, or a file of comments only, makes setting throw; a value in the way is overwritten.
  it('fills empty places and respects filled ones', () => {
    writeFileSync(file, '# only a comment\n');
    config.change([[['ui', 'theme'], 'dark']]);
    expect(readFileSync(file, 'utf8')).toBe('# only a comment\n\nui:\n  theme: dark\n');
    writeFileSync(file, 'ui:\nproviders: none\n');
    config.change([[['ui', 'theme'], 'dark']]);
    expect(readFileSync(file, 'utf8')).toContain('theme: dark');
    expect(() => config.change([[['providers', 'x', 'name'], 'X']])).toThrow(/providers/);
    expect(readFileSync(file, 'utf8')).toContain('providers: none');
  });

  // Bug: Talaria overwrites what was edited in an editor meanwhile, or does not see it.
  it('sees edits from outside and builds on them', () => {
    config.change([[['ui', 'theme'], 'dark']]);
    expect(config.read().ui.theme).toBe('dark');
    writeFileSync(file, 'ui:\n  theme: dark\n  language: en\n');
    expect(config.read().ui.language).toBe('en');
    writeFileSync(file, 'ui:\n  theme: dark\n  language: zh-CN\n');
    config.change([[['ui', 'theme'], 'light']]);
    expect(config.read().ui).toEqual({ theme: 'light', language: 'zh-CN' });
  });

  // Bug: a config kept in a dotfiles repository is replaced by a plain file; Windows line ends are mixed.
  it('follows a link and keeps line ends', () => {
    const real = join(folder, 'real.yaml');
    writeFileSync(real, 'ui:\r\n  theme: dark\r\n');
    if (process.platform === 'win32') return;
    symlinkSync(real, file);
    config.change([[['ui', 'theme'], 'light']]);
    expect(readFileSync(real, 'utf8')).toBe('ui:\r\n  theme: light\r\n');
  });
});

// Bug: a wrong distribution takes the others or the whole file with it, or is ignored in silence.
it('reads own toolset distributions, each judged alone', () => {
  const { distributions, problems } = (writeFileSync(file, 'distributions:\n  mine:\n    description: Mostly commands\n    toolsets: { terminal: 100, web: 12.5 }\n  loud:\n    toolsets: { web: 101 }\n  none:\n    toolsets: { web: 0 }\n  "a b":\n    toolsets: { web: 1 }\n  flat: 3\n'), config.read());
  expect(distributions).toEqual({ mine: { description: 'Mostly commands', toolsets: { terminal: 100, web: 12.5 } } });
  expect(problems).toEqual([
    'config.yaml line 6: distributions.loud.toolsets.web must be from 0 to 100; it is ignored.',
    'config.yaml line 8: distributions.none.toolsets must have a toolset with a chance above 0; it is ignored.',
    'config.yaml line 10: distributions.a b cannot be used: a name has only letters, digits, "-" and "_", at most 60; it is ignored.',
    expect.stringMatching(/^config\.yaml line 11: distributions\.flat .*; it is ignored\.$/),
  ]);
});
