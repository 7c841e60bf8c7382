import { createHash } from 'node:crypto';
import { availableToolsets } from '../tools/toolsets.ts';

/** Chance in percent that a prompt gets a toolset. Chances are independent and need not add up to anything. */
export type Distribution = Readonly<Record<string, number>>;

/** People's own distributions, by name, as `distributions:` of config.yaml holds them. */
export type OwnDistributions = Readonly<Record<string, { description?: string | undefined; toolsets: Distribution }>>;

/** The toolset distributions of Hermes' batch runner, so that its run configurations work unchanged. */
const DISTRIBUTIONS: Readonly<Record<string, { description: string; toolsets: Distribution }>> = {
  default: {
    description: 'Every toolset, always.',
    toolsets: { web: 100, vision: 100, image_gen: 100, terminal: 100, file: 100, moa: 100, browser: 100 },
  },
  image_gen: {
    description: 'Making and looking at pictures, with some research.',
    toolsets: { image_gen: 90, vision: 90, web: 55, terminal: 45, moa: 10 },
  },
  research: {
    description: 'Finding things on the web and thinking about them.',
    toolsets: { web: 90, browser: 70, vision: 50, moa: 40, terminal: 10 },
  },
  science: {
    description: 'Research with code, files and the web.',
    toolsets: { web: 94, terminal: 94, file: 94, vision: 65, browser: 50, image_gen: 15, moa: 10 },
  },
  development: {
    description: 'Writing and running code, with an occasional look-up.',
    toolsets: { terminal: 80, file: 80, moa: 60, web: 30, vision: 10 },
  },
  safe: {
    description: 'No terminal and no files.',
    toolsets: { web: 80, browser: 70, vision: 60, image_gen: 60, moa: 50 },
  },
  balanced: {
    description: 'Every toolset half of the time.',
    toolsets: { web: 50, vision: 50, image_gen: 50, terminal: 50, file: 50, moa: 50, browser: 50 },
  },
  minimal: {
    description: 'Web search only.',
    toolsets: { web: 100 },
  },
  terminal_only: {
    description: 'Terminal and files, always.',
    toolsets: { terminal: 100, file: 100 },
  },
  terminal_web: {
    description: 'Terminal, files and the web, always.',
    toolsets: { terminal: 100, file: 100, web: 100 },
  },
  creative: {
    description: 'Pictures above all.',
    toolsets: { image_gen: 90, vision: 90, web: 30 },
  },
  reasoning: {
    description: 'Thinking with several models, few other tools.',
    toolsets: { moa: 90, web: 30, terminal: 20 },
  },
  browser_use: {
    description: 'Working in a browser with web search and vision.',
    toolsets: { browser: 100, web: 80, vision: 70 },
  },
  browser_only: {
    description: 'The browser alone.',
    toolsets: { browser: 100 },
  },
  browser_tasks: {
    description: 'Tasks in a browser, sometimes with a terminal.',
    toolsets: { browser: 97, vision: 12, terminal: 15 },
  },
  terminal_tasks: {
    description: 'Tasks in a terminal, with files and the web nearly always.',
    toolsets: { terminal: 97, file: 97, web: 97, browser: 75, vision: 50, image_gen: 10 },
  },
  mixed_tasks: {
    description: 'Tasks that need browser, terminal and files together.',
    toolsets: { browser: 92, terminal: 92, file: 92, web: 35, vision: 15, image_gen: 15 },
  },
};

export interface DistributionInfo {
  name: string;
  /** One sentence for people; empty for an own one without. */
  description: string;
  toolsets: Distribution;
  /** Toolsets of it that exist here. None: the distribution cannot be used. */
  built: string[];
  /** Toolsets of it that are skipped because they have no tool here: see `whyMissing` of the toolsets. */
  skipped: string[];
  /** Of config.yaml. */
  own: boolean;
}

/**
 * A distribution that cannot be used: nobody knows its name, none of its toolsets is built, or its name is also a built-in one's. The
 * message names those that work.
 */
export class DistributionError extends Error {
  readonly code: 'unknown_distribution' | 'no_built_toolset' | 'name_taken';
  constructor(code: DistributionError['code'], message: string) {
    super(message);
    this.name = 'DistributionError';
    this.code = code;
  }
}

/** Whether a distribution of this name comes with the program: people's own may not be called so. */
export function isBuiltInDistribution(name: string): boolean {
  return Object.hasOwn(DISTRIBUTIONS, name);
}

/**
 * All distributions in the order of the table, then people's own, also those that cannot be used here (`built` is empty). An own one
 * with the name of a built-in one is left out: `getDistribution` refuses that name.
 * @param available toolsets that have a tool in a batch; those that need nothing of the engine when left out.
 */
