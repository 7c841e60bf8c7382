import { type Command, type CommandHost, EXIT } from './command.ts';
import { describeOptions, parseOptions, UsageError } from './options.ts';

/** Codes of the engine's errors that a person mends on the command line, when their field is an option of it. */
const USAGE_CODES = ['invalid', 'not_found'];

/** Reads the arguments, runs the command, and says its errors. @returns the exit code */
export async function runCommand(command: Command, args: readonly string[], host: CommandHost): Promise<number> {
  const { terminal } = host;
  let optionOf = (_field: string): string | undefined => undefined;
  try {
    const option = args.findIndex((word) => word.startsWith('-'));
    const words = command.words === undefined ? [] : args.slice(0, option < 0 ? args.length : option);
    const values = parseOptions(command.options, args.slice(words.length));
    if (values === 'help') {
      terminal.out(helpFor(command));
      return EXIT.ok;
    }
    optionOf = (field) => command.optionOf?.(field, values);
    return await command.run(values, host, words);
  } catch (error) {
    const usage = error instanceof UsageError ? error.message : usageSentence(error, optionOf);
    if (usage === null) {
      terminal.err(error instanceof Error ? error.message : String(error));
      return EXIT.stopped;
    }
    terminal.err(`${usage}\nSee: npm run talaria -- ${command.name} --help`);
    return EXIT.usage;
  }
}

/** Of an expected failure of a service, from the engine itself or through the contract, that is about an option; null for others. */
function usageSentence(error: unknown, optionOf: (field: string) => string | undefined): string | null {
  if (!(error instanceof Error)) return null;
  const { code, field, data } = error as { code?: unknown; field?: unknown; data?: { field?: unknown; issues?: { path?: unknown[]; message?: string }[] } };
  const named = (at: unknown): string | undefined => (typeof at === 'string' ? optionOf(at) : undefined);
  // what the contract itself refuses
  for (const { path, message } of code === 'BAD_REQUEST' ? (data?.issues ?? []) : []) {
    const name = path?.map(named).findLast((n) => n !== undefined);
    if (name !== undefined) return `--${name}: ${message ?? 'not valid'}`;
  }
  const name = named(field ?? data?.field);
  return name !== undefined && USAGE_CODES.includes(String(code).toLowerCase()) ? `--${name}: ${error.message}` : null;
}

function helpFor(command: Command): string {
  return `Usage: npm run talaria -- ${command.name} ${command.words ? `${command.words} ` : ''}[options]\n\n${command.about}\n\n${describeOptions(command.options, command.groups)}`;
}
