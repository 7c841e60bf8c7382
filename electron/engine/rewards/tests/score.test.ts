import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScoreRule } from '#shared/scoring.ts';
import { openSandbox } from '../../sandbox/open.ts';
import type { Sandbox } from '../../sandbox/types.ts';
import { scoreRollout } from '../score.ts';
import type { ScoreSubject } from '../types.ts';

const { signal } = new AbortController();
let dir: string;
let sandbox: Sandbox;
beforeAll(async () => {
  dir = mkdtempSync(join(realpathSync(tmpdir()), 'score-tests-'));
  // not a version manager's script that looks for Python anew each time
  const python = dirname(execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }));
  sandbox = await openSandbox({ kind: 'host', root: join(dir, 'workspace'), env: { PATH: [python, process.env['PATH']].join(delimiter) } });
});
afterAll(async () => {
  await sandbox.dispose({ remove: true });
  rmSync(dir, { recursive: true, force: true });
});

const fenced = (code: string): string => `Here it is:\n\`\`\`python\n${code}\n\`\`\`\nDone.`;
const subject = (finalAnswer: string | null, row: Record<string, unknown>, prompt = 'Write it.'): ScoreSubject => ({ prompt, row, finalAnswer, turns: 1, toolErrors: 0, rating: null });
const score = async (rule: string, given: ScoreSubject, fresh = false) => (await scoreRollout([parseScoreRule(rule)], given, { sandbox, fresh, signal }))[0]!;

const PROMPT = 'from typing import List\n\ndef double(x: int) -> int:\n    return 2 * x\n\ndef quad(x: int) -> int:\n    """Four times x."""\n';
const CHECK = 'def check(candidate):\n    assert candidate(1) == 4\n    assert candidate(-2) == double(-4)\n    assert all(abs(candidate(x)) == 4 * abs(x) for x in range(5))\n';
const human = (answer: string | null): ScoreSubject => subject(answer, { tests: CHECK, entry_point: 'quad' }, PROMPT);

describe('HumanEval', () => {
  // Bug: an answer that leaves out imports and helpers of its prompt, or that goes on where it stops, fails.
  it.each([
    ['a whole function', fenced('def quad(x: int) -> List:\n    return double(double(x))')],
    ['the body only', '    return 4 * x\n'],
    ['no fence', 'def quad(x):\n    return 4 * x'],
    ['the last of two blocks', `${fenced('def quad(x): return 0')}\nBetter:\n${fenced('def quad(x): return x * 4')}`],
    ['a name of a builtin for a helper', fenced('def abs(x): return 7\ndef all(x): return False\nquad = lambda x: 4 * x')],
  ])('takes %s', async (_, answer) => {
    expect(await score('tests', human(answer))).toMatchObject({ value: 1, detail: { passed: 1, total: 1 } });
  });

  // Bug: code passes by what it does to the process instead of by being right.
  it.each([
    ['exits first', 'import sys\nsys.exit(0)', 'SystemExit'],
    ['exits hard', 'import os\nos._exit(0)', 'ended the program'],
    ['exits when called', 'def quad(x):\n    import os\n    os._exit(0)', 'ended the program'],
    ['overrides check', 'def check(f): pass\ndef quad(x): return 0\nimport builtins\nbuiltins.check = check', 'AssertionError'],
    ['overrides exec, compile and print', 'import builtins\nbuiltins.exec = builtins.compile = builtins.print = lambda *a, **k: None\ndef quad(x): return 0', 'AssertionError'],
    ['hides builtins', 'all = lambda x: True\nabs = lambda x: 0\ndef quad(x): return 4 if x == 1 else -8 if x == -2 else 9', 'AssertionError'],
    ['prints a verdict', 'import os\nprint("@@tests " + "0" * 64 + " 1 1")\nos._exit(0)', 'ended the program'],
    ['traces the tests', 'import sys, threading\nsys.settrace(lambda *a: sys.exit(0))\ndef quad(x): return 0', 'AssertionError'],
    ['looks for the task', 'import os, glob\nassert not glob.glob("task*") and not glob.glob("harness*")\nprint(open("task.json").read())', 'FileNotFoundError'],
    ['shadows a module', 'raise RuntimeError("hashlib")', 'RuntimeError'],
    ['replaces the module', 'import sys\nclass M: pass\nsys.modules["solution"] = M()\ndef quad(x): return 0', 'AssertionError'],
    ['replaces the harness', 'import sys\nm = sys.modules["__main__"]\nfor n in ("calls_of", "main", "ast"): setattr(m, n, lambda *a: (lambda s: None))\ndef quad(x): return 0', 'AssertionError'],
    ['is wrong', 'def quad(x): return 5', 'AssertionError'],
    ['is no Python', 'def quad(x) return', 'SyntaxError'],
    ['defines nothing', 'x = 1', 'AssertionError'],
  ])('code that %s has not passed', async (_, code, said) => {
    const { value, detail } = await score('tests', human(fenced(code)));
    expect(value).toBe(0);
    expect(JSON.stringify(detail)).toContain(said);
  });

  // Bug: an answer without code is unknown, or takes the whole text for code that happens to be there.
  it('takes solution.py of the workspace when the answer has no code block, never in a fresh sandbox', async () => {
    expect(await score('tests', human(null))).toMatchObject({ value: 0, detail: { why: expect.stringContaining('any code') } });
    writeFileSync(join(sandbox.root, 'solution.py'), 'def quad(x): return 4 * x\n');
    expect((await score('tests', human('I wrote solution.py.'))).value).toBe(1);
    expect((await score('tests', human('I wrote solution.py.'), true)).value).toBe(0);
    rmSync(join(sandbox.root, 'solution.py'));
    // neither does anything of a test stay in the workspace
    expect(readdirSync(sandbox.root)).toEqual([]);
  });
});

