import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * The Talaria home: `--home FOLDER` or `--home=FOLDER`, else `TALARIA_HOME`, else `~/.talaria`. Always absolute.
 * @param argv the program's arguments
 * @param userHome for tests; the person's home folder by default
 */
export function homeFolder(argv: readonly string[], env: NodeJS.ProcessEnv, userHome: string = homedir()): string {
  const named = argumentOf(argv) || env['TALARIA_HOME'];
  if (!named) return join(userHome, '.talaria');
  // A shell leaves the tilde of `--home=~/x` alone.
  return named === '~' || named.startsWith('~/') ? join(userHome, named.slice(2)) : resolve(named);
}

function argumentOf(argv: readonly string[]): string | undefined {
  for (const [index, argument] of argv.entries()) {
    if (argument.startsWith('--home=')) return argument.slice('--home='.length);
    if (argument === '--home') return argv[index + 1];
  }
  return undefined;
}
