/** Variables that would change what the engine's Node runs or loads, or that only concern the shell and its tools. */
const DROPPED = /^(?:NODE_|ELECTRON_|CHROME_|CHROMIUM$|npm_|VITE_|PLAYWRIGHT_|LD_|DYLD_)/i;

/** The environment of the engine's process: the person's own, with keys, paths and proxies, without what steers Node. */
export function engineEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !DROPPED.test(name)) clean[name] = value;
  }
  return clean;
}
