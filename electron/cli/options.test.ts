import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeOptions, parseOptions, UsageError } from './options.ts';

const defs = {
  run_name: { kind: 'text', value: 'NAME', help: 'Name.', required: true },
  num_workers: { kind: 'number', value: 'N', help: 'Workers.', min: 1, max: 512 },
  effort: { kind: 'text', value: 'EFFORT', help: 'Effort.', choices: ['low', 'high'] },
  resume: { kind: 'flag', help: 'Go on.' },
} as const;

// people copy commands in either form; a form that is taken for something else starts the wrong run
test('both forms, dashes and underscores mean the same', () => {
  const wanted = { run_name: 'a=b', num_workers: 8, resume: true };
  for (const args of [
    ['--run_name=a=b', '--num_workers=8', '--resume'],
    ['--run-name', 'a=b', '--num-workers', '8', '--resume=true'],
    ['--resume', '--run_name', 'a=b', '--num_workers=8'],
  ]) {
    expect(parseOptions(defs, args)).toEqual(wanted);
  }
  expect(parseOptions(defs, ['--run_name=x', '--resume=false'])).toEqual({ run_name: 'x', resume: false });
  expect(parseOptions(defs, ['--nonsense', '--help'])).toBe('help');
});

test.each([
  [['--run_nam=x'], 'There is no option --run_nam. Did you mean --run_name?'],
  [['--num-worker', '3'], 'There is no option --num-worker. Did you mean --num_workers?'],
  [['--zzzzzzzzz'], 'There is no option --zzzzzzzzz. There are: --run_name, --num_workers, --effort, --resume.'],
  [['--constructor=x'], 'There is no option --constructor. There are: --run_name, --num_workers, --effort, --resume.'],
  [[], '--run_name must be given.'],
  [['--run_name'], '--run_name needs a value: --run_name=NAME.'],
  // the next option must not be eaten as the value
  [['--run_name', '--resume'], '--run_name needs a value: --run_name=NAME.'],
  [['--run_name=x', '--num_workers=0'], '--num_workers must be a whole number from 1 to 512, not "0".'],
  [['--run_name=x', '--num_workers=4x'], '--num_workers must be a whole number from 1 to 512, not "4x".'],
  [['--run_name=x', '--num_workers', '-3'], '--num_workers must be a whole number from 1 to 512, not "-3".'],
  [['--run_name=x', '--effort=much'], '--effort cannot be "much". It is one of: low, high.'],
  [['--run_name=x', '--resume=perhaps'], '--resume is a switch: give it without a value.'],
  [['--run_name=x', '--run-name=y'], '--run_name is given twice.'],
  [['x'], '"x" is not an option. Options are written --name=value.'],
])('%j is refused: %s', (args, message) => {
  expect(() => parseOptions(defs, args)).toThrow(new UsageError(message));
});

test('any arguments are parsed or refused in words', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('--run_name', '--run_name=', '--resume', '--', '--=')), { maxLength: 5 }), (args) => {
      try {
        parseOptions(defs, args);
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
      }
    }),
  );
});

test('the help names every option', () => {
  expect(describeOptions(defs)).toBe(
    ['  --run_name=NAME  Name. Required.', '  --num_workers=N  Workers.', '  --effort=EFFORT  Effort. One of: low, high.', '  --resume         Go on.'].join('\n'),
  );
});
