import { userInfo, homedir } from 'node:os';
import { join, sep } from 'node:path';
import { isInside } from './confine.ts';

/** Entries of a home folder that hold keys, tokens or sign-ins. */
const IN_HOME = [
  '.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.netrc', '.pgpass', '.my.cnf', '.git-credentials', '.npmrc', '.pypirc', '.password-store', '.vault-token', '.terraform.d',
  '.config/gcloud', '.config/gh', '.config/hub', '.config/op', '.config/rclone', '.config/google-chrome', '.config/chromium', '.cargo/credentials', '.cargo/credentials.toml',
  '.local/share/keyrings', '.mozilla', '.thunderbird', '.cache/huggingface/token', '.huggingface',
  'Library/Keychains', 'Library/Application Support/Google/Chrome', 'Library/Application Support/Firefox', 'AppData/Roaming/Microsoft/Credentials',
];
const OF_SYSTEM = ['/etc/shadow', '/etc/gshadow', '/etc/sudoers', '/etc/sudoers.d', '/proc', '/dev', '/sys/kernel'];

/** The home folder of this user as the environment and as the system say; mostly one and the same. */
export function homesOfUser(): string[] {
  return [...new Set([homedir(), userInfo().homedir])].filter((home) => home !== '' && home !== sep);
}

/**
 * Whether nobody may allow a tool to use `path` (absolute, real): it lies in a hidden folder or holds a person's credentials. The
 * workspace itself is no secret, wherever it lies, but a hidden folder inside it is.
 */
export function isSecret(path: string, root: string, hidden: readonly string[]): boolean {
  const covered = (folder: string): boolean => isInside(folder, path) && !(isInside(folder, root) && isInside(root, path));
  if (hidden.some(covered)) return true;
  if (isInside(root, path)) return false;
  return OF_SYSTEM.some((folder) => isInside(folder, path)) || homesOfUser().some((home) => IN_HOME.some((name) => isInside(join(home, name), path)));
}
