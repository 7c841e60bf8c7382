import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { APPROVALS } from '#shared/contract/chats.ts';
import { ConfigFile } from '../store/config.ts';
import type { ApprovalRequest } from '../tools/types.ts';
import { Approvals, commandKey, createApprover, pathKey, scopeOf } from './approvals.ts';

let dir: string;
let file: string;
let approvals: Approvals;
const { signal } = new AbortController();

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'approvals-test-'));
  file = join(dir, 'config.yaml');
  approvals = new Approvals({ config: new ConfigFile(file) });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const requestOf = (key: string): ApprovalRequest => ({ what: key.startsWith('command:') ? 'command' : 'path', subject: 'x', reason: 'y', key, scope: scopeOf(key) });
function approver(answers: ((typeof APPROVALS)[number])[], session = new Set<string>()) {
  const asked: string[] = [];
  const ask = createApprover({
    approvals,
    session,
    ask: (request) => {
      asked.push(request.key);
      return Promise.resolve(answers.shift() ?? 'deny');
    },
  });
  return { asked, ask: (key: string) => ask(requestOf(key), 'call', signal) };
}

describe('the list', () => {
  it('is kept in config.yaml as text that people can read, and can be revoked there and here', () => {
    writeFileSync(file, '# mine\nui:\n  theme: dark\n');
    approvals.allow(commandKey('delete_outside'));
    approvals.allow(pathKey('read', '/home/me/notes'));
    expect(readFileSync(file, 'utf8')).toBe('# mine\nui:\n  theme: dark\napprovals:\n  allow:\n    - command:delete_outside\n    - read:/home/me/notes\n');
    expect(approvals.list()).toEqual([
      { key: 'command:delete_outside', what: 'command', description: 'Delete files outside the workspace' },
      { key: 'read:/home/me/notes', what: 'path', description: 'Read files in /home/me/notes' },
    ]);
    approvals.revoke(commandKey('delete_outside'));
    expect(approvals.isAllowed('command:delete_outside')).toBe(false);
    writeFileSync(file, '');
    expect(approvals.isAllowed('read:/home/me/notes')).toBe(false);
  });

  it('covers folders below, reading where writing is allowed, and nothing beside or above', () => {
    approvals.allow(pathKey('write', '/srv/a'));
    approvals.allow(pathKey('read', '/srv/r'));
    const allowed = ['write:/srv/a', 'write:/srv/a/b/c', 'read:/srv/a/b', 'read:/srv/r/x'];
    const refused = ['write:/srv', 'write:/srv/ab', 'write:/srv/r', 'write:/srv/r/x', 'read:/srv', 'command:/srv/a', 'command:disk', 'read:..', ''];
    expect(allowed.filter((key) => !approvals.isAllowed(key))).toEqual([]);
    expect(refused.filter((key) => approvals.isAllowed(key))).toEqual([]);
  });

  it('lets every command pass when approvals are off, but no path', () => {
    writeFileSync(file, 'approvals:\n  mode: off\n');
    expect(approvals.isAllowed('command:disk')).toBe(true);
    expect(approvals.isAllowed('read:/x')).toBe(false);
  });

  it('does not trip over what a person wrote into it', () => {
    writeFileSync(file, 'approvals:\n  allow:\n    - nonsense\n    - "read:"\n    - "write:relative"\n    - command:from_the_future\n');
    expect(approvals.list().map(({ description }) => description)).toEqual(['nonsense', 'read:', 'Read and write files in relative', 'Commands of the kind "from_the_future"']);
    expect(approvals.isAllowed('write:/anything')).toBe(false);
  });
});

describe('asking', () => {
  it('once allows once, session for the session, always for good, deny nothing', async () => {
    const session = new Set<string>();
    const first = approver(['once', 'session', 'always', 'deny'], session);
    expect(await first.ask('command:disk')).toBe(true);
    expect(await first.ask('command:disk')).toBe(true);
    expect(await first.ask('command:disk')).toBe(true);
    expect(await first.ask('read:/srv/x')).toBe(true);
    expect(await first.ask('read:/srv/x/below')).toBe(true);
    expect(await first.ask('command:power')).toBe(false);
    expect(await first.ask('command:power')).toBe(false);
    expect(first.asked).toEqual(['command:disk', 'command:disk', 'read:/srv/x', 'command:power', 'command:power']);
    const other = approver(['deny', 'deny']);
    expect([await other.ask('command:disk'), await other.ask('read:/srv/x')]).toEqual([false, true]);
  });

  it('asks one after the other, so that two calls that need the same ask once', async () => {
    const { asked, ask } = approver(['session']);
    expect(await Promise.all([ask('read:/a'), ask('read:/a'), ask('read:/a/b')])).toEqual([true, true, true]);
    expect(asked).toEqual(['read:/a']);
  });

  it('goes on after a question that was interrupted', async () => {
    const answers = [() => Promise.reject(new Error('interrupted')), () => Promise.resolve('once' as const)];
    const ask = createApprover({ approvals, session: new Set(), ask: () => (answers.shift() ?? answers[0]!)() });
    await expect(ask(requestOf('read:/a'), 'call', signal)).rejects.toThrow('interrupted');
    expect(await ask(requestOf('read:/a'), 'call', signal)).toBe(true);
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    await expect(ask(requestOf('read:/a'), 'call', stop.signal)).rejects.toThrow('stopped');
  });
});
