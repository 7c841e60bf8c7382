import type { TFunction } from 'i18next';
import type { Finding, Lint } from '#shared/contract/skills.ts';
import type { LineNote } from './editor/CodeEditor.tsx';

export const MAIN_FILE = 'SKILL.md';

/** Something to be said about a skill: of its form, or of what it might do. */
export interface Note extends LineNote {
  file: string;
  /** Null: of the file as a whole. */
  at: number | null;
  /** Of a finding: the category, e.g. "injection". */
  category: string | null;
  excerpt: string | null;
}

const FINDING: Record<Finding['severity'], Note['severity']> = { critical: 'error', high: 'warning', medium: 'info', low: 'info' };
const LINT: Record<Lint['severity'], Note['severity']> = { error: 'error', warning: 'warning', hint: 'info' };
const RANK: Record<Note['severity'], number> = { error: 0, warning: 1, info: 2 };

const CATEGORIES = [
  'injection', 'exfiltration', 'hidden_characters', 'symlink', 'destructive', 'persistence', 'network', 'obfuscation', 'execution', 'traversal', 'mining', 'supply_chain', 'privilege_escalation', 'credential_exposure', 'structure',
] as const;

function isCategory(name: string): name is (typeof CATEGORIES)[number] {
  return (CATEGORIES as readonly string[]).includes(name);
}

/** The kind of a finding in the page's language; as the engine names it when it is a new one. */
export function categoryText(name: string, t: TFunction<'skills'>): string {
  return isCategory(name) ? t(`category.${name}`) : name;
}

/** What was found, in English in the engine's own sentence, which names the details; else in one of ours for its kind. */
export function findingText({ category, message }: Finding, t: TFunction<'skills'>, lang: string): string {
  return lang.startsWith('en') || !isCategory(category) ? message : t(`finding.${category}`);
}

export function lintText({ code, message }: Lint, t: TFunction<'skills'>, lang: string): string {
  return lang.startsWith('en') ? message : t(`lint.${code}`);
}

/** All that is to be said, the worst first. */
export function notesOf(lint: readonly Lint[], findings: readonly Finding[], t: TFunction<'skills'>, lang: string): Note[] {
  const notes: Note[] = [
    ...findings.map((f) => ({
      file: f.file, at: f.line, line: f.line ?? 1, severity: FINDING[f.severity], category: f.category, excerpt: f.excerpt === '' ? null : f.excerpt,
      message: findingText(f, t, lang),
    })),
    ...lint.map((l) => ({ file: MAIN_FILE, at: l.line, line: l.line ?? 1, severity: LINT[l.severity], category: null, excerpt: null, message: lintText(l, t, lang) })),
  ];
  return notes.toSorted((a, b) => RANK[a.severity] - RANK[b.severity] || Number(a.file !== MAIN_FILE) - Number(b.file !== MAIN_FILE) || a.line - b.line);
}
