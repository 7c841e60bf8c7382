import { readFile, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Message } from '#shared/trajectory.ts';
import { BatchError, systemCode } from '../errors.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const FIELD = 'prefillMessagesFile';

/**
 * Messages that are put before each conversation when the model is asked, from a JSON list of `{role: "system" | "user" | "assistant",
 * content: text}`, as Hermes' runner takes it. They are never stored.
 * @throws BatchError `invalid`, with the number of the message that is wrong, from 1.
 */
export async function readPrefill(file: string): Promise<Message[]> {
  if (!isAbsolute(file)) throw bad('Give the whole path of the file with messages.');
  const text = await read(file);
  let list: unknown;
  try {
    list = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw bad(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}`, error);
  }
  if (!Array.isArray(list)) throw bad(`${file} must hold a JSON list of messages, each with "role" and "content".`);
  return list.map((entry: unknown, at) => messageOf(entry, `Message ${at + 1} of ${file}`));
}

function messageOf(entry: unknown, which: string): Message {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) throw bad(`${which} must be an object with "role" and "content".`);
  const { role, content } = entry as { role?: unknown; content?: unknown };
  if (role !== 'system' && role !== 'user' && role !== 'assistant') throw bad(`${which} has the role ${JSON.stringify(role) ?? 'nothing'}: take "system", "user" or "assistant".`);
  if (typeof content !== 'string' || content === '') throw bad(`${which} has no text as "content".`);
  return { role, content, createdAt: 0 };
}

async function read(file: string): Promise<string> {
  try {
    const facts = await stat(file);
    if (!facts.isFile()) throw bad(`${file} is not a file.`);
    if (facts.size > MAX_BYTES) throw bad(`${file} is larger than ${MAX_BYTES / 1024 / 1024} MiB: so much cannot be put before each conversation.`);
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof BatchError) throw error;
    if (error instanceof TypeError) throw bad(`${file} is not UTF-8 text.`, error);
    const code = systemCode(error);
    throw bad(code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read (${code || String(error)}).`, error);
  }
}

function bad(message: string, cause?: unknown): BatchError {
  return new BatchError('invalid', message, { field: FIELD, cause });
}
