import { delimiter, dirname, isAbsolute } from 'node:path';

/** Names the command a process came from (`<engine pid>:<sandbox>.<command>`), so that it is found again after it left its process group. */
export const COMMAND_MARK = 'SANDBOX_COMMAND_ID';

const WINDOWS_NEEDS = ['SystemRoot', 'SystemDrive', 'ComSpec', 'PATHEXT', 'windir', 'ProgramFiles', 'ProgramData'];
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The environment that commands get: built from nothing, with only the search path, the locale and the time zone taken from
 * `host`. No key, token or home folder of the person can be in it.
 * @param extra set last, for what a rollout needs on purpose.
 */
export function commandEnvironment(options: {
  host: NodeJS.ProcessEnv;
  root: string;
  tmp: string;
  extra?: Record<string, string> | undefined;
}): Record<string, string> {
  const { host, root, tmp } = options;
  const env: Record<string, string> = {
    PATH: cleanPath(host['PATH'] ?? host['Path']),
    LANG: host['LANG'] ?? 'C.UTF-8',
    HOME: root,
    TMPDIR: tmp,
    // Package managers would fill the workspace with their caches, for HOME is the workspace.
    XDG_CACHE_HOME: `${tmp}/cache`,
    npm_config_cache: `${tmp}/cache/npm`,
    TERM: 'dumb',
    NO_COLOR: '1',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    GIT_TERMINAL_PROMPT: '0',
    // Without this, git in a workspace would act on whatever repository the workspace happens to lie in.
    GIT_CEILING_DIRECTORIES: dirname(root),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONUNBUFFERED: '1',
    DEBIAN_FRONTEND: 'noninteractive',
  };
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && (name.startsWith('LC_') || name === 'TZ')) env[name] = value;
  }
  if (process.platform === 'win32') {
    Object.assign(env, { TEMP: tmp, TMP: tmp, USERPROFILE: root });
    for (const name of WINDOWS_NEEDS) {
      const value = host[name];
      if (value !== undefined) env[name] = value;
    }
  }
  return { ...env, ...options.extra };
}

/** Leaves out relative entries and the program folders of the package that Talaria itself was started from. */
function cleanPath(path: string | undefined): string {
  const entries = (path ?? '').split(delimiter).filter((entry) => isAbsolute(entry) && !/[\\/](node_modules[\\/]\.bin|node-gyp-bin)[\\/]?$/.test(entry));
  return entries.length > 0 ? entries.join(delimiter) : DEFAULT_PATH;
}
