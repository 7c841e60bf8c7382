import type { RescoreSummary } from '#shared/contract/scores.ts';
import { splitList } from '#shared/run-values.ts';
import { SCORE_KINDS } from '#shared/scoring.ts';
import { type Command, EXIT, HOME_OPTION } from './command.ts';
import { noRun, UsageError } from './options.ts';
import { count, duration, plain } from './terminal.ts';

const options = {
  run: { kind: 'text', value: 'NAME', help: 'The run whose rollouts are scored.' },
  query: { kind: 'text', value: 'TEXT', help: 'Instead of a run: trajectories with these words; "quotes" make a phrase.' },
  scoring: { kind: 'text', value: 'RULE,…', help: 'Rules, e.g. numeric,tool_errors*-0.1; "none" takes all away. A run keeps them; without, its present rules are used.' },
  home: HOME_OPTION,
} as const;

export const scoreCommand: Command<typeof options> = {
  name: 'score',
  summary: 'score stored rollouts again, without any model call',
  about: `Rules are written [name=]kind[:argument][*weight], where kind is one of ${SCORE_KINDS.join(', ')}. The reward is their weighted sum. A dataset row's own column "scoring" goes before. Tests that need a workspace run where it was kept; elsewhere they keep their verdict. Exit code: 0 something was scored, 1 nothing was, 2 wrong options, 130 Ctrl+C.`,
  options,
  optionOf: (field) => (field === 'scoring' || field === 'query' ? field : undefined),
  async run(values, host) {
    const { terminal } = host;
    if ((values.run === undefined) === (values.query === undefined)) throw new UsageError('Say what is to be scored: --run=NAME or --query=TEXT.');
    const scoring = values.scoring === undefined ? undefined : values.scoring === 'none' ? [] : splitList(values.scoring);
    const { client } = await host.open(values.home);
    const { items } = await client.runs.list();
    const run = items.find((r) => r.name === values.run);
    if (values.run !== undefined && !run) throw noRun(values.run, items);
    const abort = new AbortController();
    const release = host.onInterrupt(() => abort.abort());
    let done = 0;
    let summary: RescoreSummary | null = null;
    try {
      const rules = scoring === undefined ? {} : { scoring };
      const events = await client.scores.rescore(run ? { runId: run.id, ...rules } : { filter: { query: values.query! }, ...rules }, { signal: abort.signal });
      for await (const event of events) {
        if (event.type === 'done') summary = event.summary;
        else {
          ({ done } = event);
          if (terminal.columns() !== null) terminal.raw(`\r\u001b[2K${event.done.toLocaleString('en-US')} of ${event.total.toLocaleString('en-US')}`);
        }
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    } finally {
      release();
      if (terminal.columns() !== null) terminal.raw('\r\u001b[2K');
    }
    if (abort.signal.aborted) {
      terminal.err(`Cancelled; ${count(done, 'trajectory is', 'trajectories are')} scored anew.`);
      return EXIT.interrupted;
    }
    if (!summary) return EXIT.stopped;
    for (const line of linesOf(summary)) terminal.out(line);
    if (run) terminal.out(rewardsLine((await client.runs.get({ id: run.id })).rewards, run.name));
    return summary.scored > 0 ? EXIT.ok : EXIT.stopped;
  },
};

function linesOf({ scored, changed, kept, unknown, skipped, durationMs }: RescoreSummary): string[] {
  return [
    `${count(scored, 'trajectory', 'trajectories')} scored in ${duration(durationMs)}; ${count(changed, 'reward')} changed.`,
    ...(kept > 0 ? [`  ${kept.toLocaleString('en-US')} with tests that could not be run again and keep their verdict`] : []),
    ...(unknown > 0 ? [`  ${unknown.toLocaleString('en-US')} with a rule that cannot say; the Library tells why`] : []),
    ...(skipped > 0 ? [`  ${skipped.toLocaleString('en-US')} left alone: no rules, failed, or not at an end`] : []),
  ];
}

function rewardsLine(rewards: { count: number; mean: number } | null, name: string): string {
  return rewards === null ? `${plain(name)}: no rewards.` : `${plain(name)}: mean reward ${Number(rewards.mean.toFixed(4))} over ${count(rewards.count, 'rollout')}.`;
}
