import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type * as Electron from 'electron';
import type { ForkOptions, MessagePortMain, UtilityProcess } from 'electron';
import { PortTable } from './ports.ts';
import { NotModelledError, strict, StrictEmitter } from './strict.ts';

/** Main → utility process. */
export type ToUtility = { kind: 'message'; data: unknown; ports: number[] } | { kind: 'port'; id: number; data: unknown } | { kind: 'port-close'; id: number };
/** Utility process → main. */
export type FromUtility = { kind: 'message'; data: unknown } | { kind: 'port'; id: number; data: unknown } | { kind: 'port-close'; id: number };

const SHIM = new URL('./utility-shim.ts', import.meta.url).href;
const MODELLED = new Set(['env', 'stdio', 'serviceName']);
const running = new Set<ChildProcess>();

/** Electron ends its utility processes with itself. */
export function killUtilityProcesses(): void {
  for (const child of running) child.kill('SIGKILL');
}

class SubstituteUtilityProcess extends StrictEmitter implements Pick<UtilityProcess, 'pid' | 'kill' | 'postMessage'> {
  private readonly child: ChildProcess;
  private readonly ports = new PortTable();

  constructor(file: string, args: string[], options: ForkOptions) {
    super('UtilityProcess', ['spawn', 'message', 'exit'], ['error']);
    for (const name of Object.keys(options)) if (!MODELLED.has(name)) throw new NotModelledError(`the option ${name} of utilityProcess.fork`);
    if (options.stdio !== undefined && options.stdio !== 'inherit') throw new NotModelledError('stdio other than "inherit" of utilityProcess.fork');
    this.child = fork(file, args, {
      serialization: 'advanced',
      env: options.env as NodeJS.ProcessEnv | undefined,
      execArgv: ['--import', SHIM],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    running.add(this.child);
    this.child.on('spawn', () => this.emit('spawn'));
    this.child.on('message', (message) => this.receive(message as FromUtility));
    // A message to a process that has just died fails; its exit is what counts.
    this.child.on('error', () => undefined);
    this.child.on('exit', (code) => {
      running.delete(this.child);
      this.ports.closeAll();
      this.emit('exit', code ?? 1);
    });
  }

  get pid(): number | undefined {
    return this.child.exitCode === null && this.child.signalCode === null ? this.child.pid : undefined;
  }

  kill(): boolean {
    return this.child.kill();
  }

  postMessage(data: unknown, transfer: MessagePortMain[] = []): void {
    const ports = this.ports.handOver(transfer, (id) => ({
      message: (sent) => this.send({ kind: 'port', id, data: sent }),
      close: () => this.send({ kind: 'port-close', id }),
    }));
    this.send({ kind: 'message', data: structuredClone(data), ports });
  }

  private send(message: ToUtility): void {
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  private receive(message: FromUtility): void {
    if (message.kind === 'message') this.emit('message', message.data);
    else if (message.kind === 'port') this.ports.message(message.id, message.data);
    else this.ports.closed(message.id);
  }
}

/** Plain `child_process.fork` with a shim for `process.parentPort`; allowed only after `ready`, as in Electron. */
export function makeUtilityProcess(isReady: () => boolean) {
  return strict('utilityProcess', {
    fork(modulePath: string, args: string[] = [], options: ForkOptions = {}): UtilityProcess {
      if (!isReady()) throw new Error('utilityProcess cannot be created before app is ready.');
      const file = modulePath.startsWith('file:') ? fileURLToPath(modulePath) : modulePath;
      return strict('UtilityProcess', new SubstituteUtilityProcess(file, args, options)) as unknown as UtilityProcess;
    },
  } satisfies Pick<typeof Electron.utilityProcess, 'fork'>);
}
