import type { Client } from '#shared/contract/index.ts';
import { toBase64 } from '../../../lib/base64.ts';

/** Bytes per piece: the contract's limit. */
export const PIECE_BYTES = 1024 * 1024;

export interface UploadSource {
  name: string;
  size: number;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/**
 * Brings a file to the engine in pieces, one after the other; an empty file is one empty piece.
 * @param onProgress bytes sent so far
 * @returns the path on the engine's machine
 */
export async function uploadFile(
  datasets: Pick<Client['datasets'], 'upload'>,
  file: UploadSource,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<string> {
  let uploadId: string | undefined;
  for (let at = 0; ; at += PIECE_BYTES) {
    signal.throwIfAborted();
    const end = Math.min(file.size, at + PIECE_BYTES);
    const bytes = new Uint8Array(await file.slice(at, end).arrayBuffer());
    const last = end >= file.size;
    const answer = await datasets.upload(
      { ...(uploadId === undefined ? {} : { uploadId }), name: file.name.slice(-255), chunk: toBase64(bytes), last },
      { signal },
    );
    uploadId = answer.uploadId;
    onProgress(end);
    if (last) {
      if (answer.path === null) throw new Error('The engine did not say where it put the file.');
      return answer.path;
    }
  }
}
