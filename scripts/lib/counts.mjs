/**
 * What the test runners' JSON reports say, as plain counts.
 * @typedef {{name: string, passed: number, failed: number, skipped: number, note?: string}} Suite
 */

/**
 * Counts of a Vitest JSON report. A file that did not load counts as one failure, and so does an error outside the tests.
 * @param {object | undefined} report undefined when the runner died before it wrote one
 * @param {number} exitCode of the runner
 * @returns {Suite}
 */
export function vitestCounts(report, exitCode) {
  const suite = { name: 'units', passed: 0, failed: 0, skipped: 0 };
  for (const file of report?.testResults ?? []) {
    const failedBefore = suite.failed;
    for (const test of file.assertionResults) {
      if (test.status === 'passed') suite.passed += 1;
      else if (test.status === 'failed') suite.failed += 1;
      else suite.skipped += 1;
    }
    if (file.status === 'failed' && suite.failed === failedBefore) suite.failed += 1;
  }
  return withDeath(suite, exitCode);
}

/**
 * Counts of a Playwright JSON report, one suite per project.
 * @param {object | undefined} report undefined when the runner died before it wrote one
 * @param {number} exitCode of the runner
 * @returns {Suite[]}
 */
export function playwrightCounts(report, exitCode) {
  const byProject = new Map();
  const visit = (group) => {
    for (const inner of group.suites ?? []) visit(inner);
    for (const test of (group.specs ?? []).flatMap((spec) => spec.tests)) {
      const suite = byProject.get(test.projectName) ?? { name: `e2e ${test.projectName}`, passed: 0, failed: 0, skipped: 0 };
      byProject.set(test.projectName, suite);
      // "flaky" means that a retry has passed: a test that failed once has failed.
      if (test.status === 'expected') suite.passed += 1;
      else if (test.status === 'skipped') suite.skipped += 1;
      else suite.failed += 1;
    }
  };
  visit(report ?? {});
  const suites = [...byProject.values()];
  const failed = suites.some((suite) => suite.failed > 0);
  if (!failed && (exitCode !== 0 || (report?.errors ?? []).length > 0)) {
    suites.push({ name: 'e2e', passed: 0, failed: 1, skipped: 0, note: 'the runner itself failed, see above' });
  }
  return suites;
}

function withDeath(suite, exitCode) {
  if (exitCode === 0 || suite.failed > 0) return suite;
  return { ...suite, failed: 1, note: 'an error outside the tests, see above' };
}

/** The sum over suites as the last line of a test run: `N passed, N failed`, and `, N skipped` when some were. */
export function countLine(suites) {
  const sum = (key) => suites.reduce((total, suite) => total + suite[key], 0);
  const skipped = sum('skipped');
  return `${sum('passed')} passed, ${sum('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
