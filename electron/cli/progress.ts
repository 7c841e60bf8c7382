import type { RunSummary } from '#shared/contract/runs.ts';
import { duration, type Terminal } from './terminal.ts';

const PLAIN_MS = 5_000;
const BAR_CHARS = 20;

/** Shows how far a run is: one line that is rewritten on a terminal, a line every few seconds elsewhere. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #shownAt: number;
  #open = false;

  constructor(terminal: Terminal, now: () => number) {
    this.#terminal = terminal;
    this.#now = now;
    this.#shownAt = now();
  }

  show(run: RunSummary): void {
    const columns = this.#terminal.columns();
    if (columns !== null) {
      this.#terminal.raw(`\r\u001b[2K${`${bar(run)} ${progressText(run)}`.slice(0, columns - 1)}`);
      this.#open = true;
    } else if (this.#now() - this.#shownAt >= PLAIN_MS) {
      this.#shownAt = this.#now();
      this.#terminal.err(progressText(run));
    }
  }

  /** Leaves the line, so that what is written next stands by itself. */
  end(): void {
    if (this.#open) this.#terminal.raw('\r\u001b[2K');
    this.#open = false;
  }
}

/** e.g. `12/40 · 0.8 per s · 35 s left · 4 running · 1 failed · 23k tokens` */
export function progressText(run: RunSummary): string {
  const { states } = run;
  const parts = [`${ended(run)}/${run.total}`];
  if (run.ratePerSecond !== null) parts.push(run.ratePerSecond >= 0.1 ? `${run.ratePerSecond.toFixed(1)} per s` : `${(run.ratePerSecond * 60).toFixed(1)} per min`);
  if (run.etaMs !== null) parts.push(`${duration(run.etaMs)} left`);
  parts.push(`${states.running} running`);
  if (states.failed > 0) parts.push(`${states.failed} failed`);
  if (states.discarded > 0) parts.push(`${states.discarded} discarded`);
  const tokens = run.usage.promptTokens + run.usage.completionTokens;
  if (tokens > 0) parts.push(`${tokens < 10_000 ? tokens : tokens < 10_000_000 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1e6).toFixed(1)}M`} tokens`);
  if (run.state === 'pausing') parts.push('pausing');
  return parts.join(' · ');
}

function bar(run: RunSummary): string {
  const full = run.total === 0 ? BAR_CHARS : Math.floor((ended(run) / run.total) * BAR_CHARS);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_CHARS - full)}]`;
}

/** Prompts that came to an end, failed ones among them: what the app shows as done. */
export function ended({ states }: Pick<RunSummary, 'states'>): number {
  return states.completed + states.partial + states.failed + states.discarded;
}
