import { expect, test } from 'vitest';
import { offered, readTyped, type Offers, type SkillOffer } from './slash.ts';

const nameOf = (item: Offers['items'][number]): string => ('skill' in item ? `skill:${item.skill}` : item.name);

// Bug: a mistyped command goes to the model as a message.
test('an unknown command is said to be one, with the closest', () => {
  expect(readTyped('/modle gpt')).toEqual({ kind: 'unknown', name: 'modle', closest: 'model' });
  expect(readTyped('/xyzzy')).toEqual({ kind: 'unknown', name: 'xyzzy', closest: null });
});

// Bug: a message about a path cannot be sent, or a slash cannot be sent at all.
test('paths and what is asked to be literal are text', () => {
  expect(readTyped('/etc/hosts is empty')).toEqual({ kind: 'text', text: '/etc/hosts is empty' });
  expect(readTyped('//help')).toEqual({ kind: 'text', text: '/help' });
  expect(readTyped(' /help')).toEqual({ kind: 'text', text: ' /help' });
  expect(readTyped('1/2')).toEqual({ kind: 'text', text: '1/2' });
});

// Bug: aliases, capitals, arguments over several lines, or the slash of a Chinese input method are not understood.
test('commands are found by name and alias', () => {
  expect(readTyped('/Compact the\ntests')).toEqual({ kind: 'command', name: 'compress', args: 'the\ntests' });
  expect(readTyped('／help')).toEqual({ kind: 'command', name: 'help', args: '' });
});

// Bug: the list stays open over the arguments, or hides what an alias names.
test('what is offered follows the name', () => {
  expect(offered('/re')?.items.map(nameOf)).toEqual(['review', 'retry', 'new', 'title']);
  expect(offered('/')?.items.length).toBeGreaterThan(10);
  expect(offered('/model x')).toBeNull();
  expect(offered('a /')).toBeNull();
  expect(offered('/zzz')).toBeNull();
});

const SKILLS: SkillOffer[] = ['release-notes', 'review', 'pdf2text', 'tone'].map((skill) => ({ skill, description: '' }));

// Bug: a skill hides a command of its name, stands before commands, or is not found by a word within its name.
test('skills are offered after the commands', () => {
  expect(offered('/re', SKILLS)?.items.map(nameOf)).toEqual(['review', 'retry', 'new', 'title', 'skill:release-notes']);
  expect(offered('/notes', SKILLS)?.items.map(nameOf)).toEqual(['skill:release-notes']);
  expect(offered('/release-notes', SKILLS)?.items.map(nameOf)).toEqual(['skill:release-notes']);
});

// Bug: only one skill can be named, or commands are offered where they would be sent as text.
test('behind the name of a skill only further skills are offered', () => {
  expect(offered('/tone /', SKILLS)).toEqual({ before: '/tone ', items: [SKILLS[0], SKILLS[2]] });
  expect(offered('/model /', SKILLS)).toBeNull();
  expect(offered('/tone words /', SKILLS)).toBeNull();
});

// Bug: running a skill is refused as an unknown command, or the slash of a Chinese input method does not run it.
test('the name of a skill is sent as text', () => {
  expect(readTyped('/release-notes for 1.2', SKILLS)).toEqual({ kind: 'text', text: '/release-notes for 1.2' });
  expect(readTyped('／tone 写', SKILLS)).toEqual({ kind: 'text', text: '/tone 写' });
  expect(readTyped('/review', SKILLS)).toEqual({ kind: 'command', name: 'review', args: '' });
  expect(readTyped('/gone', SKILLS).kind).toBe('unknown');
});
