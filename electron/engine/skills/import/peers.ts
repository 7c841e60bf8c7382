import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Peer } from '#shared/contract/skill-imports.ts';
import { MAIN_FILE } from '../names.ts';

/** Enough to say "these and more" of a folder with very many. */
const MAX_COUNTED = 2_000;
const COUNT_DEPTH = 6;

/**
 * Where other programs keep their skills. Hermes Agent: `~/.hermes/skills/[category/]name`; OpenClaw: `~/.openclaw/skills` and its
 * workspace's; Claude Code: `~/.claude/skills`, and those of installed plugins below `~/.claude/plugins`.
 */
export function peerFolders(home: string, env: NodeJS.ProcessEnv): Record<Peer, string[]> {
  return {
    hermes: [join(env['HERMES_HOME']?.trim() || join(home, '.hermes'), 'skills')],
    openclaw: [join(home, '.openclaw', 'skills'), join(home, '.openclaw', 'workspace', 'skills')],
    claude: [join(env['CLAUDE_CONFIG_DIR']?.trim() || join(home, '.claude'), 'skills'), join(env['CLAUDE_CONFIG_DIR']?.trim() || join(home, '.claude'), 'plugins')],
  };
}

/** Those that are there and have skills. */
export async function findPeers(home: string, env: NodeJS.ProcessEnv): Promise<{ peer: Peer; folders: string[]; skills: number }[]> {
  const found = [];
  for (const [peer, folders] of Object.entries(peerFolders(home, env)) as [Peer, string[]][]) {
    const counts = await Promise.all(folders.map(async (folder) => ({ folder, skills: await countSkills(folder, 0) })));
    const with_ = counts.filter(({ skills }) => skills > 0);
    if (with_.length > 0) found.push({ peer, folders: with_.map(({ folder }) => folder), skills: Math.min(MAX_COUNTED, with_.reduce((sum, { skills }) => sum + skills, 0)) });
  }
  return found;
}

async function countSkills(folder: string, depth: number): Promise<number> {
  const names = await readdir(folder, { withFileTypes: true }).catch(() => []);
  if (names.some((name) => name.isFile() && name.name === MAIN_FILE)) return 1;
  if (depth >= COUNT_DEPTH) return 0;
  let count = 0;
  for (const name of names) {
    if (!name.isDirectory() || name.name === 'node_modules' || name.name === '.git' || name.name === '.archive' || name.name === '.hub') continue;
    count += await countSkills(join(folder, name.name), depth + 1);
    if (count >= MAX_COUNTED) return MAX_COUNTED;
  }
  return count;
}

/** Whether something is a folder. */
export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then((found) => found.isDirectory(), () => false);
}
