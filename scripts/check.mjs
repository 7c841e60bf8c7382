/**
 * `npm run check [-- name …]`: everything that can be said about the sources without running them. All checks run, also
 * after one has failed; the names of `CHECKS` choose some.
 */
import { availableParallelism } from 'node:os';
import { capture, duration, insideEnv, main, root, SetupError } from './lib/run.mjs';
import { ensureInstalled, nodeBinary } from './lib/setup.mjs';

/** The slow ones first, so that no core waits for the last one. */
const CHECKS = [
  { name: 'lint', what: 'ESLint', args: ['node_modules/eslint/bin/eslint.js', '.', '--max-warnings=0'] },
  { name: 'types', what: 'types of the Node side', args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'] },
  { name: 'types-page', what: 'types of the page', args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.web.json'] },
  { name: 'types-e2e', what: 'types of specs and benchmarks', args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.e2e.json'] },
  { name: 'imports', what: 'import directions and cycles', args: imports() },
  { name: 'unused', what: 'unused files, exports and packages', args: ['node_modules/knip/bin/knip.js', '--no-progress', '--no-config-hints'] },
  {
    name: 'unused-code',
    what: 'files that only tests use',
    args: ['node_modules/knip/bin/knip.js', '--no-progress', '--no-config-hints', '--production', '--include=files'],
  },
  { name: 'structure', what: 'folders, sizes and security rules', args: ['scripts/structure/main.ts'] },
];

await main(async () => {
  const names = process.argv.slice(2);
  const unknown = names.filter((name) => !CHECKS.some((check) => check.name === name));
  if (unknown.length > 0) {
    throw new SetupError(`There is no check "${unknown[0]}". The checks are: ${CHECKS.map((check) => check.name).join(', ')}.`);
  }
  await ensureInstalled();
  const waiting = CHECKS.filter((check) => names.length === 0 || names.includes(check.name));
  const failures = [];
  const worker = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const failure = await run(check);
      if (failure) failures.push(failure);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, Math.min(4, availableParallelism())) }, worker));
  for (const { check, output } of failures) {
    process.stdout.write(`\n── ${check.name}: ${check.what} ──\n${output.trim() || 'It failed without a word.'}\n`);
  }
  return failures.length === 0 ? 0 : 1;
});

async function run(check) {
  const started = Date.now();
  const env = insideEnv({ NO_COLOR: '1' });
  const { code, output } = await capture(nodeBinary(), check.args, { env, cwd: root });
  const verdict = code === 0 ? 'ok    ' : 'FAILED';
  process.stdout.write(`${verdict}  ${check.name.padEnd(11)}  ${check.what} (${duration(Date.now() - started)})\n`);
  return code === 0 ? undefined : { check, output };
}

function imports() {
  const folders = ['electron', 'renderer', 'shared', 'e2e', 'scripts'];
  return ['node_modules/dependency-cruiser/bin/dependency-cruiser.mjs', '--config', '.dependency-cruiser.cjs', '--output-type=err', ...folders];
}
