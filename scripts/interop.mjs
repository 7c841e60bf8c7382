/** `npm run interop`: whether the tools that people train with take what Talaria writes. See HELP. */
import { insideEnv, main, passThrough, root } from './lib/run.mjs';
import { ensureInteropPython } from './lib/python.mjs';
import { ensureInstalled, nodeBinary } from './lib/setup.mjs';

const HELP = `npm run interop [-- --set-up]

Writes files of runs and exports and has the real tools read them:
  Hugging Face datasets   every file of a run, in each format of trajectories, and every export
  Server of Atropos       every group of an export goes in and comes back from /batch as it was
  Tokens and masks        are those of transformers and of atroposlib

The first time it makes a Python environment in .cache/interop from PyPI (about 600 MB). npm test makes none: it
runs these checks where the environment is there, else it counts them as skipped.

  --set-up   only make the environment

PYTHON=path chooses another Python, 3.11 or newer, to make it with.`;

await main(async () => {
  if (process.argv.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  await ensureInstalled();
  const python = await ensureInteropPython();
  if (process.argv.includes('--set-up')) return 0;
  return passThrough(nodeBinary(), ['scripts/interop/main.ts', python], { cwd: root, env: insideEnv() });
});
