import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, EXIT, HOME_OPTION } from './command.ts';
import { count, plain } from './terminal.ts';

const options = {
  file: { kind: 'text', value: 'FILE', help: 'Where to write the JSONL.', required: true },
  run: { kind: 'text', value: 'NAME', help: 'Only trajectories of this run.' },
  query: { kind: 'text', value: 'TEXT', help: 'Only trajectories with these words; "quotes" make a phrase.' },
  include_partial: { kind: 'flag', help: 'Also those that did not complete.' },
  include_scripted: { kind: 'flag', help: 'Also those of the scripted demo model.' },
  overwrite: { kind: 'flag', help: 'Replace an existing file.' },
  home: HOME_OPTION,
} as const;

export const exportCommand: Command<typeof options> = {
  name: 'export',
  summary: 'write stored trajectories to a ShareGPT JSONL file',
  about: 'Writes completed trajectories in the Hermes dialect of ShareGPT, and says what was left out and why.',
  options,
  async run(values, host) {
    const { terminal } = host;
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
      if (runId === undefined) {
        terminal.err(`There is no run named ${values.run}. There are: ${items.map((r) => r.name).join(', ') || 'none yet'}.`);
        return EXIT.stopped;
      }
    }
    let wrote = false;
    const abort = new AbortController();
    const release = host.onInterrupt(() => abort.abort());
    try {
      const events = await client.exports.run(
        {
          filter: { ...(runId === undefined ? {} : { runId }), ...(values.query === undefined ? {} : { query: values.query }) },
          file,
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
        if (!wrote) terminal.err('Nothing was written: no trajectory is fit for the file.');
        else terminal.out(`${count(summary.written, 'trajectory', 'trajectories')} written to ${summary.file} (${count(summary.bytes, 'byte')}).`);
        for (const l of summary.leftOut) terminal.out(`  ${l.count.toLocaleString('en-US')} left out: ${inWords(l.reason)}`);
        for (const w of summary.warnings) terminal.out(`  ${w.count.toLocaleString('en-US')} with a remark: ${plain(w.reason)}`);
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

/** A reason as people say it; reasons that are a code are those of discarded trajectories. */
function inWords(reason: string): string {
  return plain(reason.replace(/^(discarded: )no_reasoning$/, '$1no reasoning in any turn'));
}
