import { unwrap } from './dangerous.ts';
import { splitScript } from './shell-words.ts';
import type { SimpleCommand } from './shell-words.ts';

const MAX_DEPTH = 4;
const HARMLESS = new Set([
  ':', 'for', 'done', 'fi', 'case', 'esac', '[', '[[', 'arch', 'basename', 'cat', 'cd', 'cksum', 'cmp', 'column', 'comm', 'cut', 'date', 'df', 'diff', 'dirname', 'du', 'echo', 'egrep', 'export', 'expr', 'false', 'fgrep', 'file', 'free', 'grep', 'head',
  'hexdump', 'id', 'jq', 'ls', 'lscpu', 'lsof', 'md5sum', 'nl', 'nproc', 'od', 'printenv', 'printf', 'ps', 'pwd', 'readlink', 'realpath', 'rg', 'seq', 'sha1sum', 'sha256sum', 'sleep', 'stat', 'strings',
  'tac', 'tail', 'test', 'tr', 'tree', 'true', 'type', 'uname', 'uptime', 'wc', 'which', 'whoami', '',
]);
const GIT = new Set(['blame', 'describe', 'diff', 'grep', 'log', 'ls-files', 'ls-tree', 'rev-parse', 'shortlog', 'show', 'status']);

/**
 * Whether a command surely changes no file, going by the names of its programs: a short list of those that only read. Everything that
 * is not known counts as a change.
 */
export function isReadOnly(command: string, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  const { commands, nested } = splitScript(command);
  return commands.every(onlyReads) && nested.every((inner) => isReadOnly(inner, depth + 1));
}

function onlyReads({ words, writesTo }: SimpleCommand): boolean {
  if (writesTo.some(({ text }) => !/^\/dev\/(null|stdout|stderr)$/.test(text))) return false;
  const [name, rest] = unwrap(words);
  const args = rest.map(({ text }) => text);
  if (args.length === 1 && /^(--version|-V|--help)$/.test(args[0] ?? '')) return true;
  if (args.some((arg) => arg.startsWith('--output'))) return false;
  if (name === 'git') return GIT.has(args[0] ?? '');
  if (name === 'find') return !args.some((arg) => /^-(delete|exec|execdir|ok|okdir|fprint|fprint0|fprintf|fls)$/.test(arg));
  if (name === 'sort' || name === 'tree') return !args.some((arg) => /^-\w*o/.test(arg));
  return HARMLESS.has(name);
}
