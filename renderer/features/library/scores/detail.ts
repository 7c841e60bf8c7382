import type { Score } from '#shared/contract/scores.ts';

const SHOWN_CHARS = 160;

const WHY_CODES = [
  'no_column', 'no_number_in_row', 'no_answer', 'no_number', 'no_json', 'not_rated', 'no_tests', 'no_sandbox', 'workspace_gone', 'container_gone', 'stopped', 'no_code', 'code_too_long', 'no_python',
  'no_command', 'no_report', 'no_file', 'time_up', 'ended_early',
] as const;
type WhyCode = (typeof WHY_CODES)[number];

export interface ScoreDetail {
  /** Why it has this value, or none: a code that has words of its own, and the sentence as it was stored. */
  why: { code: WhyCode | null; sentence: string; facts: { path?: string; seconds?: number; exitCode?: string } } | null;
  /** What was compared or counted, shortened, in the order in which one asks. */
  facts: { key: 'expected' | 'given' | 'found' | 'tests' | 'exitCode' | 'kept'; text: string }[];
  /** What tests printed. */
  output: string | null;
}

/** The detail of a score in the order in which a person asks for it. What is not known is left out: rules of later versions may say more. */
export function readDetail({ detail }: Score): ScoreDetail {
  const { why, code, seconds, path, expected, given, found, passed, total, exitCode, output, kept } = detail;
  const facts: ScoreDetail['facts'] = [];
  if (expected !== undefined) facts.push({ key: 'expected', text: shorten(Array.isArray(expected) ? expected.map(plain).join(' | ') : plain(expected)) });
  if (given !== undefined) facts.push({ key: 'given', text: shorten(plain(given)) });
  if (found !== undefined) facts.push({ key: 'found', text: shorten(plain(found)) });
  if (typeof passed === 'number' && typeof total === 'number') facts.push({ key: 'tests', text: `${passed} / ${total}` });
  if (exitCode !== undefined && exitCode !== 0 && code !== 'ended_early') facts.push({ key: 'exitCode', text: plain(exitCode) });
  if (kept === true) facts.push({ key: 'kept', text: '' });
  return { why: typeof why === 'string' && why !== '' ? { code: WHY_CODES.find((c) => c === code) ?? null, sentence: why, facts: { ...(typeof seconds === 'number' ? { seconds } : {}), ...(typeof path === 'string' ? { path } : {}), exitCode: plain(exitCode ?? '–') } } : null, facts, output: typeof output === 'string' && output !== '' ? output : null };
}

/** A score or reward: at most three decimals, or three digits of what is smaller; never -0. */
export function scoreText(value: number): string {
  const rounded = Number(value.toFixed(3));
  return Math.abs(value) >= 1e6 || (value !== 0 && rounded === 0) ? String(Number(value.toPrecision(3))) : String(rounded === 0 ? 0 : rounded);
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}
