import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type ExportFormatName, type ExportSummary, type GroupOptions, groupOptionsSchema } from '#shared/contract/exports.ts';
import { TRAJECTORY_FORMATS } from '#shared/contract/run-spec.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import { sqlFor } from '#engine/store/database.ts';
import { exportTrajectories } from '#engine/trajectories/export/job.ts';
import { LiveHub } from '#engine/trajectories/live.ts';
import { assistant, user } from '#engine/trajectories/testing.ts';
import type { ModelRequest } from '../../e2e/fakes/requests.ts';
import { callTool, say, type Step, think, together } from '../../e2e/fakes/steps.ts';
import type { BatchGround } from '../../e2e/fixtures/batch-ground.ts';
import { addRollout, addRun, rolloutMessages } from '../../e2e/fixtures/rollouts.ts';
import { TEMPLATES, writeTokenizer } from '../../e2e/fixtures/tokenizers.ts';

const ROLLOUTS = 4;
const ROWS = 10;
/** Together more than the 10 MiB that `datasets` takes a file's schema from. */
const LONG = { answers: 11, chars: 1_100_000 };

/** Files that our own code has written, for Python to read. */
export interface InteropFiles {
  /** All files of one run, by format of its trajectories. */
  runs: { name: string; folder: string; files: string[] }[];
  exports: { name: string; file: string; groups: boolean }[];
  /** Groups with tokens, and what they were made with; `source`: the same groups without. */
  tokenized: { name: string; file: string; source: string; tokenizer: string; algorithm: string; leftOut: number }[];
  /** Exports for the server of Atropos, all groups of one size. */
  atropos: { name: string; file: string; groupSize: number }[];
}

/** What cannot be made is said by `failed`, and the checks of the others go on. */
export async function makeFiles(ground: BatchGround, failed: (what: string, error: Error) => void): Promise<InteropFiles> {
  const folder = join(ground.dir, 'exports');
  mkdirSync(folder);
  const out = async (name: string, format: ExportFormatName, filter: TrajectoryFilter, groups: Partial<GroupOptions> = {}): Promise<ExportSummary> => {
    const request = { filter, format, file: join(folder, name), context: 'full' as const, includePartial: false, includeScripted: false, overwrite: false, groups: groupOptionsSchema.parse(groups) };
    const summary = await exportTrajectories(ground.store.db, { request, cancel: new Int32Array(1) }, () => {});
    if (summary.file === '') throw new Error(`Nothing was written to ${name}: ${JSON.stringify(summary.leftOut)}`);
    return summary;
  };
  const files: InteropFiles = { runs: [], exports: [], tokenized: [], atropos: [] };

  const make = (what: string, work: () => Promise<void>): Promise<void> => work().catch((error: unknown) => failed(what, error as Error));

  for (const format of TRAJECTORY_FORMATS) {
    await make(`run with late tool calls (${format})`, async () => {
      const run = await lateTools(ground, format);
      files.runs.push(run);
      if (format !== 'hermes') return;
      files.exports.push({ name: 'ShareGPT export', file: (await out('late.jsonl', 'sharegpt', { runId: run.id })).file, groups: false });
      reward(ground, run.id);
      files.exports.push({ name: 'Atropos export without tokens', file: (await out('late.messages.jsonl', 'atropos', { runId: run.id })).file, groups: true });
    });
  }

  const stable = writeTokenizer(join(ground.dir, 'stable'), 'stable');
  for (const [name, run] of Object.entries({ GSM8K: sums, HumanEval: programs })) {
    await make(`${name}-shaped run`, async () => {
      const { file } = await out(`${name}.jsonl`, 'atropos', { runId: await run(ground) }, { tokenizer: stable, groupSize: ROLLOUTS });
      files.atropos.push({ name: `${name}-shaped run`, file, groupSize: ROLLOUTS });
    });
  }

  await make('groups of hard texts', async () => {
    const runId = hardTexts(ground);
    const { file: source } = await out('hard.messages.jsonl', 'atropos', { runId });
    for (const template of Object.keys(TEMPLATES) as (keyof typeof TEMPLATES)[]) {
      const tokenizer = writeTokenizer(join(ground.dir, `hard-${template}`), template);
      const made = await out(`hard-${template}.jsonl`, 'atropos', { runId }, { tokenizer });
      files.tokenized.push({ name: template, file: made.file, source, tokenizer, algorithm: made.tokens!.algorithm, leftOut: made.leftOut.reduce((sum, l) => sum + l.count, 0) });
    }
  });
  return files;
}

/** A run of which the first 10 MiB hold no tool call, and the rest does. */
async function lateTools(ground: BatchGround, trajectoryFormat: (typeof TRAJECTORY_FORMATS)[number]): Promise<InteropFiles['runs'][number] & { id: string }> {
  ground.fake.respond((request) => (request.prompt.startsWith('long') ? together(think('It is long.'), say('word '.repeat(LONG.chars / 5), { pieceChars: 65_536 })) : withTool(request)));
  const prompts = [...Array.from({ length: LONG.answers }, (_, i) => `long ${i}`), 'with a tool', 'with a tool, again'];
  const run = await ground.run({ runName: `late-${trajectoryFormat}`, datasetFile: ground.dataset(prompts), trajectoryFormat, batchSize: 5 });
  expectCompleted(run, prompts.length);
  return { name: trajectoryFormat, folder: run.outputDir, files: readdirSync(run.outputDir).sort(), id: run.id };
}

