import { fencedBlocks } from '../fences.ts';
import type { ScoreSubject } from '../types.ts';

const PYTHON = ['python', 'python3', 'py'];

/**
 * The code that an answer gives: its last fenced block of the row's language (Python when it names none), else its last block without a
 * language, else the whole answer. Null without an answer.
 */
export function codeOfAnswer({ finalAnswer, row }: ScoreSubject): { code: string; fenced: boolean } | null {
  if (finalAnswer === null || finalAnswer.trim() === '') return null;
  const block = lastBlock(finalAnswer, row['language']);
  return block === undefined ? { code: finalAnswer, fenced: false } : { code: block, fenced: true };
}

/** The code that a prompt begins a function with: its last fenced block, else the whole. */
export function codeOfPrompt({ prompt, row }: ScoreSubject): string {
  return lastBlock(prompt, row['language']) ?? prompt;
}

function lastBlock(text: string, language: unknown): string | undefined {
  const names = typeof language === 'string' && language !== '' && !PYTHON.includes(language.toLowerCase()) ? [language.toLowerCase()] : PYTHON;
  const blocks = fencedBlocks(text);
  return (blocks.findLast((b) => names.includes(b.language)) ?? blocks.findLast((b) => b.language === ''))?.text;
}
