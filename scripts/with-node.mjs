/** `node scripts/with-node.mjs FILE …`: runs one of our TypeScript files on the Node that it is written for. */
import { insideEnv, main, passThrough, SetupError } from './lib/run.mjs';
import { ensureInstalled, nodeBinary } from './lib/setup.mjs';

await main(async () => {
  const [file, ...args] = process.argv.slice(2);
  if (!file) throw new SetupError('Usage: node scripts/with-node.mjs FILE [arguments]');
  await ensureInstalled();
  return passThrough(nodeBinary(), [file, ...args], { env: insideEnv() });
});
