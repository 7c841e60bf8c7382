import type { Client } from '#shared/contract/index.ts';
import type { Attachment } from '#shared/trajectory.ts';
import { toBase64 } from '../../../lib/base64.ts';

/** Bytes per piece and of a whole file: the contract's limits. */
const PIECE_BYTES = 1024 * 1024;
export const MAX_FILE_BYTES = 50 * 1024 * 1024;
export const MAX_ATTACHMENTS = 20;

/** Brings one file to the engine, piece after piece. @param onProgress bytes sent so far */
export async function attachFile(chats: Pick<Client['chats'], 'attach'>, file: Blob & { name: string }, onProgress: (sent: number) => void, signal: AbortSignal): Promise<Attachment> {
  let uploadId: string | undefined;
  for (let at = 0; ; at += PIECE_BYTES) {
    signal.throwIfAborted();
    const end = Math.min(file.size, at + PIECE_BYTES);
    const bytes = new Uint8Array(await file.slice(at, end).arrayBuffer());
    const last = end >= file.size;
    const answer = await chats.attach(
      { ...(uploadId === undefined ? {} : { uploadId }), name: file.name.slice(-255) || 'file', mime: file.type.slice(0, 100), chunk: toBase64(bytes), last },
      { signal },
    );
    uploadId = answer.uploadId;
    onProgress(end);
    if (!last) continue;
    if (answer.attachment === null) throw new Error('The engine did not say what it stored.');
    return answer.attachment;
  }
}
