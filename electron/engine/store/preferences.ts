import { isAbsolute } from 'node:path';
import type { Preferences } from '#shared/contract/preferences.ts';
import { type ConfigChange, ConfigError, type ConfigFile, type ConfigPath } from './config.ts';
import { HomeError } from './home.ts';
import { SettingsError } from './settings.ts';

/** Where each preference is kept in config.yaml. */
const PLACES: { readonly [K in keyof Preferences]: ConfigPath } = {
  maxTurns: ['agent', 'max_turns'],
  reasoningEffort: ['agent', 'reasoning_effort'],
  compress: ['compression', 'enabled'],
  compressAt: ['compression', 'threshold'],
  workspace: ['chat', 'workspace'],
  titles: ['chat', 'titles'],
  saveTrajectories: ['chat', 'save_trajectories'],
  checkpoints: ['chat', 'checkpoints'],
  notify: ['chat', 'notify'],
  keepInTray: ['chat', 'keep_in_tray'],
};

/** The operations of the preferences contract, on config.yaml. */
export class PreferencesService {
  readonly #config: ConfigFile;

  constructor(config: ConfigFile) {
    this.#config = config;
  }

  get(): Preferences {
    const { agent, compression, chat } = this.#config.read();
    return {
      maxTurns: agent.max_turns,
      reasoningEffort: agent.reasoning_effort ?? null,
      compress: compression.enabled,
      compressAt: compression.threshold,
      workspace: chat.workspace ?? null,
      titles: chat.titles,
      saveTrajectories: chat.save_trajectories,
      checkpoints: chat.checkpoints,
      notify: chat.notify,
      keepInTray: chat.keep_in_tray,
    };
  }

  /** Changes what is given; null goes back to the default. Throws SettingsError: INVALID for a workspace that is no whole path, UNAVAILABLE when config.yaml cannot be written. */
  update(input: { [K in keyof Preferences]?: Preferences[K] | undefined }): Preferences {
    const workspace = input.workspace?.trim();
    if (workspace && !isAbsolute(workspace)) throw new SettingsError('INVALID', 'Give the whole path of the folder.', 'workspace');
    const given = { ...input, ...(input.workspace === undefined ? {} : { workspace: workspace || null }) };
    const keys = (Object.keys(PLACES) as (keyof Preferences)[]).filter((key) => given[key] !== undefined);
    try {
      this.#config.change(keys.map((key): ConfigChange => [PLACES[key], given[key] ?? undefined]));
    } catch (error) {
      throw error instanceof ConfigError || error instanceof HomeError ? new SettingsError('UNAVAILABLE', error.message, null, error) : error;
    }
    return this.get();
  }
}
