import { resolve } from 'node:path';
import type { AdoptReport } from '#shared/contract/adopt.ts';
import type { RunValue } from '#shared/run-values.ts';
import { follow, givenOptions, keyOf, newSpec, withDemo } from './batch.ts';
import { batchGroups, batchOptions, runOptionOf } from './batch-options.ts';
import { type Command, EXIT } from './command.ts';
import { count, plain, type Terminal } from './terminal.ts';

const { resume: _resume, retry: _retry, list_distributions: _list, ...runOptions } = batchOptions;
const options = {
  folder: { kind: 'text', value: 'FOLDER', help: "Of the old run: with its batch_<n>.jsonl, and checkpoint.json where there is one. It is only read.", required: true },
  ...runOptions,
} as const;

export const adoptCommand: Command<typeof options> = {
  name: 'adopt',
  summary: "take over a run of Hermes Agent's own batch runner and finish it",
  about: [
    'Makes a new run, in a folder of its own, from the rows of the old one, and runs what is missing. Rows are matched to the prompts of the dataset by',
    'their text. What is left out of --run_name, --batch_size and --distribution is as in the old run, where its files say that.',
    '--dry_run says what would be taken over.',
    'Exit codes as of batch.',
  ].join('\n'),
  options,
  optionOf: (field) => (field === 'folder' ? field : runOptionOf(field)),
  groups: [{ title: 'The old run', names: ['folder'] }, ...batchGroups.map((g) => ({ ...g, names: g.names.filter((name) => name in options) }))],
  async run(values, host) {
    const { terminal } = host;
    const folder = resolve(host.cwd, values.folder);
    const batch = { ...values, resume: false, retry: undefined, list_distributions: false };
    const given = givenOptions(batch, host);
    const engine = await host.open(values.home);
    const old = await engine.client.adopt.inspect({ folder });
    const usual = { ...(old.runName === '' ? {} : { runName: old.runName }), ...(old.batchSize === null ? {} : { batchSize: String(old.batchSize) }), ...(old.distribution === null ? {} : { distribution: old.distribution }) } satisfies Record<string, RunValue>;
    const spec = await withDemo(newSpec({ ...given, values: { ...usual, ...given.values } }), engine);
    const { datasetFile, datasetShape, columns, maxSamples } = spec;
    const report = await engine.client.adopt.inspect({ folder, dataset: { datasetFile, datasetShape, columns, ...(maxSamples === undefined ? {} : { maxSamples }) } });
    printReport(report, terminal);
    if (values.dry_run) {
      terminal.out('Nothing was taken over.');
      return EXIT.ok;
    }
    const abort = new AbortController();
    const release = host.onInterrupt(() => abort.abort(new Error('Cancelled.')));
    let id = '';
    try {
      for await (const event of engine.adoptRun(folder, spec, keyOf(batch), abort.signal)) if (event.type === 'done') ({ id } = event);
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      terminal.err('Cancelled; nothing was taken over.');
      return EXIT.interrupted;
    } finally {
      release();
    }
    return follow(id, engine, batch, host);
  },
};

function printReport({ rows, badLines, failedRows, checkpointRepeats, dataset, files }: AdoptReport, terminal: Terminal): void {
  terminal.out(`${count(rows, 'row')} in ${count(files.length, 'file')}.`);
  if (badLines > 0) terminal.out(`  ${count(badLines, 'line')} torn or broken: left out`);
  if (failedRows > 0) terminal.out(`  ${count(failedRows, 'row')} without an answer of the model: left out`);
  if (checkpointRepeats > 0) terminal.out(`  ${count(checkpointRepeats, 'id')} more than once in the checkpoint`);
  if (!dataset) return;
  const moved = dataset.moved > 0 ? `, ${dataset.moved.toLocaleString('en-US')} of them at another place than before` : '';
  terminal.out(`${count(dataset.rows, 'prompt')} in the dataset: ${dataset.matched.toLocaleString('en-US')} taken over${moved}, ${dataset.discarded.toLocaleString('en-US')} discarded before, ${dataset.pending.toLocaleString('en-US')} left to run.`);
  if (dataset.repeats > 0) terminal.out(plain(`  ${count(dataset.repeats, 'row')} more for prompts that have one: left out`));
  if (dataset.strangers > 0) terminal.out(plain(`  ${count(dataset.strangers, 'row')} whose prompt is not in the dataset: left out`));
}
