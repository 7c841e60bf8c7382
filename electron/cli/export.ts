import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXPORT_CONTEXTS, EXPORT_FORMATS, type ExportSummary, type GroupOptions, MASK_ALGORITHMS, UNFIT_ROLLOUT, ZERO_SPREAD } from '#shared/contract/exports.ts';
import { type Command, EXIT, HOME_OPTION } from './command.ts';
import { noRun, type OptionDefs, type OptionValues, UsageError } from './options.ts';
import { count, plain, type Terminal } from './terminal.ts';

const SCRIPTED = 'made by the scripted demo model';

const GROUP_OPTIONS = {
  group_size: { kind: 'number', value: 'N', min: 1, max: 100_000, help: 'atropos: exactly so many rollouts in a group; smaller groups are left out, of larger ones the first N are taken.' },
  zero_spread: { kind: 'text', value: 'WHAT', help: 'atropos: groups whose scores are all the same (default keep).', choices: ZERO_SPREAD },
  min_spread: { kind: 'text', value: 'X', help: 'atropos: leave out groups whose highest and lowest score are nearer than this.' },
  unfit: { kind: 'text', value: 'WHAT', help: 'atropos: what is left out when a rollout has no score, did not complete or is too long: it alone (default), or its group.', choices: UNFIT_ROLLOUT },
  score: { kind: 'text', value: 'NAME', help: 'atropos: the value of this rule is the score; default the reward, which stands for all rules.' },
  tokenizer: { kind: 'text', value: 'FOLDER', help: 'atropos: folder with tokenizer.json and a chat template; adds tokens and masks. Without it a script that makes them is put beside the file.' },
  mask: { kind: 'text', value: 'WAY', help: 'atropos: how the trained tokens are found; auto (default) takes the generation markers of the template where it has some, else prefixes.', choices: MASK_ALGORITHMS },
  max_tokens: { kind: 'number', value: 'N', min: 1, help: 'atropos: longer rollouts cannot be written. Needs --tokenizer.' },
} as const satisfies OptionDefs;

/** What the contract calls an option → what it is called here. */
const OPTION_OF: Readonly<Record<string, string>> = { tokenizer: 'tokenizer', maskAlgorithm: 'mask', maxTokens: 'max_tokens', file: 'file', query: 'query', scoreName: 'score' };

const options = {
  file: { kind: 'text', value: 'FILE', help: 'Where to write the JSONL.', required: true },
  format: { kind: 'text', value: 'FORMAT', help: 'sharegpt (default): one conversation per line, in the Hermes dialect. atropos: one group per line, all scored rollouts of a row of a run.', choices: EXPORT_FORMATS },
  run: { kind: 'text', value: 'NAME', help: 'Only trajectories of this run.' },
  query: { kind: 'text', value: 'TEXT', help: 'Only trajectories with these words; "quotes" make a phrase.' },
  context: { kind: 'text', value: 'FORM', help: 'Of conversations that were compressed: everything that was said (default), or what the model saw last.', choices: EXPORT_CONTEXTS },
  include_partial: { kind: 'flag', help: 'Also those that did not complete.' },
  include_scripted: { kind: 'flag', help: 'Also those of the scripted demo model.' },
  ...GROUP_OPTIONS,
  overwrite: { kind: 'flag', help: 'Replace an existing file.' },
  home: HOME_OPTION,
} as const;