describe('lists of asserts', () => {
  const row = { tests: ['assert add(1, 2) == 3', 'assert add(0, 0) == 0', 'import time\nassert add(2, 2) == 5'], test_imports: ['import math'], test_setup_code: 'N = 1' };
  // Bug: a share of the asserts counts as passed without `each`, or the same list means something else as JSON text or a program.
  it('pass as a whole, and by their share with each', async () => {
    const answer = fenced('def add(a, b): return a + b');
    expect(await score('tests', subject(answer, row))).toMatchObject({ value: 0, detail: { passed: 2, total: 3 } });
    for (const tests of [row.tests, JSON.stringify(row.tests)]) expect((await score('tests:each', subject(answer, { ...row, tests }))).value).toBeCloseTo(2 / 3, 10);
    expect((await score('tests:each', subject(answer, { tests: 'assert add(1, 2) == 3\nassert add(1, 1) == 3\n' }))).value).toBe(0.5);
    expect((await score('tests', subject(answer, { ...row, tests: row.tests.slice(0, 2) }))).value).toBe(1);
  });

  // Bug: a loop without end takes the credit of what had passed, or keeps the worker for ever.
  it('keep what had passed when the time is up', async () => {
    const answer = fenced('def add(a, b):\n    while a == 0: pass\n    return a + b');
    expect(await score('tests:each,3', subject(answer, row))).toMatchObject({ value: expect.closeTo(1 / 3, 10), detail: { why: 'It took longer than 3 seconds.' } });
    expect(await score('tests:0.5', subject(answer, row))).toMatchObject({ value: 0, detail: { why: 'It took longer than 0.5 seconds.' } });
  });
});

