import type { RowColumn } from '#shared/contract/datasets.ts';
import type { DatasetShape } from '#shared/contract/run-spec.ts';
import { boxedOf, finalNumberOf, jsonList, lines, sweBenchImage, textIn, withSetUp } from './shape-values.ts';

/** One thing that a shape needs, the columns it may be in (the first that is there), and what becomes of it. */
export interface Role {
  from: readonly string[];
  to: readonly string[];
  required?: boolean;
}

/** What a row becomes: our columns, and what only scoring or a reader of the run wants to know, in `info`. */
export type ShapedRow = Partial<Record<Exclude<RowColumn, 'info'>, unknown>> & { info?: Record<string, unknown> };

export interface Shape {
  roles: Record<string, Role>;
  /** Whether the first rows look like it; the required roles are there. */
  fits: (sample: readonly Record<string, unknown>[], has: (role: string) => boolean, value: (row: Record<string, unknown>, role: string) => unknown) => boolean;
  /** Values by role. */
  read: (value: Record<string, unknown>) => ShapedRow;
  scoring: readonly string[];
}

/*
 * What is made of the published shapes. Columns that are not named here are carried through as they are.
 *
 * shape      prompt                                    answer                  tests                         info                     scoring
 * gsm8k      question + "end with #### number"         number after ####       -                             solution                 numeric
 * humaneval  the stub, to be completed as a whole      -                       test + check(entry_point)     stub, canonical_solution tests
 * mbpp       text + the asserts                        -                       set-up + assert, each         code, challenge_tests    tests
 * math       problem + "put it in \boxed{}"            answer, or last \boxed  -                             solution                 numeric
 * swe_bench  the issue, without hints                  -                       -                             all but repo and commit  (none: needs its image)
 * plain      prompt, question, instruction(+input) …   answer, output …        tests                         info                     exact with an answer
 *
 * `tests` is a whole Python program once the solution's code is put before it; for MBPP a list of such programs, one per assert.
 */
