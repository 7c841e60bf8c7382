import { resolveHome } from '#engine/store/home.ts';

/** The Talaria home, absolute: `--home FOLDER` or `--home=FOLDER` among the arguments, else as `resolveHome` says. */
export function homeFolder(argv: readonly string[], env: NodeJS.ProcessEnv, userHome?: string): string {
  return resolveHome(argumentOf(argv), env, userHome);
}

function argumentOf(argv: readonly string[]): string | undefined {
  for (const [index, argument] of argv.entries()) {
    if (argument.startsWith('--home=')) return argument.slice('--home='.length);
    if (argument === '--home') return argv[index + 1];
  }
  return undefined;
}
