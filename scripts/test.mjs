/**
 * `npm test [-- unit | e2e | interop | part of a file's path …]`: sets up what is missing, then runs the units and services (Vitest),
 * the app in a browser (Playwright) and the checks with Python. The last line is the count.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from './lib/chromium.mjs';
import { countLine, playwrightCounts, vitestCounts } from './lib/counts.mjs';
import { findElectron, hasDisplay } from './lib/electron.mjs';
import { INTEROP_CHECKS, interopPython } from './lib/python.mjs';
import { duration, insideEnv, main, passThrough, root, say, SetupError } from './lib/run.mjs';
import { ensureBuilt, ensureInstalled, nodeBinary } from './lib/setup.mjs';

const results = join(root, 'test-results');

const HELP = `npm test [-- what …]

Sets up what is missing (packages, build, a Chromium), then runs every test. The last line is the count.

  unit      only units and services (Vitest)
  e2e       only the app in a browser and the desktop bundles (Playwright)
  interop   only what Python's training tools say of our files; needs the environment that npm run interop makes
  PATTERN   only test files whose path contains this
  --help    this text

TRACE=1 keeps a Playwright trace of every failure in test-results/.`;

await main(async () => {
  if (process.argv.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  const { unit, e2e, interop, patterns } = readArguments(process.argv.slice(2));
  const suites = [];
  const installed = await attempt(suites, 'install', async () => {
    await ensureInstalled();
    return true;
  });
  if (!installed) return summary(suites);
  const setUp = await attempt(suites, 'set-up', async () => {
    if (e2e) await ensureBuilt();
    const chromium = await findChromium({ install: e2e });
    return chromium ? { CHROMIUM: chromium } : {};
  });
  mkdirSync(results, { recursive: true });
  if (unit) suites.push(await runUnits(patterns, setUp ?? {}));
  if (e2e && setUp) suites.push(...(await runE2e(patterns, setUp)));
  if (interop) suites.push(await runInterop());
  return summary(suites);
});

function readArguments(args) {
  const parts = args.filter((arg) => ['unit', 'e2e', 'interop'].includes(arg));
  const patterns = args.filter((arg) => !parts.includes(arg));
  return {
    patterns,
    unit: parts.length === 0 || parts.includes('unit'),
    e2e: (parts.length === 0 || parts.includes('e2e')) && hasSpecs(patterns),
    interop: parts.includes('interop') || (parts.length === 0 && patterns.length === 0),
  };
}

/** Whether any browser spec matches, so that a run of one unit test needs no build. */
function hasSpecs(patterns) {
  const folder = join(root, 'e2e', 'specs');
  if (!existsSync(folder)) return false;
  const specs = readdirSync(folder, { recursive: true }).map((name) => `e2e/specs/${String(name).replaceAll('\\', '/')}`);
  return specs.some((spec) => spec.endsWith('.spec.ts') && (patterns.length === 0 || patterns.some((part) => spec.includes(part))));
}

/** A set-up that fails is one failure among the others: what does not need it still runs. */
async function attempt(suites, name, work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    suites.push({ name, passed: 0, failed: 1, skipped: 0, note: 'see above' });
    return undefined;
  }
}

async function runUnits(patterns, env) {
  const run = await runner('unit', [
    'node_modules/vitest/vitest.mjs', 'run', '--passWithNoTests', '--reporter=minimal', '--reporter=json',
    '--outputFile.json=test-results/unit.json', ...patterns,
  ], env);
  return { ...vitestCounts(run.report, run.code), ms: run.ms };
}

async function runE2e(patterns, env) {
  const run = await runner('e2e', ['node_modules/@playwright/test/cli.js', 'test', '--pass-with-no-tests', ...patterns], env);
  const suites = playwrightCounts(run.report, run.code).map((suite, index) => (index === 0 ? { ...suite, ms: run.ms } : suite));
  const shell = suites.find((suite) => suite.name === 'e2e shell');
  if (shell && !suites.some((suite) => suite.name === 'e2e electron')) {
    const count = shell.passed + shell.failed + shell.skipped;
    const why = findElectron() && !hasDisplay() ? 'no display' : 'no Electron binary';
    suites.push({ name: 'e2e electron', passed: 0, failed: 0, skipped: count, note: `${why} on this machine` });
  }
  return suites;
}

/** The environment is large, so it is only used where somebody has asked for it. */
async function runInterop() {
  const python = interopPython();
  if (!python) return { name: 'interop', passed: 0, failed: 0, skipped: INTEROP_CHECKS, note: 'no Python environment: npm run interop makes it' };
  const { code, report, ms } = await runner('interop', ['scripts/interop/main.ts', python], {});
  const { passed = 0, failed = 0 } = report ?? {};
  return { name: 'interop', passed, failed: code !== 0 && failed === 0 ? 1 : failed, skipped: 0, ms };
}

async function runner(name, args, env) {
  const file = join(results, `${name}.json`);
  rmSync(file, { force: true });
  const started = Date.now();
  const code = await passThrough(nodeBinary(), args, { cwd: root, env: runnerEnv(env), stdio: ['ignore', 'inherit', 'inherit'] });
  // 130, 143: the person or the machine has stopped the run.
  if (code === 130 || code === 143) process.exit(code);
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  return { code, report, ms: Date.now() - started };
}

function runnerEnv(env) {
  const complete = insideEnv(env);
  if (process.stdout.isTTY) return complete;
  // The runners take CI for a terminal with colours.
  delete complete.FORCE_COLOR;
  return { ...complete, NO_COLOR: '1' };
}

function summary(suites) {
  const table = [['', 'passed', 'failed', 'skipped', 'time']];
  for (const { name, passed, failed, skipped, ms } of suites) {
    table.push([name, String(passed), String(failed), String(skipped), ms === undefined ? '' : duration(ms)]);
  }
  const notes = ['', ...suites.map((suite) => suite.note ?? '')];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  const lines = table.map((row, index) => {
    const cells = row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])));
    return `${cells.join('  ')}  ${notes[index]}`.trimEnd();
  });
  const ran = suites.reduce((total, suite) => total + suite.passed + suite.failed, 0);
  const failed = suites.some((suite) => suite.failed > 0);
  if (ran === 0) lines.push('Nothing ran: no test matches.');
  process.stdout.write(`\n${lines.join('\n')}\n\n${countLine(suites)}\n`);
  return failed || ran === 0 ? 1 : 0;
}
