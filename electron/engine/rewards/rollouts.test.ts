import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../e2e/fakes/fake-model.ts';
import { say } from '../../../e2e/fakes/steps.ts';
import { readRows, withBatch } from '../../../e2e/fixtures/batch-ground.ts';
import { sqlFor } from '../store/database.ts';
import type { Store } from '../store/store.ts';
import { ScoresService } from './service.ts';

const ROLLOUTS = 4;

/** For each question its answers in turn, whichever rollouts they go to. */
function inTurn(answers: (prompt: string) => readonly string[]): (request: ModelRequest) => ReturnType<typeof say> {
  const asked = new Map<string, number>();
  return ({ lastUser }) => {
    const n = asked.get(lastUser) ?? 0;
    asked.set(lastUser, n + 1);
    return say(answers(lastUser)[n] ?? 'asked too often');
  };
}

/** The rewards of each row's rollouts, sorted: which rollout got which answer is left to chance. */
function groups(store: Store): (number | null)[][] {
  const rows = store.db.all(sqlFor.selectFrom('trajectories').select(['prompt_index', 'reward']).orderBy('prompt_index').orderBy('reward'));
  const byRow: (number | null)[][] = [];
  for (const { prompt_index, reward } of rows) (byRow[prompt_index!] ??= []).push(reward);
  return byRow;
}

// Bug: answers and columns of the published shape do not reach the rules, or the scores do not reach store, sums and files.
test('rollouts over a GSM8K-shaped file are scored by number', () =>
  withBatch(async ({ fake, run, dataset, store, dir, service }) => {
    const rows = Array.from({ length: 10 }, (_, i) => ({ question: `A box holds ${i} red and ${i + 1} blue balls, and each weighs 1,000 grams. How many grams?`, answer: `There are ${i}+${i + 1}=<<${i}+${i + 1}=${2 * i + 1}>>${2 * i + 1} balls.\n#### ${((2 * i + 1) * 1000).toLocaleString('en')}` }));
    fake.respond(inTurn((prompt) => {
      const grams = (2 * Number(/holds (\d+)/.exec(prompt)?.[1]) + 1) * 1000;
      return [`Together they weigh ${grams.toLocaleString('en')} grams.`, `\\boxed{${grams} \\text{ g}} with 1,000 each`, `#### ${grams + 1}`, 'I do not know.'];
    }));
    const ended = await run({ datasetFile: dataset(rows), rollouts: ROLLOUTS, numWorkers: 4, filters: [], scoring: ['numeric', 'turns*0.5'] });
    expect(ended).toMatchObject({ state: 'completed', total: 40, rewards: { count: 40, mean: 1 } });
    expect(groups(store)).toEqual(rows.map(() => [0.5, 0.5, 1.5, 1.5]));
    const written = readRows(join(ended.outputDir, 'trajectories.jsonl')) as unknown as { prompt_index: number; reward: number | null }[];
    expect(written.filter((row) => row.reward === 1.5)).toHaveLength(20);

    // by other rules later, with the model gone
    await fake.close();
    const scores = new ScoresService({ db: store.db, home: join(dir, 'home'), now: Date.now, atRest: (id, work) => service.atRest(id, work), changed: () => {} });
    for await (const event of scores.rescore({ runId: ended.id, scoring: ['regex:/boxed/*3'] })) void event;
    expect(groups(store)).toEqual(rows.map(() => [0, 0, 0, 3]));
    // the files follow
    const again = readRows(join(ended.outputDir, 'trajectories.jsonl')) as unknown as { reward: number }[];
    expect(again.filter((row) => row.reward === 3)).toHaveLength(10);
  }), 60_000);

// Bug: tests run elsewhere than in the rollout's sandbox, a loop without end holds a worker, or a cheat is paid for.
test('rollouts over a HumanEval-shaped file are scored by their tests', () =>
  withBatch(async ({ fake, run, dataset, store }) => {
    const rows = Array.from({ length: 10 }, (_, i) => ({
      task_id: `Made/${i}`,
      prompt: `from typing import List\n\n\ndef add_${i}(numbers: List[int]) -> List[int]:\n    """ Adds ${i + 1} to each of the numbers.\n    >>> add_${i}([1])\n    [${i + 2}]\n    """\n`,
      canonical_solution: `    return [n + ${i + 1} for n in numbers]\n`,
      test: `\n\nMETADATA = {'author': 'made up'}\n\n\ndef check(candidate):\n    assert candidate([]) == []\n    assert candidate([1, -2]) == [${i + 2}, ${i - 1}]\n`,
      entry_point: `add_${i}`,
      // what hangs gets little time; nothing there could pass
      ...(i === 9 ? { scoring: 'tests:1' } : {}),
    }));
    const fenced = (code: string): string => `Here:\n\`\`\`python\n${code}\n\`\`\``;
    fake.respond(inTurn((prompt) => {
      const i = Number(/add_(\d)/.exec(prompt)?.[1]);
      const wrong = fenced(`def add_${i}(numbers):\n    return numbers`);
      const cheats = [`import os\nos._exit(0)`, `import sys\nsys.exit(0)`, `def check(candidate):\n    pass\n\ndef add_${i}(numbers): return None`, `import builtins\nbuiltins.exec = lambda *a: None\ndef add_${i}(numbers): return None`];
      if (i === 9) return [fenced(`def add_9(numbers):\n    while True: pass`), wrong, fenced('raise MemoryError()'), fenced(cheats[0]!)];
      return [fenced(`def add_${i}(numbers):\n    return [n + ${i + 1} for n in numbers]`), `    return [n + ${i + 1} for n in numbers]\n`, i % 2 === 0 ? wrong : fenced('1 / 0'), fenced(cheats[i % 4]!)];
    }));
    const ended = await run({ datasetFile: dataset(rows), rollouts: ROLLOUTS, numWorkers: 4, filters: [], scoring: ['tests:60'] });
    expect(ended).toMatchObject({ state: 'completed', total: 40, rewards: { count: 40, mean: 0.45 } });
    expect(groups(store)).toEqual(rows.map((_, i) => (i === 9 ? [0, 0, 0, 0] : [0, 0, 1, 1])));
    const details = store.db.all(sqlFor.selectFrom('scores').select('detail')).map((s) => s.detail);
    expect(details.filter((d) => d.includes('longer than 1 seconds'))).toHaveLength(1);
    expect(details.filter((d) => d.includes('ZeroDivisionError'))).toHaveLength(4);
  }), 120_000);
