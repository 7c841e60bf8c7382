/** Where a command writes: answers on `out`, everything about them on `err`. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** Width of a real terminal on `err`; null for a file or pipe. */
  columns(): number | null;
  /** Writes to `err` as it is. */
  raw(text: string): void;
}

export function processTerminal(): Terminal {
  // `talaria … | head` closes the pipe early: nothing to complain about
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    columns: () => (process.stderr.isTTY ? process.stderr.columns || 80 : null),
    raw: (text) => void process.stderr.write(text),
  };
}

/** Text from outside on one line, without anything that steers a terminal. */
export function plain(text: string): string {
  return text.replace(/[\s\u2028\u2029]+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '').trim();
}

/** Milliseconds as `0.4 s`, `12 s`, `3 min 5 s` or `2 h 10 min`. */
export function duration(ms: number): string {
  const s = ms / 1000;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  const whole = Math.round(s);
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;
}