export function listDistributions(available: readonly string[] = availableToolsets({}), own: OwnDistributions = {}): DistributionInfo[] {
  const isBuilt = (toolset: string): boolean => available.includes(toolset);
  const info = (name: string, { description = '', toolsets }: OwnDistributions[string], isOwn: boolean): DistributionInfo => {
    const names = Object.keys(toolsets);
    return { name, description, toolsets, built: names.filter(isBuilt), skipped: names.filter((toolset) => !isBuilt(toolset)), own: isOwn };
  };
  return [
    ...Object.entries(DISTRIBUTIONS).map(([name, entry]) => info(name, entry, false)),
    ...Object.entries(own).filter(([name]) => !isBuiltInDistribution(name)).map(([name, entry]) => info(name, entry, true)),
  ];
}

/**
 * One distribution by name.
 * @throws DistributionError `unknown_distribution`; `name_taken` when config.yaml has one of this name beside the built-in one (which of
 *   them is meant is not for us to guess); `no_built_toolset` when no tool of it exists here: giving such prompts other tools in silence
 *   would make data that is not what was asked for.
 */
export function getDistribution(name: string, available?: readonly string[], own: OwnDistributions = {}): DistributionInfo {
  if (isBuiltInDistribution(name) && Object.hasOwn(own, name)) {
    throw new DistributionError('name_taken', `config.yaml has a distribution "${name}", which is also the name of a built-in one. Give yours another name.`);
  }
  const all = listDistributions(available, own);
  const usable = all.filter((info) => info.built.length > 0).map((info) => info.name).join(', ');
  const info = all.find((entry) => entry.name === name);
  if (!info) throw new DistributionError('unknown_distribution', `There is no distribution "${name}". These work here: ${usable}.`);
  if (info.built.length === 0) {
    throw new DistributionError('no_built_toolset', `The distribution "${name}" has only toolsets that have no tools here (${info.skipped.join(', ')}). These work here: ${usable}.`);
  }
  return info;
}

/**
 * Draws the toolsets of one prompt: each built toolset by its own chance; when none comes out, the built one with the highest
 * chance (the first in the table among equals). One number is drawn per toolset of the table, built or not, so a seeded run gives
 * the same draws when more toolsets are built.
 * @param random numbers in [0, 1). @throws DistributionError as `getDistribution`.
 */
export function sampleToolsets(distribution: string, random: () => number, available?: readonly string[], own?: OwnDistributions): string[] {
  return draw(getDistribution(distribution, available, own), random);
}

/**
 * The numbers in [0, 1) from which the toolsets of one rollout are drawn: made of its place alone, so that neither the number of workers
 * nor the order in which they come changes anything.
 */
export function numbersOf(seed: number | string, promptIndex: number, rollout: number): () => number {
  let block = Buffer.alloc(0);
  let blocks = 0;
  return () => {
    if (block.length < 4) block = createHash('sha256').update(`${seed}:${promptIndex}:${rollout}:${blocks++}`).digest();
    const number = block.readUInt32BE() / 2 ** 32;
    block = block.subarray(4);
    return number;
  };
}

export interface DistributionPreview {
  draws: number;
  /** How many of the draws had each toolset; every built toolset is there. */
  toolsets: { name: string; count: number }[];
  /** The combinations that came, the most frequent first. */
  combinations: { toolsets: string[]; count: number }[];
}

/** What the first `draws` prompts of a run with this seed get. A distribution without a built toolset gives no draws. */
export function previewDistribution(toolsets: Distribution, { available = availableToolsets({}), draws = 1_000, seed = 0 }: { available?: readonly string[]; draws?: number; seed?: number } = {}): DistributionPreview {
  const built = Object.keys(toolsets).filter((name) => available.includes(name));
  if (built.length === 0) return { draws: 0, toolsets: [], combinations: [] };
  const counts = new Map(built.map((name) => [name, 0]));
  const combinations = new Map<string, { toolsets: string[]; count: number }>();
  for (let i = 0; i < draws; i++) {
    const drawn = draw({ toolsets, built }, numbersOf(seed, i, 0));
    for (const name of drawn) counts.set(name, counts.get(name)! + 1);
    const key = drawn.join(' ');
    const seen = combinations.get(key);
    if (seen) seen.count += 1;
    else combinations.set(key, { toolsets: drawn, count: 1 });
  }
  return { draws, toolsets: [...counts].map(([name, count]) => ({ name, count })), combinations: [...combinations.values()].sort((a, b) => b.count - a.count) };
}

function draw({ toolsets, built }: Pick<DistributionInfo, 'toolsets' | 'built'>, random: () => number): string[] {
  const drawn = Object.entries(toolsets).filter(([, chance]) => random() * 100 < chance).map(([name]) => name);
  const usable = drawn.filter((name) => built.includes(name));
  if (usable.length > 0) return usable;
  return [built.reduce((best, name) => ((toolsets[name] ?? 0) > (toolsets[best] ?? 0) ? name : best))];
}
