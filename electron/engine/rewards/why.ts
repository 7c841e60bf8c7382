/** Why a score is what it is. The page has its own words for each code; `why` is for files and the command line. */
const SENTENCES = {
  no_column: () => 'The row has no answer to compare with.',
  no_number_in_row: () => 'The row’s answer holds no number.',
  no_answer: () => 'There is no final answer.',
  no_number: () => 'The final answer holds no number.',
  no_json: () => 'The final answer holds no JSON.',
  not_rated: () => 'Nobody has rated it.',
  no_tests: () => 'The row has no tests.',
  no_sandbox: () => 'There is no sandbox to run tests in.',
  workspace_gone: () => 'These tests need the attempt’s workspace, which is gone.',
  container_gone: () => 'These tests ran in the container of their row, which is gone.',
  stopped: () => 'It was stopped.',
  no_code: () => 'Neither the final answer nor the workspace holds any code.',
  code_too_long: () => 'The code is too long to be tested.',
  no_python: () => 'Python was not found in the sandbox.',
  no_command: () => 'The command was not found in the sandbox.',
  no_report: () => 'pytest ended without a report of its tests.',
  no_file: ({ path }: { path?: string }) => `There is no file ${path} in the workspace.`,
  time_up: ({ seconds }: { seconds?: number }) => `It took longer than ${seconds} seconds.`,
  ended_early: ({ exitCode }: { exitCode?: number | null }) => `The code ended the program before its tests were through (exit code ${exitCode}).`,
} as const;

/** For the detail of a score: the code, its sentence, and what the sentence is about. */
export function because(code: keyof typeof SENTENCES, facts: { path?: string; seconds?: number; exitCode?: number | null } = {}) {
  return { code, why: SENTENCES[code](facts), ...facts };
}