export const exportCommand: Command<typeof options> = {
  name: 'export',
  summary: 'write stored trajectories to a JSONL file for training',
  about: 'Writes completed trajectories of runs and chats as ShareGPT conversations or as Atropos groups, and says what was left out and why.\nExit code: 0 a file was written, 1 none was: nothing is fit for it, or it exists already, 2 wrong options, 130 Ctrl+C.',
  options,
  optionOf: (field) => OPTION_OF[field],
  async run(values, host) {
    const { terminal } = host;
    const format = EXPORT_FORMATS.find((f) => f === values.format) ?? 'sharegpt';
    const groups = groupOptions(values, format, host.cwd);
    const file = resolve(host.cwd, values.file);
    if (!values.overwrite && existsSync(file)) {
      terminal.err(`${file} exists already. Add --overwrite to replace it, or choose another --file.`);
      return EXIT.stopped;
    }
    const { client } = await host.open(values.home);
    let runId: string | undefined;
    if (values.run !== undefined) {
      const { items } = await client.runs.list();
      runId = items.find((r) => r.name === values.run)?.id;
      if (runId === undefined) throw noRun(values.run, items);
    }
    let wrote = false;
    const abort = new AbortController();
    const release = host.onInterrupt(() => abort.abort());
    try {
      const events = await client.exports.run(
        {
          filter: { ...(runId === undefined ? {} : { runId }), ...(values.query === undefined ? {} : { query: values.query }) },
          file,
          format,
          groups,
          context: EXPORT_CONTEXTS.find((c) => c === values.context) ?? 'full',
          includePartial: values.include_partial,
          includeScripted: values.include_scripted,
          overwrite: values.overwrite,
        },
        { signal: abort.signal },
      );
      for await (const event of events) {
        if (event.type !== 'done') continue;
        const { summary } = event;
        wrote = summary.written > 0;
        report(summary, terminal);
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      terminal.err('Cancelled; no file was written.');
      return EXIT.interrupted;
    } finally {
      release();
    }
    return wrote ? EXIT.ok : EXIT.stopped;
  },
};

/** The options of groups as the contract has them. Throws UsageError when one is given for a format without groups. */
function groupOptions(values: OptionValues<typeof GROUP_OPTIONS>, format: string, cwd: string): GroupOptions {
  const given = Object.keys(GROUP_OPTIONS).find((name) => values[name as keyof typeof GROUP_OPTIONS] !== undefined);
  if (format !== 'atropos' && given !== undefined) throw new UsageError(`--${given} is for groups. Add --format=atropos.`);
  const minSpread = Number(values.min_spread ?? 0);
  if (!(minSpread >= 0 && minSpread < Infinity)) throw new UsageError(`--min_spread must be a number of at least 0, not "${values.min_spread}".`);
  return {
    groupSize: values.group_size ?? null,
    zeroSpread: ZERO_SPREAD.find((v) => v === values.zero_spread) ?? 'keep',
    minSpread,
    unfit: UNFIT_ROLLOUT.find((v) => v === values.unfit) ?? 'rollout',
    scoreName: values.score ?? null,
    tokenizer: values.tokenizer === undefined ? null : resolve(cwd, values.tokenizer),
    maskAlgorithm: MASK_ALGORITHMS.find((v) => v === values.mask) ?? 'auto',
    maxTokens: values.max_tokens ?? null,
  };
}

function report(summary: ExportSummary, terminal: Terminal): void {
  const { groups, tokens, companions } = summary;
  const exact = (n: number): string => n.toLocaleString('en-US');
  if (summary.written === 0) terminal.err('Nothing was written: no trajectory is fit for the file.');
  else {
    const what = groups ? `${count(groups.written, 'group')} with ${count(summary.written, 'rollout')}` : count(summary.written, 'trajectory', 'trajectories');
    terminal.out(`${what} written to ${summary.file} (${count(summary.bytes, 'byte')}).`);
  }
  if (groups && groups.written > 0) terminal.out(`  ${groups.sizes.map(({ size, count: n }) => `${count(n, 'group')} of ${exact(size)}`).join(', ')}`);
  if (tokens && summary.written > 0) terminal.out(`  ${count(tokens.total, 'token')}, ${exact(tokens.trained)} of them trained on; masks by ${tokens.algorithm === 'prefix' ? 'prefixes' : 'generation markers'}, template of ${tokens.template}`);
  for (const file of companions) terminal.out(`  beside it: ${file}`);
  for (const l of groups?.leftOut ?? []) terminal.out(`  ${count(l.count, 'group')} left out: ${plain(l.reason)}`);
  for (const l of summary.leftOut) terminal.out(`  ${groups ? count(l.count, 'trajectory', 'trajectories') : exact(l.count)} left out: ${inWords(l.reason)}${l.reason === SCRIPTED ? ' (--include_scripted writes them)' : ''}`);
  for (const w of summary.warnings) terminal.out(`  ${exact(w.count)} with a remark: ${plain(w.reason)}`);
}

/** A reason as people say it; reasons that are a code are those of discarded trajectories. */
function inWords(reason: string): string {
  return plain(reason.replace(/^(discarded: )no_reasoning$/, '$1no reasoning in any turn'));
}
