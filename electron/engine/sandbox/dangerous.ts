import { posix } from 'node:path';
import { checkByName, isOutside, targetOf } from './dangerous-rules.ts';
import type { Danger, Place } from './dangerous-rules.ts';
import { stripAnsi } from './output.ts';
import { splitScript } from './shell-words.ts';
import type { SimpleCommand, Word } from './shell-words.ts';

export { scopeOfRule } from './dangerous-rules.ts';
export type { Danger } from './dangerous-rules.ts';

/** Scripts in scripts (`bash -c "bash -c …"`) are followed this far; deeper ones are refused as hidden. */
const MAX_DEPTH = 6;
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'ash', 'fish']);
const INTERPRETERS = new Set([...SHELLS, 'python', 'python3', 'perl', 'ruby', 'node', 'php']);
const DOWNLOADERS = /^(curl|wget|fetch|aria2c)$/;
const DOWNLOAD_INSIDE = /[$<`]\(?\s*(curl|wget|fetch)\b/;
/** Words that only introduce the real command. */
const PREFIXES = new Set([
  'env', 'nohup', 'time', 'nice', 'ionice', 'setsid', 'stdbuf', 'timeout', 'command', 'builtin', 'exec', 'busybox', 'then', 'do', 'else', 'if', 'elif', 'while', 'until', '!',
]);
const FORK_BOMB = /([\w:.]{1,40})\(\)\{\1\|\1&\}/;
const CODE_DELETES_ROOT = /\b(rmtree|rmSync|removeSync|rm_rf|remove_entry)\s*\(\s*(os\.path\.expanduser\(\s*)?['"](\/|~|\/(etc|usr|home|bin|lib|var|root|boot|Users)\b[^'"]*)\/?['"]/;
const CREDENTIALS = /(^|[/=])(\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker\/config\.json|\.netrc|\.config\/gcloud)(\/|$)|^\/etc\/(shadow|gshadow|sudoers)/;

/** Where a command starts: the real path of the workspace, and the folder in it or elsewhere; `root` when left out. */
interface Start {
  root: string;
  cwd?: string | undefined;
}

/**
 * Looks for commands that could harm the machine or what lies outside the workspace, and answers with one of each
 * rule, in the order in which they come up.
 *
 * It reads the command as a shell would, after Unicode look-alikes (NFKC) and escape sequences are resolved, so
 * `r''m -rf /`, `bash -c "rm -rf /"` and `$(rm -rf /)` are found, while `echo "rm -rf /"` and `grep mkfs notes.md` pass: text
 * that is only printed, searched or written to a file harms nothing, and refusing it would stop agents from writing about it.
 * HOME is the workspace there, so paths below `~` are inside; `~` itself is refused.
 *
 * This is a guard against well-known accidents, not a wall. A program written to a file and then run, an unknown variable or an
 * encoded text passes. On the host sandbox a command can reach whatever this user can reach.
 */
export function findDangers(command: string, place: Start): Danger[] {
  const text = stripAnsi(command.normalize('NFKC')).replace(/[\u200b-\u200d\u2060\ufeff]/g, '');
  if (FORK_BOMB.test(text.replace(/\s/g, ''))) {
    return [{ rule: 'fork_bomb', message: 'This is a fork bomb: it would start processes without end. Do not run it.' }];
  }
  const found: Danger[] = [];
  if (CODE_DELETES_ROOT.test(text)) {
    found.push({ rule: 'delete_outside', message: 'This code deletes a folder outside the workspace. Delete only paths inside the workspace.' });
  }
  found.push(...checkScript(text, { root: place.root, cwd: place.cwd ?? place.root }, 0));
  return onePerRule(found);
}

function onePerRule(found: readonly Danger[]): Danger[] {
  const first = new Map<string, Danger>();
  for (const danger of found) if (!first.has(danger.rule)) first.set(danger.rule, danger);
  return [...first.values()];
}

function checkScript(text: string, start: Place, depth: number): Danger[] {
  if (depth > MAX_DEPTH) return [{ rule: 'hidden', message: 'Scripts are nested too deeply to be checked. Write the command out plainly.' }];
  const found: Danger[] = [];
  const script = splitScript(text);
  const place = { ...start };
  let feeding: SimpleCommand[] = [];
  for (const command of script.commands) {
    found.push(...checkCommand(command, feeding, place, depth));
    feeding = command.pipesOn ? [...feeding, command] : [];
  }
  for (const inner of script.nested) found.push(...checkScript(inner, start, depth + 1));
  return onePerRule(found);
}

function checkCommand(command: SimpleCommand, feeding: readonly SimpleCommand[], place: Place, depth: number): Danger[] {
  const found = checkFiles(command, place);
  const [name, args] = unwrap(command.words);
  if (name === 'cd' || name === 'pushd') {
    const target = args.find((word) => !word.text.startsWith('-'));
    place.cwd = target ? (targetOf(target, place) ?? place.cwd) : place.root;
    return found;
  }
  if (name === 'xargs') return [...found, ...checkXargs(args, feeding, place, depth)];
  const inner = innerScript(name, args, command, feeding);
  if (inner === 'remote') {
    return [...found, { rule: 'remote_script', message: 'This runs a script from the network unseen. Download it to a file, read it, then run what you need.' }];
  }
  if (inner !== null) return [...found, ...checkScript(inner, place, depth + 1)];
  const danger = checkByName(name, args, place);
  return danger ? [...found, danger] : found;
}

/** What a command reads and writes whatever its name is: credentials, and redirections to the outside. */
function checkFiles(command: SimpleCommand, place: Place): Danger[] {
  const found: Danger[] = [];
  const [, args] = unwrap(command.words);
  for (const word of [...args, ...command.writesTo]) {
    if (CREDENTIALS.test(word.text) && (word.text.startsWith('/etc') || /^(~|\$)/.test(word.text) || isOutside(word, place))) {
      found.push({ rule: 'credentials', message: `"${word.text}" holds a person's credentials. They are not yours to read or change.` });
    }
  }
  for (const target of command.writesTo) {
    if (isOutside(target, place)) {
      found.push({ rule: 'write_outside', message: `Writing to "${target.text}" is outside the workspace. Write to a path inside it, or to "$TMPDIR".` });
    }
  }
  return onePerRule(found);
}

