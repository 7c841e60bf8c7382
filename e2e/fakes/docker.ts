import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('docker.sh', import.meta.url));

export interface FakeDocker {
  /** An image that is here, or with `pullable` one that can be had. `files` by their absolute path in it. */
  image(name: string, options?: { files?: Record<string, string>; pullable?: boolean; broken?: boolean }): void;
  /** Holds pulls of an image until the answer is called. */
  holdPull(name: string): () => void;
  /** The daemon does not answer from now on. */
  stop(): void;
  /** Every call, its arguments as a shell would read them. */
  calls(): string[];
  /** Names of the containers that exist. */
  containers(): string[];
  /** The network of a container. */
  network(name: string): string;
  close(): void;
}

/** Puts a scripted `docker` first in the search path of this process until it is closed. */
export function fakeDocker(): FakeDocker {
  const dir = mkdtempSync(join(realpathSync(tmpdir()), 'fake-docker-'));
  const state = join(dir, 'state');
  mkdirSync(join(dir, 'bin'));
  symlinkSync(SCRIPT, join(dir, 'bin', 'docker'));
  const before = { PATH: process.env['PATH'], DOCKER_FAKE_STATE: process.env['DOCKER_FAKE_STATE'] };
  process.env['PATH'] = [join(dir, 'bin'), before.PATH ?? ''].join(delimiter);
  process.env['DOCKER_FAKE_STATE'] = state;
  const folder = (kind: string, name: string): string => join(state, kind, name.replaceAll('/', '_'));
  const list = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);
  return {
    image(name, { files = {}, pullable = false, broken = false } = {}) {
      const own = folder(pullable ? 'registry' : 'images', name);
      mkdirSync(own, { recursive: true });
      if (broken) writeFileSync(join(own, 'broken'), '');
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(own, 'rootfs', path)), { recursive: true });
        writeFileSync(join(own, 'rootfs', path), text);
      }
    },
    holdPull(name) {
      const gate = join(folder('registry', name), 'gate');
      writeFileSync(gate, '');
      return () => rmSync(gate);
    },
    stop: () => writeFileSync(join(state, 'down'), ''),
    calls: () => (existsSync(join(state, 'calls')) ? readFileSync(join(state, 'calls'), 'utf8').trim().split('\n') : []),
    containers: () => list(join(state, 'containers')),
    network: (name) => readFileSync(join(state, 'containers', name, 'network'), 'utf8').trim(),
    close() {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
