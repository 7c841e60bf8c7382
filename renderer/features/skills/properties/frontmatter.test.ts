import { expect, test } from 'vitest';
import { frontmatterRange, readFields, setField, type Fields } from './frontmatter.ts';

const skill = (yaml: string): string => `---\n${yaml}---\n\n# Body\n\n---\nname: not this\n`;
const set = (yaml: string, field: keyof Fields, value: string | string[]): string | null => {
  const text = skill(yaml);
  const changes = setField(text, field, value);
  if (changes === null) return null;
  let out = text;
  for (const { from, to, insert } of changes.toSorted((a, b) => b.from - a.from || b.to - a.to)) out = out.slice(0, from) + insert + out.slice(to);
  const range = frontmatterRange(out)!;
  expect(out.slice(range.to)).toBe('---\n\n# Body\n\n---\nname: not this\n');
  return out.slice(range.from, range.to);
};

const COMMENTED = `# Who may use it
name: rebase   # also the folder
license: MIT

description: "Clean up: a branch" # shown to models
metadata:
  # of Hermes Agent
  hermes:
    tags:
      - git      # the tool
      - history
    category: git
version: 1.0
`;

// Bug: a form that writes the whole YAML anew loses comments, order and quotes.
test('a field is changed in its place and nothing else', () => {
  expect(set(COMMENTED, 'description', 'Clean up: two branches')).toBe(COMMENTED.replace('Clean up: a branch', 'Clean up: two branches'));
  expect(set(COMMENTED, 'version', '1.1')).toBe(COMMENTED.replace('1.0', '"1.1"'));
  expect(set(COMMENTED, 'tags', ['git', 'history', 'branches: all'])).toBe(COMMENTED.replace('      - history\n', '      - history\n      - "branches: all"\n'));
  expect(set(COMMENTED, 'tags', ['git'])).toBe(COMMENTED.replace('      - history\n', ''));
  expect(set(COMMENTED, 'requiresToolsets', ['terminal'])).toBe(COMMENTED.replace('    category: git\n', '    category: git\n    requires_toolsets: [terminal]\n'));
  expect(set(COMMENTED, 'platforms', ['linux', 'macos'])).toBe(`${COMMENTED}platforms: [linux, macos]\n`);
});

// Bug: an emptied field stays as an empty one, or leaves the group around it behind.
test('an empty value takes the field out, with a group that has nothing else', () => {
  expect(set(COMMENTED, 'version', '')).toBe(COMMENTED.replace('version: 1.0\n', ''));
  expect(set(COMMENTED, 'tags', [])).toBe(COMMENTED.replace('    tags:\n      - git      # the tool\n      - history\n', ''));
  expect(set('name: a\nmetadata:\n  hermes:\n    tags: [x]\ndescription: b\n', 'tags', [])).toBe('name: a\ndescription: b\n');
  expect(set('name: a\n', 'tags', [])).toBe('name: a\n');
});

// Bug: a folded description is replaced by half; a list on the level of its key eats the next key.
test('values over several lines are replaced whole', () => {
  expect(set('name: a\ndescription: >\n  one\n\n  two\nlicense: MIT\n', 'description', 'three')).toBe('name: a\ndescription: three\nlicense: MIT\n');
  expect(set('tags:\n- a\n- b\nname: x\n', 'tags', ['b', 'a'])).toBe('tags: [b, a]\nname: x\n');
  expect(set('description:\nname: x\n', 'description', 'y')).toBe('description: y\nname: x\n');
  expect(set('name: a\nmetadata:\nlicense: MIT\n', 'tags', ['t'])).toBe('name: a\nmetadata:\n  hermes:\n    tags: [t]\nlicense: MIT\n');
  expect(set('metadata: {hermes: {category: git}}\nname: a\n', 'tags', ['t, u'])).toBe('metadata: {hermes: {category: git, tags: ["t, u"]}}\nname: a\n');
});

// Bug: what a person types becomes other YAML: a number, a mapping, a comment.
test('whatever is typed is read back as it was', () => {
  for (const text of ['yes', '1.10', 'a: b', '# no comment', '- x', '"quoted"', "it's", '{}', 'two\nlines', '中文：说明', '| bar', '@at', '  spaces  ']) {
    const yaml = set('name: a\ndescription: b\n', 'description', text);
    expect(readFields(skill(yaml!))?.description.trim(), text).toBe(text.trim());
    const tag = text.replace('\n', ' ').trim();
    expect(readFields(skill(set('name: a\n', 'tags', [tag, 'x'])!))?.tags, text).toEqual([tag, 'x']);
  }
});

// Bug: the form writes into YAML that it could not read.
test('what cannot be read is left alone', () => {
  expect(set('name: [a\n', 'version', '1')).toBeNull();
  expect(set('- a\n- b\n', 'version', '1')).toBeNull();
  expect(set('metadata: text\nname: a\n', 'tags', ['x'])).toBeNull();
  expect(setField('# no frontmatter\n', 'name', 'x')).toBeNull();
  expect(readFields('---\nname: a\n')).toBeNull();
  expect(readFields(skill('__proto__: x\nname: a\n'))?.name).toBe('a');
});
