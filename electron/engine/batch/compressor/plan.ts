/** One turn of a ShareGPT row; other keys are carried through. */
export interface Turn {
  from: string;
  value: string;
}

export interface PlanOptions {
  targetMaxTokens: number;
  summaryTargetTokens: number;
  protectFirstSystem: boolean;
  protectFirstHuman: boolean;
  protectFirstGpt: boolean;
  protectFirstTool: boolean;
  protectLastTurns: number;
}

export type Plan =
  | { kind: 'under_target' }
  /** Over the target, and nothing that may be replaced would make it shorter. */
  | { kind: 'nothing_to_compress' }
  /** Turns `start` ≤ i < `end` give way to one summary. */
  | { kind: 'compress'; start: number; end: number; tokens: number };

const ROLES: Record<string, 'system' | 'human' | 'gpt' | 'tool'> = {
  system: 'system',
  human: 'human',
  user: 'human',
  gpt: 'gpt',
  assistant: 'gpt',
  tool: 'tool',
  observation: 'tool',
};

/** The role of a turn in the names of ShareGPT; its own name when it is another. */
export function roleOf(turn: Turn): string {
  return Object.hasOwn(ROLES, turn.from) ? ROLES[turn.from]! : turn.from;
}

/**
 * What is to be replaced, by the rules of Hermes Agent's trajectory compressor with their faults mended: the first turn of each role and
 * the last turns stay; a call and its responses are never parted; of the runs of turns between those that stay, the first that is long
 * enough is taken (else the longest), and of it only as much as is needed. A region of no more than the summary's own length is left
 * alone: replacing it would make the row longer.
 * @param tokens of each turn
 * @param added tokens that compressing puts elsewhere into the row
 */
export function planCompression(turns: readonly Turn[], tokens: readonly number[], options: PlanOptions, added = 0): Plan {
  const total = tokens.reduce((sum, n) => sum + n, 0);
  if (total <= options.targetMaxTokens) return { kind: 'under_target' };
  const wanted = total - options.targetMaxTokens + options.summaryTargetTokens + added;
  const regions = openRegions(turns, tokens, options).filter((r) => r.tokens > options.summaryTargetTokens);
  const enough = regions.find((r) => r.tokens >= wanted);
  const best = enough ?? regions.toSorted((a, b) => b.tokens - a.tokens)[0];
  if (best === undefined) return { kind: 'nothing_to_compress' };
  let sum = 0;
  let end = best.start;
  for (const unit of best.units) {
    sum += unit.tokens;
    end = unit.end;
    if (sum >= wanted) break;
  }
  return { kind: 'compress', start: best.start, end, tokens: sum };
}

interface Unit {
  start: number;
  end: number;
  tokens: number;
}

/** Runs of units that may go. A unit is a turn, or an assistant turn with the responses to its calls. */
function openRegions(turns: readonly Turn[], tokens: readonly number[], options: PlanOptions): (Unit & { units: Unit[] })[] {
  const kept = keptTurns(turns, options);
  const regions: (Unit & { units: Unit[] })[] = [];
  let open: (Unit & { units: Unit[] }) | null = null;
  for (const unit of unitsOf(turns, tokens)) {
    let stays = false;
    for (let i = unit.start; i < unit.end; i += 1) stays ||= kept.has(i);
    if (stays) {
      open = null;
      continue;
    }
    if (open === null) {
      open = { start: unit.start, end: unit.end, tokens: 0, units: [] };
      regions.push(open);
    }
    open.units.push(unit);
    open.end = unit.end;
    open.tokens += unit.tokens;
  }
  return regions;
}

function unitsOf(turns: readonly Turn[], tokens: readonly number[]): Unit[] {
  const units: Unit[] = [];
  turns.forEach((turn, i) => {
    const last = units.at(-1);
    if (roleOf(turn) === 'tool' && last !== undefined && ['gpt', 'tool'].includes(roleOf(turns[last.start]!))) {
      last.end = i + 1;
      last.tokens += tokens[i] ?? 0;
    } else units.push({ start: i, end: i + 1, tokens: tokens[i] ?? 0 });
  });
  return units;
}

function keptTurns(turns: readonly Turn[], options: PlanOptions): ReadonlySet<number> {
  const kept = new Set<number>();
  const first = (role: string, isKept: boolean): void => {
    const at = turns.findIndex((turn) => roleOf(turn) === role);
    if (isKept && at !== -1) kept.add(at);
  };
  first('system', options.protectFirstSystem);
  first('human', options.protectFirstHuman);
  first('gpt', options.protectFirstGpt);
  first('tool', options.protectFirstTool);
  for (let i = Math.max(0, turns.length - options.protectLastTurns); i < turns.length; i += 1) kept.add(i);
  return kept;
}
