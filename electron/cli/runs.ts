import { type Command, EXIT, HOME_OPTION } from './command.ts';
import { ended } from './progress.ts';

const options = { home: HOME_OPTION } as const;

export const runsCommand: Command<typeof options> = {
  name: 'runs',
  summary: 'list the batch runs of this home',
  about: 'Newest first: name, state, prompts that ended of all, how many of those failed, model, start (UTC).',
  options,
  async run(values, host) {
    const { client } = await host.open(values.home);
    const { items } = await client.runs.list();
    if (items.length === 0) host.terminal.err('There are no runs yet.');
    const rows = items.map((r) => [
      r.name,
      r.state,
      `${ended(r)}/${r.total}`,
      r.states.failed > 0 ? `${r.states.failed} failed` : '',
      r.scripted ? `${r.spec.model} (scripted)` : r.spec.model,
      new Date(r.createdAt).toISOString().slice(0, 16).replace('T', ' '),
    ]);
    const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]!.length))) ?? [];
    for (const row of rows) host.terminal.out(row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ').trimEnd());
    return EXIT.ok;
  },
};
