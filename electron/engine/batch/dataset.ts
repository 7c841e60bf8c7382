export { hashFile } from './dataset/file.ts';
export { inspectDataset } from './dataset/inspect.ts';
export { readDataset } from './dataset/read.ts';
export type { DatasetItem, DatasetOptions, DatasetRow } from './dataset/types.ts';
export { cut } from './dataset/words.ts';
