import type { BackgroundProcessInfo, SessionSettings } from '#shared/contract/chats.ts';
import { openSandbox } from '../sandbox/open.ts';
import { type Sandbox, SandboxError } from '../sandbox/types.ts';
import type { ChatDeps } from './deps.ts';
import { ChatError } from './errors.ts';

/** A session without a turn and without processes for so long gives its sandbox back. */
const IDLE_MS = 30 * 60_000;

interface Open {
  key: string;
  opening: Promise<Sandbox>;
  sandbox: Sandbox | null;
  idle: NodeJS.Timeout | null;
}

/**
 * The sandbox of each session: opened when it is first needed and kept, so that background processes outlive turns. Another workspace
 * or kind of sandbox means another one; the old one is closed with what runs in it.
 */
export class Workspaces {
  readonly #deps: ChatDeps;
  readonly #hooks: { changed: (sessionId: string) => void; busy: (sessionId: string) => boolean };
  readonly #open = new Map<string, Open>();
  #closed = false;

  constructor(deps: ChatDeps, hooks: { changed: (sessionId: string) => void; busy: (sessionId: string) => boolean }) {
    this.#deps = deps;
    this.#hooks = hooks;
  }

  /** Throws ChatError `unavailable` with the field at fault when it cannot be opened. */
  async get(sessionId: string, settings: SessionSettings): Promise<Sandbox> {
    if (this.#closed) throw new ChatError('unavailable', 'Talaria is closing.');
    const key = `${settings.sandbox}\n${settings.workspace}\n${this.#deps.config.read().terminal.network}`;
    let open = this.#open.get(sessionId);
    if (open && open.key !== key) {
      await this.close(sessionId);
      open = undefined;
    }
    if (!open) {
      open = { key, opening: this.#create(settings), sandbox: null, idle: null };
      this.#open.set(sessionId, open);
    }
    try {
      const sandbox = await open.opening;
      if (open.sandbox === null) {
        open.sandbox = sandbox;
        sandbox.onProcesses = () => this.#hooks.changed(sessionId);
      }
      this.#closeWhenIdle(sessionId, open);
      return sandbox;
    } catch (error) {
      if (this.#open.get(sessionId) === open) this.#open.delete(sessionId);
      if (error instanceof SandboxError) throw new ChatError('unavailable', error.message, { field: 'workspace', cause: error });
      throw error;
    }
  }

  processes(sessionId: string): BackgroundProcessInfo[] {
    const processes = this.#open.get(sessionId)?.sandbox?.processes.list() ?? [];
    return processes.map(({ id, command, running, exitCode, startedAt }) => ({ id, command, running, exitCode, startedAt }));
  }

  /** Throws ChatError `not_found`; one that has ended already stays as it is. */
  async kill(sessionId: string, processId: string): Promise<void> {
    const one = this.#open.get(sessionId)?.sandbox?.processes.get(processId);
    if (!one) throw new ChatError('not_found', 'This process is no longer there.');
    await one.kill();
    this.#hooks.changed(sessionId);
  }

  /** Ends what runs in it. The folder stays. */
  async close(sessionId: string): Promise<void> {
    const open = this.#open.get(sessionId);
    if (!open) return;
    this.#open.delete(sessionId);
    if (open.idle) clearTimeout(open.idle);
    const sandbox = await open.opening.catch(() => null);
    await sandbox?.dispose({ remove: false }).catch((error: unknown) => this.#deps.log.error(`The sandbox of the chat ${sessionId} could not be closed`, error));
    this.#hooks.changed(sessionId);
  }

  /** From then on none is opened. */
  async closeAll(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
  }

  #closeWhenIdle(sessionId: string, open: Open): void {
    if (open.idle) clearTimeout(open.idle);
    open.idle = setTimeout(() => {
      if (this.#open.get(sessionId) !== open) return;
      if (this.#hooks.busy(sessionId) || this.processes(sessionId).some((p) => p.running)) this.#closeWhenIdle(sessionId, open);
      else void this.close(sessionId);
    }, IDLE_MS).unref();
  }

  #create({ sandbox, workspace }: SessionSettings): Promise<Sandbox> {
    const { config, home, now } = this.#deps;
    return openSandbox({ kind: sandbox, root: workspace, network: config.read().terminal.network, hidden: [home.root], now });
  }
}
