import { COMBINATIONS_SHOWN, type DistributionEntry, DRAWS_SHOWN, type Draws } from '#shared/contract/distributions.ts';
import { type ConfigChange, ConfigError, type ConfigFile } from '../../store/config.ts';
import { configDistributionSchema, DISTRIBUTION_NAME } from '../../store/config-schema.ts';
import { HomeError } from '../../store/home.ts';
import { BUILT_TOOLSETS } from '../../tools/toolsets.ts';
import { type DistributionInfo, type DistributionPreview, getDistribution, isBuiltInDistribution, listDistributions, numbersOf, previewDistribution, sampleToolsets } from '../distribution.ts';
import { BatchError } from '../errors.ts';

export interface DistributionServiceDeps {
  config: ConfigFile;
  /** Toolsets that have a tool in a batch here. */
  available: () => readonly string[];
}

/** The toolset distributions of people: the built-in ones and their own in config.yaml. */
export class DistributionService {
  readonly #deps: DistributionServiceDeps;

  constructor(deps: DistributionServiceDeps) {
    this.#deps = deps;
  }

  list(): { items: DistributionEntry[]; toolsets: { name: string; usable: boolean }[] } {
    const available = this.#deps.available();
    const all = listDistributions(available, this.#deps.config.read().distributions);
    const names = new Set([...available, ...BUILT_TOOLSETS, ...all.filter(({ own }) => !own).flatMap(({ toolsets }) => Object.keys(toolsets))]);
    return { items: all.map((info) => this.#entry(info)), toolsets: [...names].map((name) => ({ name, usable: available.includes(name) })) };
  }

  /** @throws BatchError `invalid` when nothing of the table can be drawn */
  preview({ toolsets, draws = DRAWS_SHOWN, seed = 0 }: { toolsets: Record<string, number>; draws?: number; seed?: number }): Draws {
    const found = previewDistribution(this.#checked(toolsets), { available: this.#deps.available(), draws, seed });
    if (found.draws === 0) throw new BatchError('invalid', 'None of these toolsets has tools here: no prompt could get any.', { field: 'toolsets' });
    return shown(found);
  }

  /**
   * What the first rollouts of a run get. @param rollouts per row of the dataset
   * @throws DistributionError when there is no such distribution, or nothing of it can be used
   */
  draws({ name, seed, rollouts, draws }: { name: string; seed: number; rollouts: number; draws: number }): Draws {
    const available = this.#deps.available();
    const own = this.#deps.config.read().distributions;
    const { built } = getDistribution(name, available, own);
    const counts = new Map(built.map((toolset) => [toolset, 0]));
    const combinations = new Map<string, { toolsets: string[]; count: number }>();
    for (let n = 0; n < draws; n += 1) {
      const drawn = sampleToolsets(name, numbersOf(seed, Math.floor(n / rollouts), n % rollouts), available, own);
      for (const toolset of drawn) counts.set(toolset, (counts.get(toolset) ?? 0) + 1);
      const key = drawn.join(' ');
      combinations.set(key, { toolsets: drawn, count: (combinations.get(key)?.count ?? 0) + 1 });
    }
    return shown({ draws, toolsets: [...counts].map(([toolset, count]) => ({ name: toolset, count })), combinations: [...combinations.values()].sort((a, b) => b.count - a.count) });
  }

  /** @throws BatchError `invalid` or `conflict` with the field, `unavailable` when config.yaml cannot be written */
  save({ name, previous, description = '', toolsets }: { name: string; previous?: string | undefined; description?: string; toolsets: Record<string, number> }): DistributionEntry {
    const wanted = name.trim();
    if (!DISTRIBUTION_NAME.test(wanted)) throw new BatchError('invalid', 'Use letters, digits, dash and underscore for the name; start with a letter or digit; at most 60 characters.', { field: 'name' });
    if (isBuiltInDistribution(wanted)) throw new BatchError('conflict', `${wanted} is a built-in distribution. Choose another name.`, { field: 'name' });
    const own = this.#deps.config.read().distributions;
    if (wanted !== previous && Object.hasOwn(own, wanted)) throw new BatchError('conflict', `There is a distribution ${wanted} already. Choose another name.`, { field: 'name' });
    const text = description.trim();
    if (text.length > 300) throw new BatchError('invalid', 'The description can have at most 300 characters.', { field: 'description' });
    const entry = { ...(text === '' ? {} : { description: text }), toolsets: this.#checked(toolsets) };
    const renamed: ConfigChange[] = previous !== undefined && previous !== wanted && Object.hasOwn(own, previous) ? [[['distributions', previous], undefined]] : [];
    this.#change([...renamed, [['distributions', wanted], entry]]);
    return this.#entry(getDistributionInfo(wanted, this.#deps.available(), entry));
  }

  /** @throws BatchError `not_found` when it is none of people's own */
  remove({ name }: { name: string }): Record<string, never> {
    if (!Object.hasOwn(this.#deps.config.read().distributions, name)) throw new BatchError('not_found', `There is no distribution ${name} in config.yaml.`);
    this.#change([[['distributions', name], undefined]]);
    return {};
  }

  #checked(toolsets: Record<string, number>): Record<string, number> {
    const parsed = configDistributionSchema.safeParse({ toolsets });
    if (parsed.success) return parsed.data.toolsets;
    const { path, message } = parsed.error.issues[0]!;
    const where = path.slice(1).join('.');
    throw new BatchError('invalid', where ? `${where} ${message}.` : `A distribution ${message}.`, { field: where ? `toolsets.${where}` : 'toolsets' });
  }

  #change(changes: readonly ConfigChange[]): void {
    try {
      this.#deps.config.change(changes);
    } catch (error) {
      throw error instanceof ConfigError || error instanceof HomeError ? new BatchError('unavailable', error.message, { cause: error }) : error;
    }
  }

  #entry({ name, description, toolsets, built, skipped, own }: DistributionInfo): DistributionEntry {
    const named = new Set(listDistributions().flatMap((one) => Object.keys(one.toolsets)));
    return {
      name,
      description,
      toolsets: { ...toolsets },
      skipped: skipped.map((toolset) => ({ name: toolset, why: BUILT_TOOLSETS.includes(toolset) ? 'not_ready' : named.has(toolset) ? 'not_built' : 'unknown' })),
      usable: built.length > 0,
      own,
    };
  }
}

function getDistributionInfo(name: string, available: readonly string[], entry: { description?: string; toolsets: Record<string, number> }): DistributionInfo {
  return listDistributions(available, { [name]: entry }).at(-1)!;
}

function shown({ draws, toolsets, combinations }: DistributionPreview): Draws {
  const common = combinations.slice(0, COMBINATIONS_SHOWN);
  return { draws, toolsets, combinations: common, others: draws - common.reduce((sum, { count }) => sum + count, 0) };
}