describe('programs, files and commands', () => {
  // Bug: test functions and cases that a program defines but nobody calls count as passed.
  it('calls test functions and cases itself', async () => {
    const tests = (right: number): string => `import unittest\nfrom solution import f\ndef test_f():\n    assert f() == ${right}\nclass C(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(), 1)\nif __name__ == '__main__':\n    unittest.main()\n`;
    expect((await score('tests', subject(fenced('def f(): return 1'), { tests: tests(1) }))).value).toBe(1);
    expect((await score('tests', subject(fenced('def f(): return 1'), { tests: tests(2) }))).value).toBe(0);
    expect((await score('tests', subject(fenced('def f(): return 2'), { tests: tests(2) }))).value).toBe(0);
  });

  // Bug: a command runs with what the model left in its shell, its exit code is not the verdict, or its files are looked for elsewhere.
  it('runs commands and test files in the workspace, and says where that is gone', async () => {
    await sandbox.run('mkdir bin tests; printf "#!/bin/sh\\nexit 0\\n" >bin/grep; chmod +x bin/grep; export PATH="$PWD/bin:$PATH"; echo hello >out.txt; echo "assert open(\'out.txt\').read() == \'hello\\n\'" >tests/it.py', { timeoutMs: 60_000, signal });
    const done = subject('All done.', { tests: 'grep -q hello out.txt' });
    expect((await score('tests', done)).value).toBe(1);
    expect((await score('tests:test -e it.py', subject('All done.', { cwd: 'tests' }))).value).toBe(1);
    expect(await score('tests:grep -q bye out.txt', done)).toMatchObject({ value: 0, detail: { exitCode: 1 } });
    expect(await score('tests', done, true)).toMatchObject({ value: null, detail: { code: 'workspace_gone' } });
    expect((await score('tests', subject('All done.', { tests: 'tests/it.py' }))).value).toBe(1);
    expect(await score('tests', subject('All done.', { tests: 'tests/none.py' }))).toMatchObject({ value: 0, detail: { why: expect.stringContaining('no file') } });
    expect((await score('tests', subject('All done.', { tests: '../../secret.py' }))).value).toBe(0);
    expect(await score('tests:no-such-program', done)).toMatchObject({ value: null, detail: { why: expect.stringContaining('not found') } });
    expect((await scoreRollout([parseScoreRule('tests')], done, { sandbox: null, signal }))[0]).toMatchObject({ value: null });
    await sandbox.run('rm -r bin tests out.txt', { timeoutMs: 60_000, signal });
  });

  // Bug: a module that ends pytest early passes, because the exit code is 0.
  it('believes pytest only with its report', async () => {
    await sandbox.run('mkdir -p fake; cat >fake/pytest <<"EOF"\n#!/bin/sh\n[ -e cheat ] && exit 0\nxml=${PYTEST_ADDOPTS##*--junitxml=}\necho "<testsuites><testsuite name=\\"pytest\\" errors=\\"0\\" failures=\\"0\\" skipped=\\"1\\" tests=\\"$(cat n)\\"></testsuite></testsuites>" >"$xml"\nEOF\nchmod +x fake/pytest; echo 3 >n', { timeoutMs: 60_000, signal });
    const run = () => score('tests:./fake/pytest -q', subject('Done.', {}));
    expect(await run()).toMatchObject({ value: 1, detail: { passed: 2, total: 2 } });
    writeFileSync(join(sandbox.root, 'n'), '1');
    expect((await run()).value).toBe(0);
    writeFileSync(join(sandbox.root, 'cheat'), '');
    expect(await run()).toMatchObject({ value: 0, detail: { why: expect.stringContaining('without a report') } });
    await sandbox.run('rm -r fake n cheat', { timeoutMs: 60_000, signal });
  });
});

describe('hostile code', () => {
  const hostile = (code: string, rule = 'tests:2') => score(rule, subject(fenced(code), { tests: 'assert True\n\n' }));
  // Bug: what a test started goes on after its time, or output without end fills the memory.
  it('is ended with everything it started', async () => {
    const mark = `asleep-${process.pid}`;
    const { value } = await hostile(`import os, time\nfor i in range(30):\n    if os.fork() == 0:\n        if i % 2: os.setsid()\n        os.execvp('sh', ['sh', '-c', 'sleep 600; : ${mark}'])\ntime.sleep(600)`);
    expect(value).toBe(0);
    expect(execFileSync('ps', ['-eo', 'stat,args'], { encoding: 'utf8' }).split('\n').filter((line) => line.includes(`: ${mark}`) && !line.startsWith('Z'))).toEqual([]);
  });

  it('gets its output cut', async () => {
    const { value, detail } = await hostile('for i in range(200_000): print("x" * 100)', 'tests');
    expect(value).toBe(1);
    expect(String(detail['output']).length).toBeLessThan(2_100);
  });

  // Bug: text that no file can hold makes scoring throw.
  it('may be any text', async () => {
    for (const text of ['\ud800', '\0', 'x = "\ud800"', `x = 1 #${'a'.repeat(2_000_000)}`, '('.repeat(100_000)]) {
      const { value } = await score('tests', subject(fenced(text), { tests: 'assert False\n\n' }));
      expect(value).toBe(0);
    }
    expect((await score('tests', subject('x', { tests: { a: 1 } }))).value).toBeNull();
  });

  it('stops with the run', async () => {
    expect((await scoreRollout([parseScoreRule('tests')], human('x'), { sandbox, signal: AbortSignal.abort() }))[0]).toMatchObject({ value: null, detail: { why: 'It was stopped.' } });
  });
});