function withTool(request: ModelRequest): Step {
  if (request.turnsSinceUser === 0) return together(think('A file is needed.'), callTool('write_file', { path: 'a.txt', content: '42', n: 1.5 }));
  return together(think('Done.'), say('It is written.'));
}

/** Rows as GSM8K has them, four attempts each, scored by number; every other attempt is right. */
async function sums(ground: BatchGround): Promise<string> {
  const asked = new Map<string, number>();
  ground.fake.respond(({ prompt }) => {
    const turn = asked.get(prompt) ?? 0;
    asked.set(prompt, turn + 1);
    const right = Number(/has (\d+)/.exec(prompt)?.[1]) + 2;
    return together(think('Two more than that.'), say(`That makes ${turn % 2 === 0 ? right : right + 1}.\n#### ${turn % 2 === 0 ? right : right + 1}`));
  });
  const rows = Array.from({ length: ROWS }, (_, i) => ({ question: `Ann has ${i} pens and gets 2 more. How many has she?`, answer: `${i} + 2 = <<${i}+2=${i + 2}>>${i + 2}\n#### ${i + 2}` }));
  return scored(ground, 'sums', rows, 'numeric');
}

/** Rows as HumanEval has them, scored by their tests. */
async function programs(ground: BatchGround): Promise<string> {
  const asked = new Map<string, number>();
  ground.fake.respond(({ prompt }) => {
    const turn = asked.get(prompt) ?? 0;
    asked.set(prompt, turn + 1);
    const [, name = '', plus = ''] = /def (add_(\d+))/.exec(prompt) ?? [];
    return together(think('A line suffices.'), say(`\`\`\`python\ndef ${name}(x):\n    return x + ${turn % 2 === 0 ? plus : '1000'}\n\`\`\``));
  });
  const rows = Array.from({ length: ROWS }, (_, i) => ({
    task_id: `HumanEval/${i}`,
    prompt: `def add_${i}(x):\n    """Adds ${i} to x."""\n`,
    entry_point: `add_${i}`,
    canonical_solution: `    return x + ${i}\n`,
    test: `def check(candidate):\n    assert candidate(1) == ${i + 1}\n`,
  }));
  return scored(ground, 'programs', rows, 'tests');
}

async function scored(ground: BatchGround, name: string, rows: readonly object[], rule: string): Promise<string> {
  const run = await ground.run({ runName: name, datasetFile: ground.dataset(rows), rollouts: ROLLOUTS, scoring: [rule], maxTurns: 3 });
  expectCompleted(run, ROWS * ROLLOUTS);
  return run.id;
}

function expectCompleted({ name, states, causes, message }: RunSummary, count: number): void {
  if (states.completed !== count) throw new Error(`Of run ${name} ${states.completed} of ${count} were completed: ${JSON.stringify({ states, causes })} ${message ?? ''}`);
}

/** Trajectories that no rule scored get a reward, so that they make groups. */
function reward(ground: BatchGround, runId: string): void {
  ground.store.db.run(sqlFor.updateTable('trajectories').set({ reward: sql<number>`prompt_index / 3.0` }).where('run_id', '=', runId).where('reward', 'is', null));
}

/** Conversations that tokenizers and templates get wrong. */
function hardTexts(ground: BatchGround): string {
  const t = { store: ground.store, hub: new LiveHub() };
  const runId = addRun(t, 'hard');
  const texts = [
    'plain words, and 12345.678 numbers 1e-07',
    '中文、日本語 and 한국어, русский, ελληνικά, العربية',
    'emoji 👩🏽‍💻 🇩🇪 and combining e\u0301, n\u0303; NFC \u212B \uFB01',
    ' leading space\r\n\r\nCRLF\n\n\n  and  runs   of spaces \t tab ',
    '<|im_start|>user\nhello<|im_end|>\n<think>not thought</think> {"a": [1, 2.0]}',
    '\uE000private\uE001 {% generation %} {{ x }} \u2028line\u2029',
    'don\'t we\'ll I\'M "quoted" \\escaped\\ \u0000 nul',
  ];
  const args = ['{"path": "a.txt", "n": 1.0}', '{"2": 1e-7, "1": 12345678901234567890, "x": {"y": [-0.0, 1e22, 5]}}', '{"text": "caf\\u00e9 \\ud83d\\ude00 \\n"}'];
  texts.forEach((text, row) => {
    for (let rollout = 0; rollout < args.length; rollout++) addRollout(t, runId, row, rollout, rollout / 3, rolloutMessages(text, text, { result: text, args: args[rollout]! }));
  });
  const more = [...rolloutMessages('first', 'one'), user('second'), assistant('two', { reasoning: 'again' })];
  addRollout(t, runId, texts.length, 0, 1, more);
  addRollout(t, runId, texts.length, 1, 0, [user('no tool'), assistant('no reasoning')], { tools: [] });
  return runId;
}

/** Writes what the Python side needs to know. */
export function writeManifest(files: InteropFiles, folder: string): string {
  const path = join(folder, 'interop.json');
  writeFileSync(path, JSON.stringify(files));
  return path;
}
