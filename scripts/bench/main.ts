import { benchStore } from './store.ts';
import { printTable } from './table.ts';

const COUNT = 10_000;

printTable(`Store with ${COUNT} trajectories (median)`, await benchStore(COUNT));
