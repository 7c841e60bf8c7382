import { createHash } from 'node:crypto';

const LINE = /\n?@@tests ([0-9a-f]{64}) (\d{1,9}) (\d{1,9})\n?/g;

/** The best of the harness's reports that carry the right digest, and the output without them. Null when there is none. */
export function readHarness(output: string, nonce: string): { passed: number; total: number; output: string } | null {
  let best: { passed: number; total: number } | null = null;
  const rest = output.replace(LINE, (line, digest: string, passed: string, total: string) => {
    if (createHash('sha256').update(`${nonce}:${Number(passed)}:${Number(total)}`).digest('hex') !== digest) return line;
    if (best === null || Number(passed) > best.passed) best = { passed: Number(passed), total: Number(total) };
    return '\n';
  });
  return best === null ? null : { ...(best as { passed: number; total: number }), output: rest };
}

/** Counts of a JUnit report as pytest writes it; null when it is none. */
export function readJunit(xml: string | null): { passed: number; total: number } | null {
  const suite = /<testsuite\s[^>]{0,2000}>/.exec(xml ?? '')?.[0];
  if (suite === undefined) return null;
  const count = (name: string): number => Number(new RegExp(`\\s${name}="(\\d{1,9})"`).exec(suite)?.[1] ?? 0);
  const total = count('tests') - count('skipped');
  return { passed: total - count('failures') - count('errors'), total };
}
