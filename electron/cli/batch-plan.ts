import type { DistributionEntry, Draws } from '#shared/contract/distributions.ts';
import type { Estimate, Plan } from '#shared/contract/plans.ts';
import type { RunSpec } from '#shared/contract/run-spec.ts';
import { runOptionName, type RunOptionKey } from '#shared/run-options.ts';
import { count, plain, type Terminal } from './terminal.ts';

const WHY = { not_built: 'not part of this version', not_ready: 'not set up for batch runs', unknown: 'nobody knows it' } as const;

/** What a run would do, for --dry_run. */
export function printPlan(spec: RunSpec, plan: Plan, terminal: Terminal): void {
  const { rows, used, rejected, rollouts, estimate, draws } = plan;
  const n = (value: number): string => value.toLocaleString('en-US');
  terminal.out(`Run ${spec.runName}, tried dry: no model was called and nothing was written.`);
  if (rows !== null && used !== null && rollouts !== null) {
    terminal.out(`Rows:     ${n(used)}${used < rows ? ` of ${n(rows)}` : ''} from ${plain(spec.datasetFile)}${rejected ? `; ${n(rejected)} cannot be used` : ''}`);
    terminal.out(`Rollouts: ${n(rollouts)}${spec.rollouts > 1 ? ` (${n(spec.rollouts)} per row)` : ''}, ${count(spec.numWorkers, 'worker')}, at most ${count(spec.maxTurns, 'model call')} each`);
  }
  terminal.out(`Model:    ${plain(spec.model)} (${plain(spec.baseUrl ?? spec.provider)})`);
  terminal.out(`Files:    ${plain(plan.outputDir)}${plan.files.length > 0 ? `: ${plan.files.map((f) => (f.count === 1 ? f.name : `${n(f.count)} × ${f.name}`)).join(', ')}` : ''}`);
  if (draws) printDraws(draws, draws.seeded ? `of this seed, ${n(draws.draws)} drawn` : `${n(draws.draws)} drawn with another seed`, terminal);
  if (estimate) for (const line of estimateLines(estimate)) terminal.out(line);
  for (const { level, field, message } of plan.problems) {
    const name = field === null ? '' : `--${runOptionName(field as RunOptionKey)}: `;
    terminal.out(`${level === 'error' ? 'Problem' : 'Note'}:  ${level === 'error' ? '' : '   '}${name}${plain(message)}`);
  }
}

function printDraws({ combinations, others, draws }: Draws, how: string, terminal: Terminal): void {
  const part = (k: number): string => `${Math.round((k / draws) * 1000) / 10} %`;
  terminal.out(`Toolsets: ${how}`);
  for (const one of combinations.slice(0, 6)) terminal.out(`  ${part(one.count).padStart(7)}  ${one.toolsets.join(', ')}`);
  const rest = others + combinations.slice(6).reduce((sum, one) => sum + one.count, 0);
  if (rest > 0) terminal.out(`  ${part(rest).padStart(7)}  other combinations`);
}

function estimateLines(e: Estimate): string[] {
  const tokens = (k: number): string => (k < 10_000 ? String(k) : k < 1_000_000 ? `${Math.round(k / 1000)}k` : `${(k / 1e6).toFixed(1)}M`);
  const cost = e.lowUsd === null || e.highUsd === null ? 'no price known (Settings, Spend: enter one)' : e.highUsd === 0 ? 'nothing' : `${usd(e.lowUsd)} to ${usd(e.highUsd)}`;
  return [
    `Cost:     ${cost}; ${tokens(e.tokensLow)} to ${tokens(e.tokensHigh)} tokens`,
    `  assumed: ${e.turnsLow === e.turnsHigh ? count(e.turnsLow, 'model call') : `${e.turnsLow} to ${e.turnsHigh} model calls`} per rollout, ${e.answerTokens} tokens per answer; prompts have ${e.promptTokens} on average, system prompt and tools ${e.systemTokens}; nothing cached`,
  ];
}

/** `$12`, `$1.20`, `$0.0034` */
function usd(value: number): string {
  return `$${value >= 100 ? Math.round(value).toLocaleString('en-US') : value >= 0.1 || value === 0 ? value.toFixed(2) : value.toPrecision(2)}`;
}

/** The table of --list_distributions. */
export function printDistributions(items: readonly DistributionEntry[], terminal: Terminal): void {
  const width = Math.max(...items.map(({ name }) => name.length)) + 2;
  for (const { name, description, toolsets, skipped, usable, own } of items) {
    const left = (text: string): string => `${''.padEnd(width)}${text}`;
    terminal.out(`${name.padEnd(width)}${plain(description) || 'Own distribution.'}${own ? ' (config.yaml)' : ''}${usable ? '' : ' CANNOT BE USED HERE.'}`);
    const used = Object.entries(toolsets).filter(([toolset]) => !skipped.some((s) => s.name === toolset));
    if (used.length > 0) terminal.out(left(used.map(([toolset, chance]) => `${toolset} ${chance} %`).join(', ')));
    for (const why of ['not_built', 'not_ready', 'unknown'] as const) {
      const names = skipped.filter((s) => s.why === why).map((s) => `${s.name} ${toolsets[s.name]} %`);
      if (names.length > 0) terminal.out(left(`skipped, ${WHY[why]}: ${names.join(', ')}`));
    }
  }
}
