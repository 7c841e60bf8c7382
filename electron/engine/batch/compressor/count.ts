import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { BatchError, systemCode } from '../errors.ts';

const CHARS_PER_TOKEN = 4;

export interface Counter {
  count: (text: string) => number;
  /** For people: whose tokens are counted. */
  name: string;
}

/**
 * Counts tokens with a folder's tokenizer.json (and tokenizer_config.json), or estimates them as a quarter of the characters.
 * Throws BatchError `invalid` when there is no tokenizer in the folder that can be read.
 */
export async function counterOf(folder: string | undefined): Promise<Counter> {
  if (folder === undefined) return { count: (text) => Math.ceil(text.length / CHARS_PER_TOKEN), name: 'estimate' };
  const tokenizer = new Tokenizer(await json(folder, 'tokenizer.json', null), await json(folder, 'tokenizer_config.json', {}));
  return { count: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length, name: folder };
}

async function json(folder: string, name: string, absent: object | null): Promise<object> {
  try {
    return JSON.parse(await readFile(join(folder, name), 'utf8')) as object;
  } catch (error) {
    const isAbsent = ['ENOENT', 'ENOTDIR'].includes(systemCode(error));
    if (isAbsent && absent !== null) return absent;
    const why = isAbsent ? `holds no ${name}` : `has a ${name} that cannot be read (${error instanceof Error ? error.message : String(error)})`;
    throw new BatchError('invalid', `${folder} ${why}. Give the folder of a tokenizer as Hugging Face models have it, or none for an estimate.`, { field: 'tokenizer', cause: error });
  }
}
