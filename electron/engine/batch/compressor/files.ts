import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BatchError, systemCode } from '../errors.ts';

/** A longer line is an error: it would have to be held whole. */
const MAX_LINE_BYTES = 512 * 1024 * 1024;
const JSONL = /\.jsonl(?:\.gz)?$/i;

export interface InOut {
  input: string;
  output: string;
}

/**
 * The files of a pass: one, or those of a folder by name. What earlier passes wrote into the folder (by the suffix) is no input.
 * @param output file, or folder when the input is one; beside the input when absent
 */
export async function filesOf(path: string, output: string | undefined, suffix: string): Promise<InOut[]> {
  const info = await stat(path).catch((error: unknown) => {
    throw systemCode(error) === 'ENOENT' ? invalid(`There is no file or folder ${path}.`) : invalid(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  });
  if (!info.isDirectory()) {
    if (!info.isFile()) throw invalid(`${path} is not a regular file.`);
    return [{ input: path, output: output ?? join(dirname(path), renamed(path, suffix)) }];
  }
  const names = (await readdir(path)).filter((name) => JSONL.test(name) && !name.replace(JSONL, '').endsWith(suffix)).sort();
  if (names.length === 0) throw invalid(`${path} holds no .jsonl file.`);
  return names.map((name) => ({ input: join(path, name), output: join(output ?? path, output === undefined ? renamed(name, suffix) : basename(name).replace(/\.gz$/i, '')) }));
}

function renamed(path: string, suffix: string): string {
  return `${basename(path).replace(JSONL, '')}${suffix}.jsonl`;
}

/** Lines of a file that may be gzipped (by its name), without their line ends; a last one without an end counts too. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  const raw = createReadStream(path);
  const source = /\.gz$/i.test(path) ? pipeline(raw, createGunzip(), () => {}) : raw;
  let rest: Buffer[] = [];
  let held = 0;
  const line = (): string => {
    const bytes = Buffer.concat(rest);
    rest = [];
    held = 0;
    return bytes.toString('utf8').replace(/\r$/, '');
  };
  for await (const chunk of source as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      rest.push(chunk.subarray(from, at));
      from = at + 1;
      yield line();
    }
    rest.push(chunk.subarray(from));
    held += chunk.length - from;
    if (held > MAX_LINE_BYTES) throw invalid(`${path} has a line of more than ${MAX_LINE_BYTES / 2 ** 20} MB: it is no JSONL file.`);
  }
  if (held > 0) yield line();
}

function invalid(sentence: string): BatchError {
  return new BatchError('invalid', sentence, { field: 'source' });
}
