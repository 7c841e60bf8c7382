/** `node scripts/interop/main.ts PYTHON`: writes files with our own code and has Python check them. `npm run interop` starts it. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { withBatch } from '../../e2e/fixtures/batch-ground.ts';
import { INTEROP_CHECKS } from '../lib/python.mjs';
import { makeFiles, writeManifest } from './ground.ts';

const SUITES = { 'Hugging Face datasets': 'datasets_check.py', 'Server of Atropos': 'atropos_check.py', 'Tokens and masks': 'tokens_check.py' };
const results = join(import.meta.dirname, '../../test-results');

interface Check {
  name: string;
  ok: boolean;
  detail: string;
}

const counts = { passed: 0, failed: 0 };

function tell({ name, ok, detail }: Check): void {
  counts[ok ? 'passed' : 'failed'] += 1;
  console.log(`  ${ok ? 'ok  ' : 'FAIL'}  ${name}${detail === '' ? '' : ok ? `: ${detail}` : `\n        ${detail.replaceAll('\n', '\n        ')}`}`);
}

/** Runs one Python file; an end with an error counts as a failed check. */
function runSuite(python: string, file: string, manifest: string): Promise<void> {
  return new Promise((done) => {
    const env = { ...process.env, HF_HUB_OFFLINE: '1', HF_DATASETS_OFFLINE: '1', HF_DATASETS_DISABLE_PROGRESS_BARS: '1', TRANSFORMERS_VERBOSITY: 'error', TOKENIZERS_PARALLELISM: 'false', PYTHONDONTWRITEBYTECODE: '1' };
    const child = spawn(python, [join(import.meta.dirname, file), manifest], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_000)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('{"name"')) tell(JSON.parse(line) as Check);
    });
    child.once('error', (error) => (said += error.message));
    child.once('close', (code) => {
      if (code !== 0) tell({ name: `${file} ran to its end`, ok: false, detail: said });
      done();
    });
  });
}

async function main(python: string): Promise<number> {
  await withBatch(async (ground) => {
    const files = await makeFiles(ground, (what, error) => tell({ name: `made: ${what}`, ok: false, detail: error.message }));
    const manifest = writeManifest(files, ground.dir);
    for (const [title, file] of Object.entries(SUITES)) {
      console.log(`\n${title}`);
      await runSuite(python, file, manifest);
    }
  });
  const told = counts.passed + counts.failed;
  if (counts.failed === 0 && told !== INTEROP_CHECKS) tell({ name: 'all checks were made', ok: false, detail: `${told} of ${INTEROP_CHECKS}` });
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, 'interop.json'), JSON.stringify(counts));
  console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed > 0 || counts.passed === 0 ? 1 : 0;
}

process.exitCode = await main(process.argv[2] ?? 'python3');
