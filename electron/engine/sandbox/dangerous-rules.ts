import { posix } from 'node:path';
import { isInside } from './confine.ts';
import type { Word } from './shell-words.ts';

/** Why a command is refused: a stable name, and a sentence for the model that says what to do instead. */
export interface Danger {
  rule: string;
  message: string;
}

export interface Place {
  root: string;
  cwd: string;
}

const SAFE_DEVICES = /^\/dev\/(null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd\/\d+|shm\/.+)$/;
const TEMPORARY = ['/tmp', '/var/tmp', '/private/tmp'];
const DISK_TOOLS = /^(mkfs(\..+)?|mke2fs|wipefs|fdisk|sfdisk|cfdisk|gdisk|parted|mkswap|blkdiscard|cryptsetup|diskpart)$/;
const POWER = /^(shutdown|reboot|halt|poweroff|telinit)$/;
const SYSTEM = /^(mount|umount|insmod|rmmod|modprobe|iptables|ip6tables|nft|ufw|swapoff|swapon|chroot|nsenter|setenforce|launchctl)$/;
const ACCOUNTS = /^(useradd|usermod|userdel|adduser|deluser|groupadd|groupdel|passwd|chpasswd|visudo|chsh)$/;
const SERVICE_ACTION = /^(poweroff|reboot|halt|suspend|hibernate|kexec|stop|disable|mask|kill|isolate|restart|rescue|emergency)$/;

/** Rules in words: what allowing one allows. */
const SCOPES: Readonly<Record<string, string>> = {
  accounts: 'Change accounts of this machine',
  credentials: 'Use files that hold credentials',
  delete_outside: 'Delete files outside the workspace',
  disk: 'Work on whole disks',
  force_push: 'Rewrite history on git remotes',
  fork_bomb: 'Start processes without end',
  hidden: 'Run scripts nested too deeply to be checked',
  kill_all: 'End every process of this user',
  kill_by_name: 'End processes by their name',
  kill_parent: 'End the program that runs the agent',
  permissions: 'Change permissions outside the workspace',
  power: 'Stop or restart this machine',
  privileges: 'Run commands with the rights of an administrator',
  remote_script: 'Run scripts from the network',
  schedule: 'Change scheduled jobs',
  services: 'Stop or change services of this machine',
  system: 'Change settings of this machine',
  write_outside: 'Write files outside the workspace',
};

/** What allowing a rule allows, for a person. */
export function scopeOfRule(rule: string): string {
  return (Object.hasOwn(SCOPES, rule) ? SCOPES[rule] : undefined) ?? `Commands of the kind "${rule}"`;
}

/**
 * The absolute path that a word names, or null when that cannot be known (other variables, options).
 * `~`, `$HOME` and `$PWD` are known; patterns are kept, for a pattern is inside what its folder is inside of.
 */
