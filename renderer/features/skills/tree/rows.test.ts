import { expect, test } from 'vitest';
import type { SkillSummary } from '#shared/contract/skills.ts';
import { matching, stepFrom, treeRows } from './rows.ts';

const skill = (id: string, more: Partial<SkillSummary> = {}): SkillSummary => {
  const parts = id.split('/');
  return {
    id, name: parts.at(-1)!, category: parts.length > 2 ? parts[1]! : null, description: `About ${id}`, root: parts[0]!.split(':')[0] as SkillSummary['root'],
    folder: `/home/x/${parts[0]}-root/${parts.slice(1).join('/')}`, readOnly: false, enabled: true, pinned: false, shadowedBy: null, author: null, verdict: 'safe', offered: true,
    notOffered: null, errors: 0, tags: [], version: null, chars: 10, updatedAt: 1, uses: 0, lastUsedAt: null, ...more,
  };
};
const shape = (items: SkillSummary[], closed: string[] = [], searching = false): string[] =>
  treeRows(items, new Set(closed), searching).map((row) => `${'  '.repeat(row.level - 1)}${row.kind === 'skill' ? row.skill.name : row.kind === 'root' ? `[${row.root}]` : `${row.name} (${row.count})`}`);

// Bug: skills stand in the order of the disk, or a root that goes first stands last.
test('the tree goes by precedence, then category, then name', () => {
  const items = [skill('hermes/z'), skill('own/git/rebase'), skill('own/git/bisect'), skill('own/alone'), skill('project/deploy'), skill('external:2/pdf')];
  expect(shape(items)).toEqual(['[project]', '  deploy', '[own]', '  alone', '  git (2)', '    bisect', '    rebase', '[external]', '  pdf', '[hermes]', '  z']);
});

// Bug: with one root alone, every line is indented for nothing.
test('a single root has no line of its own', () => {
  expect(shape([skill('own/git/rebase'), skill('own/b10'), skill('own/b9')])).toEqual(['b9', 'b10', 'git (1)', '  rebase']);
});

// Bug: a search finds a skill inside a folded category and does not show it.
test('what is folded is hidden, but not from a search', () => {
  const items = [skill('own/git/rebase'), skill('own/web/fetch')];
  expect(shape(items, ['own/git/'])).toEqual(['git (1)', 'web (1)', '  fetch']);
  expect(shape(items, ['own/git/'], true)).toEqual(['git (1)', '  rebase', 'web (1)', '  fetch']);
});

// Bug: two external folders with a skill of the same name show as one.
test('each external folder is a root of its own, named by its path', () => {
  const roots = treeRows([skill('external:1/pdf'), skill('external:2/pdf')], new Set(), false).filter((row) => row.kind === 'root');
  expect(roots.map((row) => row.folder)).toEqual(['/home/x/external:1-root', '/home/x/external:2-root']);
});

// Bug: words are searched only as one phrase, or tags are not searched.
test('every word must be found, wherever it stands', () => {
  const items = [skill('own/git/rebase', { tags: ['history'] }), skill('own/pdf', { description: 'Reads scanned pages' })];
  const found = (query: string, text: string[] = []): string[] => matching(items, query, new Set(text)).map((s) => s.name);
  expect(found('HISTORY git')).toEqual(['rebase']);
  expect(found('pages pdf')).toEqual(['pdf']);
  expect(found('history pdf')).toEqual([]);
  expect(found('only in the text', ['own/pdf'])).toEqual(['pdf']);
});

// Bug: j stops at a heading, or at the end jumps to the start.
test('steps go over skills', () => {
  const rows = treeRows([skill('own/a'), skill('own/git/b'), skill('own/web/c')], new Set(), false);
  expect(stepFrom(rows, null, 1)?.key).toBe('own/a');
  expect(stepFrom(rows, 'own/a', 1)?.key).toBe('own/git/b');
  expect(stepFrom(rows, 'own/git/', 1)?.key).toBe('own/git/b');
  expect(stepFrom(rows, 'own/a', -1)).toBeNull();
  expect(stepFrom(rows, 'gone', -1)?.key).toBe('own/web/c');
});
