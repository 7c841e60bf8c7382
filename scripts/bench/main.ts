/** `npm run bench [-- store batch factory page chat skills]`: prints a table for each benchmark. */
import { benchBatch } from './batch.ts';
import { benchFactory } from './factory.ts';
import { benchChat } from './chat.ts';
import { Ground } from './ground.ts';
import { benchPage } from './page.ts';
import { benchSkills } from './skills.ts';
import { benchStore } from './store.ts';
import { printTable, type Row } from './table.ts';

const TRAJECTORIES = 10_000;
const CHAT_MESSAGES = 5_000;
const SKILLS = 1_000;
const PROMPTS = 256;
const WORKERS = [4, 64, 256];
const MANY_PROMPTS = Number(process.env['BENCH_PROMPTS'] ?? 100_000);
const USAGE = 2;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

interface Bench {
  title: string;
  run(ground: Ground): Promise<Row[]>;
}

const BENCHES: Record<string, Bench> = {
  store: { title: `Store with ${TRAJECTORIES} trajectories (median)`, run: (ground) => benchStore(ground, TRAJECTORIES) },
  batch: {
    title: `Batch of ${PROMPTS} prompts, model latency 50 ms, 4 model calls and 3 tool calls each`,
    run: (ground) => benchBatch(ground, PROMPTS, WORKERS),
  },
  factory: { title: `One run of ${MANY_PROMPTS} prompts, model latency 0 (BENCH_PROMPTS sets how many)`, run: (ground) => benchFactory(ground, MANY_PROMPTS) },
  page: { title: `The page with ${TRAJECTORIES} trajectories`, run: (ground) => benchPage(ground, TRAJECTORIES) },
  chat: { title: `The chat page with ${CHAT_MESSAGES} messages, and 2,000 tokens a second`, run: (ground) => benchChat(ground, CHAT_MESSAGES) },
  skills: { title: `The Skills screen with ${SKILLS} skills`, run: (ground) => benchSkills(ground, SKILLS) },
};

async function main(args: readonly string[]): Promise<number> {
  const names = Object.keys(BENCHES);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(['Usage: npm run bench [-- NAME …]', '', ...names.map((name) => `  ${name.padEnd(9)}${BENCHES[name]?.title}`), '', 'Without a name all of them, one after the other.'].join('\n'));
    return 0;
  }
  const unknown = args.filter((name) => !Object.hasOwn(BENCHES, name));
  if (unknown.length > 0) {
    console.error(`There is no benchmark ${unknown.join(', ')}. There are: ${names.join(', ')}.`);
    return USAGE;
  }
  let ground = new Ground();
  let stopped = false;
  let failed = false;
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      stopped = true;
      void ground.clear().then(() => process.exit(code));
    });
  }
  for (const name of args.length > 0 ? args : names) {
    const bench = BENCHES[name];
    if (!bench || stopped) continue;
    ground = new Ground();
    try {
      printTable(bench.title, await bench.run(ground));
    } catch (error) {
      // what fails because its ground is being cleared is no news
      if (!stopped) console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      failed = true;
    } finally {
      await ground.clear();
    }
  }
  return failed ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
