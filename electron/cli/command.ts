import type { Engine } from '#engine/engine.ts';
import type { OptionDefs, OptionGroups, OptionValues } from './options.ts';
import type { Terminal } from './terminal.ts';

/**
 * How a command ends. A run that came to its end with at least one completed or partial prompt is a success, also when others failed: the
 * summary and statistics.json say so. One that has nothing for its files ends like one that stopped.
 */
export const EXIT = { ok: 0, stopped: 1, usage: 2, interrupted: 130 } as const;

/** What commands get from the host. */
export interface CommandHost {
  terminal: Terminal;
  /** Folder where the person is; relative names count from it. */
  cwd: string;
  now: () => number;
  /** Opens the engine on the home of `--home`; main closes it. Throws HomeBusyError and its like. */
  open(home: string | undefined): Promise<Engine>;
  /** Calls `first` on the first Ctrl+C; the second one ends the program at once. Returns how to stop listening. */
  onInterrupt(first: () => void): () => void;
}

export interface Command<D extends OptionDefs = OptionDefs> {
  name: string;
  /** One line for the list of commands. */
  summary: string;
  /** Between usage and options in --help. */
  about: string;
  options: D;
  /** Headings of --help. */
  groups?: OptionGroups;
  /** What may stand before the options, as shown in the usage; nothing when absent. */
  words?: string;
  /** The option that gives a field of the engine's requests: an error about that field is one of the command line. */
  optionOf?(field: string, values: OptionValues<D>): string | undefined;
  run(values: OptionValues<D>, host: CommandHost, words: readonly string[]): Promise<number>;
}

export const HOME_OPTION = { kind: 'text', value: 'FOLDER', help: 'Talaria home; default TALARIA_HOME or ~/.talaria.' } as const;
