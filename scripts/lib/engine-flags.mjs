/**
 * How V8 is started for everything that holds an engine: without them it lets garbage of a busy run grow to several times of what is in
 * use (more than 100 MiB) before it looks for it. They are no limits: a heap that needs more gets more.
 */
export const ENGINE_FLAGS = ['--max-semi-space-size=8', '--initial-old-space-size=72', '--heap-growing-percent=100'];
