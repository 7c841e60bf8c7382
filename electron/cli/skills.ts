import { resolve } from 'node:path';
import type { Finding, Lint, SkillSummary } from '#shared/contract/skills.ts';
import { type Command, type CommandHost, EXIT, HOME_OPTION } from './command.ts';
import { UsageError } from './options.ts';
import { plain } from './terminal.ts';

/** Text of somebody else with its spaces, and without what moves the cursor or hides. */
const shown = (text: string): string => text.replace(/[^\P{C}\t]/gu, ' ');

const options = { home: HOME_OPTION } as const;
const MAX_DESCRIPTION_CHARS = 80;

export const skillsCommand: Command<typeof options> = {
  name: 'skills',
  summary: 'list, show and check skills',
  about:
    'list              all skills: whether agents are offered it, name, verdict of the scan, description\n' +
    'show NAME         the text of one, and what is wrong with it\n' +
    'check FOLDER …    what is wrong or dangerous about skills in any folder, e.g. before you copy them; needs no home,\n' +
    '                  and ends with 1 when one has errors or may be dangerous',
  words: 'list|show NAME|check FOLDER …',
  options,
  async run(values, host, [action = 'list', ...names]) {
    if (!['list', 'show', 'check'].includes(action)) throw new UsageError(`"${action}" is not one of list, show and check.`);
    if (action === 'list' && names.length > 0) throw new UsageError('"list" takes no name.');
    if (action === 'show' && names.length !== 1) throw new UsageError('Say which one to show: skills show NAME.');
    if (action === 'check' && names.length === 0) throw new UsageError('Say what to check: skills check FOLDER.');
    if (action === 'check') return check(host, names);
    const { client } = await host.open(values.home);
    const { items } = await client.skills.list();
    if (action === 'list') return list(host, items);
    const skill = items.find(({ name, id, shadowedBy }) => id === names[0] || (name === names[0] && shadowedBy === null)) ?? items.find(({ name }) => name === names[0]);
    if (!skill) {
      host.terminal.err(`There is no skill "${plain(names[0]!)}". See: npm run talaria -- skills list`);
      return EXIT.stopped;
    }
    const { text, lint, findings, summary } = await client.skills.get({ id: skill.id });
    host.terminal.out(`${plain(summary.folder)}${summary.notOffered === null ? '' : `\nNot offered to agents: ${plain(summary.notOffered)}`}`);
    for (const line of report(lint, findings)) host.terminal.err(line);
    host.terminal.out(`\n${text.split('\n').map(shown).join('\n')}`);
    return EXIT.ok;
  },
};

function list({ terminal }: CommandHost, items: readonly SkillSummary[]): number {
  if (items.length === 0) terminal.err('There are no skills yet.');
  const width = Math.max(0, ...items.map(({ name }) => name.length)) + 2;
  for (const { offered, name, verdict, description, notOffered } of items) {
    const about = description.replace(/\s+/g, ' ').slice(0, MAX_DESCRIPTION_CHARS);
    terminal.out(shown(`${offered ? 'on ' : 'off'}  ${name.padEnd(width)}${verdict.padEnd(11)}${offered ? about : (notOffered ?? '')}`).trimEnd());
  }
  return EXIT.ok;
}

async function check({ terminal, cwd }: CommandHost, folders: readonly string[]): Promise<number> {
  const { skillsAt } = await import('#engine/skills/check.ts');
  let bad = false;
  for (const folder of folders) {
    const skills = skillsAt(resolve(cwd, folder));
    if (skills.length === 0) terminal.err(`${plain(folder)}: there is no SKILL.md in it.`);
    bad ||= skills.length === 0;
    for (const { name, lint, scan, folder: at } of skills) {
      const errors = lint.filter(({ severity }) => severity === 'error').length;
      bad ||= errors > 0 || scan.verdict === 'dangerous';
      terminal.out(shown(`${name}  ${scan.verdict}${errors > 0 ? `, ${errors} ${errors === 1 ? 'error' : 'errors'}` : ''}  ${at}`));
      for (const line of report(lint, scan.findings)) terminal.out(`  ${line}`);
    }
  }
  return bad ? EXIT.stopped : EXIT.ok;
}

function report(lint: readonly Lint[], findings: readonly Finding[]): string[] {
  return [
    ...lint.map(({ severity, line, message }) => plain(`${severity}${line === null ? '' : `, line ${line}`}: ${message}`)),
    ...findings.map(({ severity, file, line, message, excerpt }) => plain(`${severity}, ${file || 'the whole skill'}${line === null ? '' : `:${line}`}: ${message}${excerpt === '' ? '' : ` (${excerpt})`}`)),
  ];
}
