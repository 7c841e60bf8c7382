/** `npm run talaria -- …`: the command line. Its output is only the command's own; set-up speaks on stderr. */
import { join } from 'node:path';
import { ENGINE_FLAGS } from './lib/engine-flags.mjs';
import { insideEnv, main, passThrough, root } from './lib/run.mjs';
import { ensureInstalled, nodeBinary } from './lib/setup.mjs';

await main(async () => {
  await ensureInstalled();
  // npm starts scripts in the repository; file names on the command line mean the folder where the person is.
  const cwd = process.env.INIT_CWD || process.cwd();
  return passThrough(nodeBinary(), [...ENGINE_FLAGS, join(root, 'electron/cli/main.ts'), ...process.argv.slice(2)], { cwd, env: insideEnv() });
});
