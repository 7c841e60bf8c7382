import { suggestion } from '#shared/suggestion.ts';

/**
 * The options of a command, defined once: what is parsed, checked and shown by --help. Written `--name=value` or `--name value`;
 * underscores and dashes in names are the same.
 */
export type OptionDef =
  | { kind: 'text'; value: string; help: string; required?: boolean; choices?: readonly string[] }
  | { kind: 'number'; value: string; help: string; min: number; max?: number; required?: boolean }
  | { kind: 'flag'; help: string; required?: false }
  /** Text that may be left out: `--name` alone is "true". */
  | { kind: 'switch'; value?: string; help: string; required?: false };

/** Options under one heading of --help; those without a group come first. */
export type OptionGroups = readonly { title: string; names: readonly string[] }[];

export type OptionDefs = Readonly<Record<string, OptionDef>>;

export type OptionValues<D extends OptionDefs> = {
  -readonly [K in keyof D]: D[K] extends { kind: 'flag' }
    ? boolean
    : D[K] extends { kind: 'number'; required: true }
      ? number
      : D[K] extends { kind: 'number' }
        ? number | undefined
        : D[K] extends { required: true }
          ? string
          : string | undefined;
};

/** The person has to change the command line. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** For a name that no run has. */
export function noRun(name: string, runs: readonly { name: string }[]): UsageError {
  return new UsageError(`There is no run named ${name}. There are: ${runs.map((r) => r.name).join(', ') || 'none yet'}.`);
}

/** Parses the arguments of a command. `help` when --help is among them. Throws UsageError with a sentence to act on. */
export function parseOptions<const D extends OptionDefs>(defs: D, args: readonly string[]): OptionValues<D> | 'help' {
  if (args.some((a) => a === '--help' || a === '-h')) return 'help';
  const values: Record<string, string | number | boolean> = {};
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i]!;
    if (!arg.startsWith('--') || arg === '--') throw new UsageError(`"${arg}" is not an option. Options are written --name=value.`);
    const equals = arg.indexOf('=');
    const given = arg.slice(2, equals < 0 ? undefined : equals);
    const name = given.replaceAll('-', '_');
    const def = Object.hasOwn(defs, name) ? defs[name] : undefined;
    if (!def) throw new UsageError(`There is no option --${given}.${suggestion(given.replaceAll('-', '_'), Object.keys(defs), '--')}`);
    if (Object.hasOwn(values, name)) throw new UsageError(`--${name} is given twice.`);
    const inline = equals < 0 ? undefined : arg.slice(equals + 1);
    if (def.kind === 'flag' || def.kind === 'switch') {
      values[name] = def.kind === 'flag' ? readFlag(name, inline) : (inline ?? 'true');
      continue;
    }
    const text = inline ?? args[i + 1];
    if (text === undefined || text === '' || (inline === undefined && text.startsWith('--'))) throw new UsageError(`--${name} needs a value: --${name}=${def.value}.`);
    if (inline === undefined) i += 1;
    values[name] = def.kind === 'number' ? readNumber(name, text, def) : readText(name, text, def);
  }
  const missing = Object.entries(defs).filter(([name, def]) => def.required && !Object.hasOwn(values, name));
  if (missing.length > 0) throw new UsageError(`${missing.map(([name]) => `--${name}`).join(' and ')} must be given.`);
  for (const [name, def] of Object.entries(defs)) if (def.kind === 'flag') values[name] ??= false;
  return values as OptionValues<D>;
}

/** The options as lines for --help, under the headings of `groups`. */
export function describeOptions(defs: OptionDefs, groups: OptionGroups = []): string {
  const left = (name: string, def: OptionDef) => `  --${name}${'value' in def && def.value ? `=${def.value}` : ''}`;
  const entries = Object.entries(defs);
  const width = Math.max(...entries.map(([name, def]) => left(name, def).length)) + 2;
  const line = ([name, def]: [string, OptionDef]): string => {
    const choices = def.kind === 'text' && def.choices ? ` One of: ${def.choices.join(', ')}.` : '';
    return `${left(name, def).padEnd(width)}${def.help}${choices}${def.required ? ' Required.' : ''}`;
  };
  const grouped = new Set(groups.flatMap(({ names }) => names));
  const blocks = groups.map(({ title, names }) => [`${title}:`, ...entries.filter(([name]) => names.includes(name)).map(line)].join('\n'));
  const rest = entries.filter(([name]) => !grouped.has(name)).map(line);
  return [...(rest.length > 0 ? [rest.join('\n')] : []), ...blocks].join('\n\n');
}

function readFlag(name: string, text: string | undefined): boolean {
  if (text === undefined || /^(?:true|yes|1)$/i.test(text)) return true;
  if (/^(?:false|no|0)$/i.test(text)) return false;
  throw new UsageError(`--${name} is a switch: give it without a value.`);
}

function readNumber(name: string, text: string, def: Extract<OptionDef, { kind: 'number' }>): number {
  const value = Number(text);
  const range = def.max === undefined ? `at least ${def.min}` : `from ${def.min} to ${def.max}`;
  if (!/^[+-]?\d+$/.test(text) || value < def.min || value > (def.max ?? Number.MAX_SAFE_INTEGER)) {
    throw new UsageError(`--${name} must be a whole number ${range}, not "${text}".`);
  }
  return value;
}

function readText(name: string, text: string, def: Extract<OptionDef, { kind: 'text' }>): string {
  if (def.choices && !def.choices.includes(text)) throw new UsageError(`--${name} cannot be "${text}". It is one of: ${def.choices.join(', ')}.`);
  return text;
}