/** The script that a shell, `eval` or `source` would run; 'remote' when it comes from a download; null when there is none. */
function innerScript(name: string, args: readonly Word[], command: SimpleCommand, feeding: readonly SimpleCommand[]): string | null {
  const evaluates = name === 'eval' || name === 'source' || name === '.';
  if (!evaluates && !INTERPRETERS.has(name)) return null;
  if (args.some((word) => DOWNLOAD_INSIDE.test(word.text))) return 'remote';
  if (name === 'eval') return args.map((word) => word.text).join(' ');
  const first = args.findIndex((word) => !/^[-+]/.test(word.text) || word.text === '-');
  const hasScript = first !== -1 && args[first]?.text !== '-' && !args.some((word) => /^-\w*s$/.test(word.text));
  if (feeding.length > 0 && !hasScript && feeding.some((source) => DOWNLOADERS.test(unwrap(source.words)[0]))) return 'remote';
  if (!SHELLS.has(name)) return null;
  const flag = args.findIndex((word) => /^-\w*c$/.test(word.text));
  if (flag !== -1) return args[flag + 1]?.text ?? null;
  if (hasScript) return null;
  if (command.heredoc !== null) return command.heredoc;
  const source = feeding.at(-1);
  if (!source) return null;
  const [sourceName, sourceArgs] = unwrap(source.words);
  if (sourceName === 'echo' || sourceName === 'printf') return sourceArgs.map((word) => word.text).join(' ');
  return sourceName === 'cat' ? source.heredoc : null;
}

/** `xargs` hands on what it reads, so the words of the commands before it count as arguments. */
function checkXargs(args: readonly Word[], feeding: readonly SimpleCommand[], place: Place, depth: number): Danger[] {
  const start = args.findIndex((word) => !word.text.startsWith('-') && !/^(\d+|\{\}|\\n)$/.test(word.text));
  if (start === -1) return [];
  const passed = feeding.flatMap((source) => unwrap(source.words)[1]).filter((word) => /^[/~$.]/.test(word.text));
  return checkCommand({ words: [...args.slice(start), ...passed], writesTo: [], heredoc: null, pipesOn: false }, [], place, depth + 1);
}

/** The real command behind assignments, keywords and wrappers such as `env`, `nohup` and `timeout 5`. */
export function unwrap(words: readonly Word[]): [string, readonly Word[]] {
  let rest = words;
  let wrapped = false;
  for (;;) {
    const [first] = rest;
    if (!first) return ['', []];
    const skip = /^\w+\+?=/.test(first.text) || (wrapped && /^(-.*|[\d.]+[smhd]?)$/.test(first.text));
    if (!skip) {
      const name = commandName(first.text);
      if (!PREFIXES.has(name)) return [name, rest.slice(1)];
      wrapped = true;
    }
    rest = rest.slice(1);
  }
}

/** Programs of the system go by their bare name; a script of the workspace may be called anything, even `./reboot`. */
function commandName(word: string): string {
  return !word.includes('/') || /^\/(usr\/(local\/)?)?s?bin\//.test(word) ? posix.basename(word).toLowerCase() : word;
}
