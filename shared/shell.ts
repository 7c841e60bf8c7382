/** What the desktop shell and its page say to each other. The port to the engine is the only thing of worth among it. */

/** Page → preload (`window.postMessage`) → main (IPC): a port to the engine, please. */
export const SHELL_CONNECT = 'talaria:connect';
/** Main → preload → page, with the port transferred. */
export const SHELL_PORT = 'talaria:port';
/** Main → preload → page: an `EngineNotice`. */
export const SHELL_ENGINE = 'talaria:engine';

/** Page → preload → main: a `ShellNotice` for the system's notifications. */
export const SHELL_NOTIFY = 'talaria:notify';
/** Main → preload → page: the person pressed a notification; `place` is where it leads. */
export const SHELL_OPEN = 'talaria:open';

/** A chat in the background ended or asks. */
export interface ShellNotice {
  title: string;
  body: string;
  /** Path in the page. */
  place: string;
}

/** `down`: it ended and is being started again. `up`: it is back, ask for a new port. `gave-up`: it is not started again. */
export interface EngineNotice {
  state: 'down' | 'up' | 'gave-up';
  /** A sentence for people. */
  message: string;
}