export function targetOf(word: Word, place: Place): string | null {
  let text = word.text;
  if (!word.quoted && (text === '~' || text.startsWith('~/'))) text = place.root + text.slice(1);
  text = text.replace(/^\$(HOME\b|\{HOME\})/, place.root).replace(/^\$(PWD\b|\{PWD\})/, place.cwd);
  if (/^(\$|`|~)/.test(text) || text === '') return text.startsWith('~') && !word.quoted ? '/home/other' : null;
  return posix.resolve(place.cwd, text);
}

/** True when a word names a path that is known to lie outside. Named entries of the temporary folder and harmless devices do not count. */
export function isOutside(word: Word, place: Place): boolean {
  const path = targetOf(word, place);
  if (path === null || isInside(place.root, path) || SAFE_DEVICES.test(path)) return false;
  return !TEMPORARY.some((folder) => path.startsWith(`${folder}/`) && !/^[*.?]+$/.test(path.slice(folder.length + 1)));
}

/** Checks one command by its name. `args` are its words without the name. */
export function checkByName(name: string, args: readonly Word[], place: Place): Danger | null {
  if (/^(sudo|su|doas|pkexec|runas)$/.test(name)) {
    return danger('privileges', `"${name}" asks for more rights than the workspace has. Find a way without it, for example an install inside the workspace.`);
  }
  if (DISK_TOOLS.test(name)) return danger('disk', `"${name}" works on whole disks. Nothing in the workspace needs it.`);
  if (POWER.test(name) || (name === 'init' && /^[0-6]$/.test(args[0]?.text ?? ''))) {
    return danger('power', `"${name}" would stop or restart the machine. Do not run it.`);
  }
  if ((name === 'systemctl' || name === 'service') && args.some((word) => SERVICE_ACTION.test(word.text))) {
    return danger('services', 'This changes services of the machine. Start what you need as a process of your own instead.');
  }
  if (SYSTEM.test(name) || (name === 'sysctl' && args.some((word) => word.text === '-w' || word.text.includes('=')))) {
    return danger('system', `"${name}" changes the machine itself, not the workspace. Do not run it.`);
  }
  if (ACCOUNTS.test(name)) return danger('accounts', `"${name}" changes accounts of the machine. Do not run it.`);
  if (name === 'crontab' && args[0]?.text !== '-l') return danger('schedule', 'This changes scheduled jobs of the person. Run what you need now, in the workspace.');
  if (/^(pkill|killall|killall5|skill)$/.test(name) && !args.some((word) => /^(-P|--parent)/.test(word.text))) {
    return danger('kill_by_name', `"${name}" would also end processes that are not yours. Keep the process id ("cmd & echo $!") and use kill with that id.`);
  }
  if (name === 'kill' && killsEverything(args)) {
    return danger('kill_all', 'This would end every process of this user. Use kill with the id of a process that you started.');
  }
  if (name === 'kill' && args.some(({ text }) => /^-?\$(PPID\b|\{PPID\})/.test(text))) {
    return danger('kill_parent', 'The parent of your shell is the program that runs you; ending it ends all work. Use kill with the id of a process that you started.');
  }
  if (name === 'git') return checkGit(args);
  if (name === 'dd') {
    const target = args.find((word) => word.text.startsWith('of='));
    if (target && isOutside({ ...target, text: target.text.slice(3) }, place)) {
      return danger('disk', `dd would write to "${target.text.slice(3)}". Write to a file inside the workspace.`);
    }
  }
  if ((name === 'docker' || name === 'podman') && args.some(({ text }) => text === '--privileged' || /^(--volume=|-v)?\/:/.test(text))) {
    return danger('privileges', 'A container with these options reaches the whole machine. Mount only folders of the workspace.');
  }
  return checkPaths(name, args, place);
}

function checkPaths(name: string, args: readonly Word[], place: Place): Danger | null {
  const paths = args.filter((word) => !word.text.startsWith('-'));
  if (/^(rm|rmdir|unlink|shred|srm|trash)$/.test(name)) {
    const hit = paths.find((word) => isOutside(word, place) || isHome(word));
    if (hit) return danger('delete_outside', `Deleting "${hit.text}" is refused: delete only paths inside the workspace, and name them one by one.`);
    const loose = paths.find((word) => /^\$\{?\w+\}?\/\*?$/.test(word.text) && !/TMPDIR|PWD|HOME/.test(word.text));
    if (loose) return danger('delete_outside', `If that variable is empty, "${loose.text}" is the root of the file system. Write the path out, or use "\${NAME:?}".`);
    return null;
  }
  if (name === 'find') {
    const expression = args.findIndex((word) => /^[-(!]/.test(word.text));
    const deletes = args.some((word, i) => word.text === '-delete' || (/^-(exec|ok)(dir)?$/.test(word.text) && /^(.*\/)?(rm|shred|mv|chmod|chown)$/.test(args[i + 1]?.text ?? '')));
    const hit = deletes ? args.slice(0, expression === -1 ? undefined : expression).find((word) => isOutside(word, place) || isHome(word)) : undefined;
    return hit ? danger('delete_outside', `This find changes or deletes files under "${hit.text}". Search inside the workspace instead.`) : null;
  }
  if (/^(chmod|chown|chgrp|chattr|setfacl)$/.test(name)) {
    const hit = paths.slice(1).find((word) => isOutside(word, place));
    return hit ? danger('permissions', `Changing the permissions of "${hit.text}" is refused: it is outside the workspace.`) : null;
  }
  const written = writtenBy(name, args, paths).find((word) => isOutside(word, place) && !TEMPORARY.includes(targetOf(word, place) ?? ''));
  return written ? danger('write_outside', `Writing to "${written.text}" is outside the workspace. Write to a path inside it, or to "$TMPDIR".`) : null;
}

function writtenBy(name: string, args: readonly Word[], paths: readonly Word[]): readonly Word[] {
  switch (name) {
    case 'tee':
    case 'touch':
    case 'mkdir':
    case 'truncate':
    case 'mv':
      return paths;
    case 'cp':
    case 'install':
    case 'ln':
    case 'rsync':
      return paths.length > 1 ? paths.slice(-1) : [];
    case 'sed':
    case 'perl':
      return args.some((word) => /^-(\w*i\w*|i\..*|-in-place.*)$/.test(word.text)) ? editedInPlace(args) : [];
    default:
      return [];
  }
}

/** The files of `sed -i` and `perl -i`: all but options and the script, which comes first or after `-e`. */
function editedInPlace(args: readonly Word[]): readonly Word[] {
  const scripts = args.some((word) => /^-\w*[ef]$|^--(expression|file)/.test(word.text));
  const files = args.filter((word, i) => !word.text.startsWith('-') && !/^-\w*[ef]$/.test(args[i - 1]?.text ?? ''));
  return scripts ? files : files.slice(1);
}

function isHome(word: Word): boolean {
  return (!word.quoted && /^~(\/\.?\*?)?$/.test(word.text)) || /^\$\{?HOME\}?(\/\.?\*?)?$/.test(word.text);
}

/** `-1` as a target means "every process"; as the first word it is a signal, when a target follows. */
function killsEverything(args: readonly Word[]): boolean {
  const words = args.map((word) => word.text);
  const dashes = words.indexOf('--');
  if (dashes !== -1) return words.slice(dashes + 1).includes('-1');
  const takesSignal = words[0] === '-s' || words[0] === '-n';
  return words.slice(takesSignal ? 2 : 1).includes('-1');
}

function checkGit(args: readonly Word[]): Danger | null {
  const words = args.map((word) => word.text);
  const push = words.indexOf('push');
  if (push === -1 || words.slice(0, push).some((word, i) => !word.startsWith('-') && !/^-[cC]$/.test(words[i - 1] ?? ''))) return null;
  const forced = words.slice(push + 1).some((word) => /^(--force(-with-lease.*|-if-includes)?|--mirror|--delete|--prune|-\w*[fd]\w*|\+.+|:.+)$/.test(word) && !/^--dry-run/.test(word));
  return forced ? danger('force_push', 'This rewrites or deletes history on the remote. Push without force, or to a new branch.') : null;
}

function danger(rule: string, message: string): Danger {
  return { rule, message };
}
