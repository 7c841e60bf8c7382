import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldsOf, mainArgument, viewOfResult } from './result-view.ts';

const view = (name: string, value: unknown, more: { contentBytes?: number } = {}) =>
  viewOfResult(name, { content: typeof value === 'string' ? value : JSON.stringify(value), ...more });

describe('viewOfResult', () => {
  it('never throws and never hides the text (catches a blank or crashed call card on a strange result)', () => {
    fc.assert(
      fc.property(fc.constantFrom('terminal', 'read_file', 'patch', 'other'), fc.oneof(fc.json(), fc.string()), (name, content) => {
        const seen = viewOfResult(name, { content });
        expect(typeof seen.text).toBe('string');
        if (seen.kind === 'text') expect(seen.text).toBe(content);
      }),
    );
  });

  it('shows a command with its exit code, also a failed one (catches output shown as JSON)', () => {
    expect(view('terminal', { output: 'no\n', exit_code: 1, error: null })).toEqual({ kind: 'terminal', text: 'no\n', exitCode: 1, error: null });
  });

  it('reads a large result that was cut in its output (catches escaped JSON shown for every large output)', () => {
    const whole = JSON.stringify({ output: 'a\nb"c\\ '.repeat(50), exit_code: 0 });
    for (let cut = 30; cut < 200; cut++) {
      const seen = view('terminal', whole.slice(0, cut), { contentBytes: whole.length });
      expect(seen.kind).toBe('terminal');
      expect('a\nb"c\\ '.repeat(50).startsWith(seen.text)).toBe(true);
    }
  });

  it('takes line numbers off and begins at the first (catches doubled numbers when reading from line 40)', () => {
    expect(view('read_file', { content: '    40|def f():\n    41|  return 1|2\n', total_lines: 90 })).toMatchObject({ kind: 'file', firstLine: 40, text: 'def f():\n  return 1|2' });
    expect(view('read_file', { content: '1|a\nplain' })).toMatchObject({ kind: 'file', firstLine: 1, text: '1|a\nplain' });
  });

  it('draws a patch as a diff (catches a diff shown as one JSON string)', () => {
    expect(view('patch', { success: true, diff: '--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n' })).toMatchObject({ kind: 'diff', error: null });
  });
});

describe('arguments', () => {
  it('puts the telling argument on one line (catches a heredoc that breaks the header)', () => {
    expect(mainArgument({ id: '1', name: 'terminal', arguments: '{"timeout":5,"command":"cat <<E\\n x\\nE"}' })).toBe('cat <<E x E');
    expect(mainArgument({ id: '1', name: 'todo', arguments: '{}' })).toBe('');
  });

  it('shows arguments that are no JSON as they are (catches a malformed call hidden from the person)', () => {
    expect(fieldsOf({ id: '1', name: 'terminal', arguments: '{"command": ' })).toBeNull();
    expect(mainArgument({ id: '1', name: 'terminal', arguments: '{"command": ' })).toBe('{"command":');
    expect(fieldsOf({ id: '1', name: 'terminal', arguments: '' })).toEqual([]);
  });
});
