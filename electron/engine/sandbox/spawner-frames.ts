/**
 * What the engine and its spawner say to each other: frames of a type (1 byte), the number of the command (4), the length of what
 * follows (4, big-endian as the number), and that many bytes.
 */
export const TO_SPAWNER = {
  /** JSON of a StartFrame. */
  start: 1,
  /** Nobody wants the command's output any more: it is read and dropped. */
  release: 2,
} as const;

export const FROM_SPAWNER = {
  /** It can take commands. */
  ready: 0,
  /** The pid, 4 bytes. */
  started: 1,
  /** The system's error code, as text: the command does not run. */
  failed: 2,
  stdout: 3,
  stderr: 4,
  /** JSON of an ExitFrame. Output may follow. */
  exited: 5,
  /** All its pipes are closed: nothing follows. */
  closed: 6,
} as const;

export interface StartFrame {
  file: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  /** No pipe for stderr. */
  oneStream: boolean;
}

export interface ExitFrame {
  code: number | null;
  signal: NodeJS.Signals | null;
}

const HEAD_BYTES = 9;

/** The head of a frame; its `length` bytes are to follow. */
export function frameHead(type: number, id: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head[0] = type;
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(length, 5);
  return head;
}

export function frame(type: number, id: number, text = ''): Buffer {
  const body = Buffer.from(text);
  return Buffer.concat([frameHead(type, id, body.length), body]);
}

/** Puts frames together from pieces cut anywhere; `onFrame` gets bytes that are its own only until it returns. */
export function createFrameReader(onFrame: (type: number, id: number, body: Buffer) => void): (bytes: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;
  let wanted = HEAD_BYTES;
  return (bytes) => {
    pieces.push(bytes);
    held += bytes.length;
    if (held < wanted) return;
    const all = pieces.length === 1 ? bytes : Buffer.concat(pieces, held);
    let at = 0;
    wanted = HEAD_BYTES;
    while (all.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + all.readUInt32BE(at + 5);
      if (end > all.length) {
        wanted = end - at;
        break;
      }
      onFrame(all[at] ?? 0, all.readUInt32BE(at + 1), all.subarray(at + HEAD_BYTES, end));
      at = end;
    }
    pieces = at === all.length ? [] : [all.subarray(at)];
    held = all.length - at;
  };
}
