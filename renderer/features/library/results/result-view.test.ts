import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldsOf, mainArgument, viewOfCall, viewOfResult } from './result-view.ts';

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

  it('tells what is remembered and who is asked (catches "memory add" and "spawn_parallel true" as all that is said)', () => {
    const of = (name: string, args: unknown) => mainArgument({ id: '1', name, arguments: JSON.stringify(args) });
    expect(of('memory', { action: 'add', target: 'user', content: 'Uses vim' })).toBe('add Uses vim');
    expect(of('memory', { operations: [{ action: 'add', content: 'a' }, { action: 'remove', old_text: 'b' }, null] })).toBe('a · b');
    expect(of('spawn_parallel', { background: true, tasks: [{ goal: 'read' }, 'write', { prompt: 'run' }, 7] })).toBe('read · write · run');
  });

  it('shows arguments that are no JSON as they are (catches a malformed call hidden from the person)', () => {
    expect(fieldsOf({ id: '1', name: 'terminal', arguments: '{"command": ' })).toBeNull();
    expect(mainArgument({ id: '1', name: 'terminal', arguments: '{"command": ' })).toBe('{"command":');
    expect(fieldsOf({ id: '1', name: 'terminal', arguments: '' })).toEqual([]);
  });

  it('draws task lists, hits of the web and answers as what they are (catches JSON where a list belongs)', () => {
    const of = (name: string, value: unknown) => viewOfResult(name, { content: JSON.stringify(value) });
    expect(of('todo', { todos: [{ id: '1', content: 'a', status: 'completed' }], counts: {} })).toMatchObject({ kind: 'todos', todos: [{ content: 'a', status: 'completed' }] });
    expect(of('web_search', { query: 'q', results: [{ title: 't', url: 'https://a.example', snippet: 's' }] })).toMatchObject({ kind: 'pages', pages: [{ title: 't', text: 's', error: null }] });
    expect(of('web_extract', { pages: [{ url: 'https://a.example', error: 'gone' }] })).toMatchObject({ kind: 'pages', pages: [{ error: 'gone' }] });
    expect(of('clarify', { question: 'q', answer: null })).toMatchObject({ kind: 'answer', answer: null });
    expect(of('todo', { todos: ['x'] }).kind).toBe('json');
  });
});

describe('viewOfCall', () => {
  const call = (args: unknown) => ({ id: 'c', name: 'skill_manage', arguments: JSON.stringify(args) });
  const done = { content: JSON.stringify({ success: true, message: 'The skill "a" was changed.', skill: 'a', changed: ['SKILL.md'] }) };

  it('shows what became of a skill as a diff (catches a wall of JSON with two texts in it)', () => {
    expect(viewOfCall(call({ action: 'patch', name: 'a', old_string: 'one\ntwo', new_string: 'three' }), done)).toEqual({ kind: 'diff', error: null, text: '--- SKILL.md\n+++ SKILL.md\n@@ -1,2 +1,1 @@\n-one\n-two\n+three' });
    expect(viewOfCall(call({ action: 'write_file', name: 'a', file_path: 'references/x.md', file_content: 'x\n' }), done).text).toBe('--- references/x.md\n+++ references/x.md\n@@ -1,0 +1,1 @@\n+x');
    expect(viewOfCall(call({ action: 'delete', name: 'a' }), done)).toEqual({ kind: 'text', text: 'The skill "a" was changed.' });
  });

  it('shows a refused change as its error (catches a diff of what was never written)', () => {
    const refused = { content: JSON.stringify({ error: 'It is yours.' }) };
    expect(viewOfCall(call({ action: 'patch', name: 'a', old_string: 'x', new_string: 'y' }), refused).kind).toBe('json');
    expect(viewOfCall({ id: 'c', name: 'skill_manage', arguments: '{"action":' }, done).kind).toBe('text');
  });

  it('names action, skill and file in the head (catches a card that says only "patch")', () => {
    expect(mainArgument(call({ reason: 'Why', action: 'patch', name: 'a', file_path: 'references/x.md' }))).toBe('patch a references/x.md');
    expect(mainArgument({ id: 'c', name: 'skill_view', arguments: '{"name":"a"}' })).toBe('a');
  });
});
