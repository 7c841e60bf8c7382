import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { SkillMeta } from './meta.ts';

const NAMES: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'macos', win32: 'windows' };
const REMEMBERED_MS = 30_000;
const MAX_ASKED = 20;

/** What this machine has of what skills need. Answers about commands are remembered for half a minute. */
export class Machine {
  /** As skills call it: linux, macos or windows. */
  readonly platform: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #commands = new Map<string, { there: boolean; at: number }>();

  constructor(env: NodeJS.ProcessEnv, platform: NodeJS.Platform) {
    this.#env = env;
    this.platform = NAMES[platform] ?? platform;
  }

  /** What is missing, each in words. */
  missing(meta: SkillMeta): string[] {
    return [
      ...meta.envVars.slice(0, MAX_ASKED).flatMap(({ name }) => ((this.#env[name] ?? '') === '' ? [`The environment variable ${name.slice(0, 100)}`] : [])),
      ...meta.commands.slice(0, MAX_ASKED).flatMap((command) => (this.#has(command) ? [] : [`The command ${command.slice(0, 100)}`])),
    ];
  }

  #has(command: string): boolean {
    // no path: a skill must not have the disk searched
    if (!/^[\w.+-]{1,100}$/.test(command)) return false;
    const known = this.#commands.get(command);
    const now = Date.now();
    if (known && now - known.at < REMEMBERED_MS) return known.there;
    const ends = this.platform === 'windows' ? ['', '.exe', '.cmd', '.bat'] : [''];
    const there = (this.#env['PATH'] ?? '').split(delimiter).some((folder) => folder !== '' && ends.some((end) => isProgram(join(folder, command + end))));
    this.#commands.set(command, { there, at: now });
    return there;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
