import { benchBatch } from './batch.ts';
import { benchPage } from './page.ts';
import { benchStore } from './store.ts';
import { printTable } from './table.ts';

const TRAJECTORIES = 10_000;
const PROMPTS = 256;
const WORKERS = [4, 64];

printTable(`Store with ${TRAJECTORIES} trajectories (median)`, await benchStore(TRAJECTORIES));
printTable(`Batch of ${PROMPTS} prompts, model latency 50 ms, 4 model calls and 3 tool calls each`, await benchBatch(PROMPTS, WORKERS));
printTable(`The page with ${TRAJECTORIES} trajectories`, await benchPage(TRAJECTORIES));
