import type { Finding, Source } from './source.ts';

/** The rooms of the house. A new capability goes into one of them; a new one is a decision of its own. */
const FOLDERS: Record<string, readonly string[]> = {
  '': ['electron', 'renderer', 'shared', 'resources', 'e2e', 'scripts', 'docs', '.ci'],
  electron: ['main', 'preload', 'serve', 'cli', 'engine'],
  'electron/engine': [
    'api', 'agent', 'chat', 'model', 'tools', 'sandbox', 'delegation', 'skills', 'memory', 'review', 'kanban', 'profiles', 'batch',
    'trajectories', 'rewards', 'training', 'store',
  ],
  renderer: ['app', 'features', 'ui', 'lib'],
  'renderer/features': ['chat', 'library', 'batch', 'skills', 'memory', 'reviews', 'board', 'datasets', 'training', 'settings'],
  e2e: ['specs', 'drivers', 'fakes', 'fixtures'],
};

const MAX_LINES = 400;
/** What people write by hand; locales, lock files and data may be as long as they are. */
const COUNTED = /\.(ts|tsx|mts|cts|js|mjs|cjs|css|html|sql|sh|py)$/;

/** Every folder must be one of the closed set. */
export function folderRule(files: readonly Source[]): Finding[] {
  const wrong = new Set<string>();
  for (const { path } of files) {
    const parts = path.split('/');
    for (let depth = 0; depth < parts.length - 1; depth += 1) {
      const allowed = FOLDERS[parts.slice(0, depth).join('/')];
      if (allowed && !allowed.includes(parts[depth] ?? '')) wrong.add(parts.slice(0, depth + 1).join('/'));
    }
  }
  return [...wrong].sort().map((path) => {
    const parent = path.split('/').slice(0, -1).join('/');
    const rooms = (FOLDERS[parent] ?? []).join(', ');
    return { path, rule: 'closed-folders', message: `is not one of the folders of ${parent || 'the repository'}: ${rooms}.` };
  });
}

/** No file is longer than a person wants to read. */
export function lengthRule(files: readonly Source[]): Finding[] {
  return files
    .filter((file) => COUNTED.test(file.path))
    .map((file) => ({ file, lines: file.text.replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ file, lines }) => ({
      path: file.path,
      rule: 'file-length',
      message: `has ${lines} lines, more than ${MAX_LINES}: split it by meaning.`,
    }));
}
