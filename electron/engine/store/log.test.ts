import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLog } from './log.ts';
import { Redactor, redactingLogger } from './redact.ts';
import type { Logger } from './types.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'talaria-log-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const now = (): Date => new Date('2026-01-02T03:04:05.006Z');
const read = (name = 'talaria.log'): string => readFileSync(join(folder, 'logs', name), 'utf8');
const open = (more: { maxBytes?: number; keep?: number; redactor?: Redactor } = {}) => openLog(join(folder, 'logs'), { redactor: new Redactor(), now, ...more });

describe('openLog', () => {
  // Bug: entries without time or level; an error loses its cause; a second start empties the log.
  it('appends entries with time, level and the error with its cause', () => {
    const first = open();
    first.info('started');
    first.close();
    const log = open();
    log.error('it failed', new Error('outer', { cause: new Error('inner') }));
    log.close();
    log.info('after close');
    expect(read()).toMatch(/^2026-01-02T03:04:05.006Z info {2}started\n2026-01-02T03:04:05.006Z error it failed\n {4}Error: outer\n[^]*caused by Error: inner/);
    expect(read()).not.toContain('after close');
    if (process.platform !== 'win32') expect(statSync(log.file).mode & 0o777).toBe(0o600);
  });

  // Bug: a log that grows until the disk is full, or that loses the entry which made it rotate.
  it('rotates by size and keeps so many', () => {
    const log = open({ maxBytes: 120, keep: 2 });
    for (let n = 1; n <= 9; n++) log.info(`entry ${n} ${'x'.repeat(30)}`);
    log.close();
    expect(readdirSync(join(folder, 'logs')).sort()).toEqual(['talaria.1.log', 'talaria.2.log', 'talaria.log']);
    expect(read()).toContain('entry 9');
    expect(read('talaria.1.log')).toContain('entry 8');
    for (const name of readdirSync(join(folder, 'logs'))) expect(statSync(join(folder, 'logs', name)).size).toBeLessThanOrEqual(120);
  });

  // Bug: tool output with line breaks or escape codes forges log entries or drives the terminal.
  it('keeps hostile text inside its entry', () => {
    const log = open();
    log.info('a\n2026-01-02T03:04:05.006Z error forged\r\x1b[2J\u202e');
    expect(read()).toBe('2026-01-02T03:04:05.006Z info  a\n    2026-01-02T03:04:05.006Z error forged\n    \\u001b[2J\\u202e\n');
  });

  // Bug: the program dies because its log cannot be written.
  it('never throws', () => {
    writeFileSync(join(folder, 'logs'), '');
    const log = open();
    log.info('x');
    log.error('x', 'text');
    log.close();
  });

  // Bug: a key in a message, an error, its cause or an address reaches the disk.
  it('writes no known secret', () => {
    const redactor = new Redactor({ OPENROUTER_API_KEY: 'from-the-env+1', HOME: '/home/someone', SHORT_KEY: 'abc' });
    const log = open({ redactor });
    redactor.add('typed/key=value');
    log.info('got from-the-env+1 and from-the-env%2B1 in /home/someone, abc');
    log.error('x', new Error('typed/key=value', { cause: { toString: () => 'typed%2Fkey%3Dvalue' } }));
    log.info('sk-or-v1-0123456789abcdef0123456789abcdef Authorization: Bearer abcdefghijklmnop');
    log.close();
    expect(read()).toContain('got [secret] and [secret] in /home/someone, abc');
    expect(read()).not.toMatch(/from-the-env|typed|sk-or|abcdefghij/);
  });
});

describe('redactingLogger', () => {
  // Bug: the wrapper hides the message but passes on the error object with the key in its stack.
  it('passes nothing on unredacted', () => {
    const seen: unknown[] = [];
    const sink: Logger = { info: (...all) => seen.push(...all), error: (...all) => seen.push(...all) };
    const redactor = new Redactor();
    redactor.add('longer-secret-value');
    redactor.add('longer-secret');
    const log = redactingLogger(sink, redactor);
    log.info('longer-secret-value');
    log.error('m', new Error('longer-secret'));
    expect(seen[0]).toBe('[secret]');
    expect(seen).toHaveLength(2);
    expect(String(seen[1])).toMatch(/^m\nError: \[secret\]/);
  });
});
