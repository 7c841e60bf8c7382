import { expect, it } from 'vitest';
import { findDangers } from './dangerous.ts';
import { isReadOnly } from './read-only.ts';

it.each(['ls -la | head', 'cat a b && grep -rn x src | wc -l', 'git status; git log --oneline -5', 'find . -name "*.ts" 2>/dev/null', 'cd src && pwd', 'python3 --version', 'echo $(git rev-parse HEAD)', 'for f in *; do cat "$f"; done', 'A=1 env ls', ''])(
  'makes no checkpoint before: %s',
  (command) => expect(isReadOnly(command)).toBe(true),
);

// a change without a checkpoint before it cannot be undone
it.each(['rm x', 'echo x > f', 'cat a >> b', 'ls && touch x', 'find . -delete', 'find . -exec rm {} +', 'git checkout .', 'git diff --output=f', 'sort -o f f', 'cat $(rm x)', 'echo `touch y`', 'make', './x.sh', 'sed -i s/a/b/ f', 'ls | xargs rm', 'bash -c "rm x"', 'python3 x.py', 'tee f < g', '>f'])(
  'makes one before: %s',
  (command) => expect(isReadOnly(command)).toBe(false),
);

it('finds every rule a chain of commands falls under, each once', () => {
  const rules = (command: string): string[] => findDangers(command, { root: '/srv/w' }).map(({ rule }) => rule);
  expect(rules('sudo x; rm -rf /a; rm -rf /b && echo "$(shutdown now)" > /etc/x; bash -c "kill -9 -1"')).toEqual(['privileges', 'delete_outside', 'write_outside', 'kill_all', 'power']);
  expect(rules('ls')).toEqual([]);
});
