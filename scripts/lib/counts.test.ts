import { describe, expect, it } from 'vitest';
import { countLine, playwrightCounts, vitestCounts } from './counts.mjs';

describe('counts of Vitest', () => {
  const test = (status: string) => ({ status });

  it('counts a file that did not load, and skipped and todo tests, which would vanish otherwise', () => {
    const report = {
      testResults: [
        { status: 'passed', assertionResults: [test('passed'), test('passed'), test('pending'), test('todo')] },
        { status: 'failed', assertionResults: [test('failed'), test('passed')] },
        { status: 'failed', assertionResults: [] },
      ],
    };
    expect(vitestCounts(report, 1)).toMatchObject({ passed: 3, failed: 2, skipped: 2 });
  });

  it('never calls a run green whose runner has failed or died', () => {
    expect(vitestCounts({ testResults: [{ status: 'passed', assertionResults: [test('passed')] }] }, 1)).toMatchObject({ passed: 1, failed: 1 });
    expect(vitestCounts(undefined, 137)).toMatchObject({ passed: 0, failed: 1 });
  });
});

describe('counts of Playwright', () => {
  const spec = (projectName: string, status: string) => ({ tests: [{ projectName, status }] });

  it('counts by project, through nested groups, with a flaky test as failed', () => {
    const report = {
      suites: [
        { specs: [spec('browser', 'expected'), spec('browser', 'flaky')], suites: [{ specs: [spec('browser', 'unexpected'), spec('shell', 'skipped')] }] },
      ],
    };
    expect(playwrightCounts(report, 1)).toEqual([
      { name: 'e2e browser', passed: 1, failed: 2, skipped: 0 },
      { name: 'e2e shell', passed: 0, failed: 0, skipped: 1 },
    ]);
  });

  it('never calls a run green whose runner has failed or died', () => {
    expect(playwrightCounts({ suites: [{ specs: [spec('browser', 'expected')] }], errors: [{ message: 'x' }] }, 1)).toContainEqual(
      expect.objectContaining({ failed: 1 }),
    );
    expect(playwrightCounts(undefined, 1)).toEqual([expect.objectContaining({ failed: 1 })]);
  });
});

it('leaves out skipped when there are none', () => {
  const suite = { name: 'a', passed: 2, failed: 1, skipped: 0 };
  expect(countLine([suite, suite])).toBe('4 passed, 2 failed');
  expect(countLine([suite, { ...suite, skipped: 3 }])).toBe('4 passed, 2 failed, 3 skipped');
});