export const SHAPES: Record<Exclude<DatasetShape, 'auto' | 'plain'>, Shape> = {
  swe_bench: {
    roles: {
      id: { from: ['instance_id'], to: ['id', 'prompt'], required: true },
      repo: { from: ['repo'], to: ['prompt', 'info.repo'], required: true },
      commit: { from: ['base_commit'], to: ['prompt', 'info.base_commit'], required: true },
      problem: { from: ['problem_statement'], to: ['prompt'], required: true },
      image: { from: ['image', 'docker_image', 'image_name'], to: ['image'] },
      hints: { from: ['hints_text'], to: ['info.hints_text'] },
      patch: { from: ['patch'], to: ['info.patch'] },
      testPatch: { from: ['test_patch'], to: ['info.test_patch'] },
      failToPass: { from: ['FAIL_TO_PASS'], to: ['info.FAIL_TO_PASS'] },
      passToPass: { from: ['PASS_TO_PASS'], to: ['info.PASS_TO_PASS'] },
      setUp: { from: ['environment_setup_commit'], to: ['info.environment_setup_commit'] },
    },
    fits: () => true,
    read: (v) => ({
      id: v.id,
      ...(textIn(v.problem) ? { prompt: `Resolve this issue in the repository ${String(v.repo)} (at commit ${String(v.commit)}) by changing its code. Do not change its tests.\n\n<issue>\n${v.problem.trim()}\n</issue>` } : {}),
      ...(textIn(v.image) ? { image: v.image } : {}),
      info: {
        repo: v.repo,
        base_commit: v.commit,
        image: textIn(v.image) ? v.image : textIn(v.id) ? sweBenchImage(v.id) : undefined,
        hints_text: v.hints,
        patch: v.patch,
        test_patch: v.testPatch,
        FAIL_TO_PASS: jsonList(v.failToPass),
        PASS_TO_PASS: jsonList(v.passToPass),
        environment_setup_commit: v.setUp,
      },
    }),
    scoring: [],
  },
  humaneval: {
    roles: {
      stub: { from: ['prompt'], to: ['prompt', 'info.stub'], required: true },
      test: { from: ['test'], to: ['tests'], required: true },
      entry: { from: ['entry_point'], to: ['entry_point', 'tests'], required: true },
      id: { from: ['task_id'], to: ['id'] },
      solution: { from: ['canonical_solution'], to: ['info.canonical_solution'] },
    },
    fits: (sample, _has, value) => sample.some((row) => /\bdef\s+check\s*\(/.test(String(value(row, 'test')))),
    read: (v) => ({
      id: v.id,
      ...(textIn(v.stub) ? { prompt: `Complete this Python function. Answer with one Python code block that holds the whole function and the imports it needs.\n\n\`\`\`python\n${v.stub.trimEnd()}\n\`\`\`` } : {}),
      entry_point: v.entry,
      tests: textIn(v.test) ? `${v.test.trim()}\n\n\ncheck(${String(v.entry)})\n` : v.test,
      info: { stub: v.stub, canonical_solution: v.solution },
    }),
    scoring: ['tests'],
  },
  mbpp: {
    roles: {
      text: { from: ['text', 'prompt'], to: ['prompt'], required: true },
      asserts: { from: ['test_list'], to: ['prompt', 'tests'], required: true },
      setUp: { from: ['test_setup_code', 'test_imports'], to: ['tests'] },
      id: { from: ['task_id'], to: ['id'] },
      code: { from: ['code'], to: ['info.code'] },
      challenge: { from: ['challenge_test_list'], to: ['info.challenge_tests'] },
    },
    fits: () => true,
    read: (v) => {
      const asserts = lines(v.asserts);
      return {
        id: v.id,
        ...(textIn(v.text)
          ? { prompt: `${v.text.trim()}\n\nWrite it in Python. Your code must pass these tests:\n\n\`\`\`python\n${asserts ?? ''}\n\`\`\`\n\nAnswer with one Python code block that holds the whole code and the imports it needs.` }
          : {}),
        tests: withSetUp(v.asserts, lines(v.setUp)),
        info: { code: v.code, challenge_tests: jsonList(v.challenge) },
      };
    },
    scoring: ['tests'],
  },
  math: {
    roles: {
      problem: { from: ['problem'], to: ['prompt'], required: true },
      solution: { from: ['solution'], to: ['answer', 'info.solution'] },
      answer: { from: ['answer'], to: ['answer'] },
      id: { from: ['unique_id'], to: ['id'] },
    },
    fits: (sample, has, value) => has('answer') || sample.some((row) => boxedOf(value(row, 'solution')) !== null),
    read: (v) => ({
      id: v.id,
      ...(textIn(v.problem) ? { prompt: `${v.problem.trim()}\n\nPut your final answer in \\boxed{}.` } : {}),
      answer: v.answer ?? boxedOf(v.solution),
      info: { solution: v.solution },
    }),
    scoring: ['numeric'],
  },
  gsm8k: {
    roles: {
      question: { from: ['question'], to: ['prompt'], required: true },
      answer: { from: ['answer'], to: ['answer', 'info.solution'], required: true },
    },
    fits: (sample, _has, value) => sample.some((row) => /^#### ?\S/m.test(String(value(row, 'answer')))),
    read: (v) => ({
      ...(textIn(v.question) ? { prompt: `${v.question.trim()}\n\nEnd your answer with a line that has only #### and the final number.` } : {}),
      answer: finalNumberOf(v.answer),
      info: { solution: v.answer },
    }),
    scoring: ['numeric'],
  },
};

/** Our columns in plain files, by the names they have there; the first that is there is taken. */
export const PLAIN: Partial<Record<RowColumn, readonly string[]>> = {
  prompt: ['prompt', 'question', 'instruction', 'problem', 'query', 'task', 'problem_statement', 'messages', 'conversations', 'conversation', 'text'],
  answer: ['answer', 'output', 'response', 'completion', 'target', 'expected_answer'],
  system: ['system', 'system_prompt'],
  image: ['image', 'docker_image'],
};
