import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEnvFile, setInEnvFile } from './env-file.ts';

const read = (text: string): Record<string, string> => Object.fromEntries(parseEnvFile(text).values);

describe('parseEnvFile', () => {
  // Bug: a file saved by an editor on Windows, or with `export`, yields names or keys with stray characters.
  it('takes BOM, CRLF, export, comments and blanks', () => {
    expect(read('\uFEFFA=1\r\nexport B = two words \r\n\r\n# C=3\r\n  D=x#y # note\r\nE=\r\nF= # only a note')).toEqual({
      A: '1',
      B: 'two words',
      D: 'x#y',
      E: '',
      F: '',
    });
  });

  // Bug: a "#" or "=" inside a quoted key cuts it; escapes are seen in single quotes.
  it('takes quotes', () => {
    expect(read(`A='a # b \\n'\nB="a\\n\\"b\\" \\$x \\q" # note\nC="two\nlines"\nD=a=b`)).toEqual({
      A: 'a # b \\n',
      B: 'a\n"b" $x \\q',
      C: 'two\nlines',
      D: 'a=b',
    });
  });

  // Bug: the last line wins nowhere, or a broken line swallows the rest of the file, or its text (a key!) lands in a log.
  it('reports broken lines by number and goes on', () => {
    const { values, problems } = parseEnvFile('A=1\nsk-secret-secret\nB="open\nA=2\nC=\'x\' y');
    expect(Object.fromEntries(values)).toEqual({ A: '2' });
    expect(problems).toHaveLength(3);
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(['line 2', 'line 3', 'line 5']);
    expect(problems.join()).not.toContain('secret');
  });
});

describe('setInEnvFile', () => {
  // Bug: setting a key loses the person's comments or other variables, or leaves an older assignment that wins.
  it('changes only its own line', () => {
    const text = '# mine\r\nA=1\r\nB="x\r\ny"\r\nA=2 # why\r\nC=3';
    expect(setInEnvFile(text, 'A', 'new')).toBe('# mine\r\nB="x\r\ny"\r\nA=new\r\nC=3');
    expect(setInEnvFile(text, 'A', null)).toBe('# mine\r\nB="x\r\ny"\r\nC=3');
    expect(setInEnvFile(text, 'D', '4')).toBe(`${text}\r\nD=4\r\n`);
    expect(setInEnvFile('', 'A', '1')).toBe('A=1\n');
    expect(() => setInEnvFile('', 'A=B\nC', '1')).toThrow(RangeError);
  });

  // Bug: some character of a key breaks the file or comes back changed.
  it('gives back any value, and keeps all others', () => {
    const value = fc.string({ unit: fc.constantFrom('a', ' ', '"', "'", '#', '\\', '$', '\n', '\r', '=', '密', '`', '\t') });
    const name = fc.constantFrom('A', 'B', 'C');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (sets) => {
        let text = '\uFEFF# head\nZ=z\n';
        const expected: Record<string, string> = { Z: 'z' };
        for (const [key, content] of sets) {
          text = setInEnvFile(text, key, content);
          expected[key] = content;
        }
        expect(read(text)).toEqual(expected);
        expect(parseEnvFile(text).problems).toEqual([]);
      }),
    );
  });
});
