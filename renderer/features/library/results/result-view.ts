import type { StoredMessage, ToolCall } from '#shared/trajectory.ts';
import { looksLikeDiff } from './diff.ts';

/** How a tool result is drawn. `text` is always the whole of what is shown as text, for copying and cutting. */
export type ResultView =
  | { kind: 'terminal'; text: string; exitCode: number | null; error: string | null }
  | { kind: 'diff'; text: string; error: string | null }
  | { kind: 'file'; text: string; firstLine: number; note: string | null }
  | { kind: 'matches'; matches: { path: string; line: number | null; text: string }[]; total: number | null; text: string }
  | { kind: 'written'; text: string; bytes: number; created: boolean }
  | { kind: 'todos'; text: string; todos: { content: string; status: string }[] }
  /** Addresses with what is known of them: hits of a search, pages that were read. */
  | { kind: 'pages'; text: string; pages: { url: string; title: string; text: string; error: string | null }[] }
  /** What a person, or a model that looked at a picture, answered. */
  | { kind: 'answer'; text: string; answer: string | null }
  | { kind: 'json'; text: string; value: unknown }
  | { kind: 'text'; text: string };

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const whole = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/** Reads JSON that may have been cut inside a string, which is how the engine shortens large results; undefined when it is none. */
export function parseMaybeCut(source: string, cut: boolean): unknown {
  const start = source.trimStart();
  if (!start.startsWith('{') && !start.startsWith('[')) return undefined;
  // The cut may have gone through an escape: then what is left of it goes too.
  const heads = [source, source.replace(/\\(u[0-9a-f]{0,3})?$/i, '')];
  const attempts = cut ? [source, ...['"}', '}', '"]}', '"}]}'].flatMap((close) => heads.map((head) => head + close))] : [source];
  for (const attempt of attempts) {
    try {
      return JSON.parse(attempt) as unknown;
    } catch {
      // the next way to close it
    }
  }
  return undefined;
}

/** Decides from tool name and shape how to draw a result. Never throws; what is not known is JSON or plain text. */
export function viewOfResult(name: string, message: Pick<StoredMessage, 'content' | 'contentBytes'>): ResultView {
  const value = parseMaybeCut(message.content, message.contentBytes !== undefined);
  if (value === undefined) {
    return looksLikeDiff(message.content) ? { kind: 'diff', text: message.content, error: null } : { kind: 'text', text: message.content };
  }
  if (isObject(value)) {
    const known = viewOfObject(name, value);
    if (known) return known;
  }
  return { kind: 'json', value, text: JSON.stringify(value, null, 2) };
}

/** How the result of a call is drawn: what it did to a skill stands in its arguments, everything else in the result. */
export function viewOfCall(call: ToolCall, result: Pick<StoredMessage, 'content' | 'contentBytes'>): ResultView {
  const view = viewOfResult(call.name, result);
  if (call.name !== 'skill_manage' || view.kind !== 'json' || !isObject(view.value) || view.value.success !== true) return view;
  const args = parseMaybeCut(call.arguments, false);
  const diff = isObject(args) ? diffOfSkillChange(args) : null;
  return diff === null ? { kind: 'text', text: text(view.value.message) ?? view.text } : { kind: 'diff', text: diff, error: null };
}

/** What a call of skill_manage wrote, as a unified diff of that place; null for a removal. */
function diffOfSkillChange(args: Json): string | null {
  const before = args.action === 'patch' ? text(args.old_string) : '';
  const after = text(args.action === 'patch' ? args.new_string : args.action === 'write_file' ? args.file_content : args.content);
  if (before === null || after === null) return null;
  const lines = (source: string): string[] => (source === '' ? [] : source.replace(/\n$/, '').split('\n'));
  const [gone, come] = [lines(before), lines(after)];
  const path = text(args.file_path) ?? 'SKILL.md';
  return [`--- ${path}`, `+++ ${path}`, `@@ -1,${gone.length} +1,${come.length} @@`, ...gone.map((line) => `-${line}`), ...come.map((line) => `+${line}`)].join('\n');
}

function viewOfObject(name: string, value: Json): ResultView | null {
  const output = text(value.output) ?? text(value.stdout);
  if (output !== null && ('exit_code' in value || name === 'terminal')) {
    return { kind: 'terminal', text: output, exitCode: whole(value.exit_code), error: text(value.error) };
  }
  const diff = text(value.diff);
  if (diff !== null && diff !== '') return { kind: 'diff', text: diff, error: text(value.error) };
  const content = text(value.content);
  if (content !== null && name === 'read_file') {
    const { lines, firstLine } = unnumber(content);
    return { kind: 'file', text: lines, firstLine: firstLine ?? whole(value.offset) ?? 1, note: text(value.hint) ?? text(value.warning) ?? text(value.error) };
  }
  if (content !== null && name === 'skill_view') {
    const setup = Array.isArray(value.setup) ? value.setup.filter((line) => typeof line === 'string').join(' ') : '';
    return { kind: 'file', text: content, firstLine: 1, note: setup === '' ? null : setup };
  }
  if (name === 'skills_list' && Array.isArray(value.skills) && value.skills.every(isObject)) {
    const skills = value.skills.map((s) => ({ path: text(s.name) ?? '', line: null, text: text(s.description) ?? '' }));
    return { kind: 'matches', matches: skills, total: whole(value.count), text: skills.map((s) => `${s.path}  ${s.text}`).join('\n') };
  }
  const bytes = whole(value.bytes_written);
  if (bytes !== null && name === 'write_file') return { kind: 'written', text: '', bytes, created: value.created === true };
  if (Array.isArray(value.matches) && value.matches.every(isObject)) {
    const matches = value.matches.map((m) => ({
      path: text(m.path) ?? text(m.file) ?? '',
      line: whole(m.line) ?? whole(m.line_number),
      text: text(m.content) ?? text(m.text) ?? '',
    }));
    return { kind: 'matches', matches, total: whole(value.total_count) ?? whole(value.total), text: matches.map((m) => `${m.path}${m.line === null ? '' : `:${m.line}`}  ${m.text}`).join('\n') };
  }
  if (name === 'todo' && Array.isArray(value.todos) && value.todos.every(isObject)) {
    const todos = value.todos.map((t) => ({ content: text(t.content) ?? '', status: text(t.status) ?? '' }));
    return { kind: 'todos', todos, text: todos.map((t) => `- [${t.status === 'completed' ? 'x' : ' '}] ${t.content}`).join('\n') };
  }
  const pages = name === 'web_search' ? value.results : name === 'web_extract' ? value.pages : null;
  if (Array.isArray(pages) && pages.every(isObject)) {
    const read = pages.map((p) => ({ url: text(p.url) ?? '', title: text(p.title) ?? '', text: text(p.snippet) ?? text(p.content) ?? '', error: text(p.error) }));
    return { kind: 'pages', pages: read, text: read.map((p) => `${p.title}\n${p.url}\n${p.error ?? p.text}`).join('\n\n') };
  }
  if ((name === 'clarify' || name === 'vision_analyze') && 'answer' in value && (value.answer === null || typeof value.answer === 'string')) {
    return { kind: 'answer', answer: value.answer, text: value.answer ?? '' };
  }
  if (Array.isArray(value.files) && value.files.every((f) => typeof f === 'string')) {
    const files = value.files as string[];
    return { kind: 'matches', matches: files.map((path) => ({ path, line: null, text: '' })), total: whole(value.total_count), text: files.join('\n') };
  }
  return null;
}

/** Takes "  12|code" or "12\tcode" numbering off, so that the view can set its own numbers. */
function unnumber(content: string): { lines: string; firstLine: number | null } {
  const rows = content.split('\n');
  const body = rows.at(-1) === '' ? rows.slice(0, -1) : rows;
  const pattern = /^\s*(\d+)(?:\||\t|→)(.*)$/s;
  const parts = body.map((row) => pattern.exec(row));
  if (body.length === 0 || !parts.every((p) => p !== null)) return { lines: content, firstLine: null };
  return { lines: parts.map((p) => p?.[2] ?? '').join('\n'), firstLine: Number(parts[0]?.[1]) };
}

/** The arguments of a call as fields; null when they are not a JSON object (the raw text is shown then). */
export function fieldsOf(call: ToolCall): [string, unknown][] | null {
  const value = parseMaybeCut(call.arguments.trim() === '' ? '{}' : call.arguments, false);
  return isObject(value) ? Object.entries(value) : null;
}

/** Of these calls all of the fields that there are tell what they are about. */
const TELLING: Partial<Record<string, readonly string[]>> = {
  skill_view: ['name', 'file_path'],
  skill_manage: ['action', 'name', 'file_path'],
  memory: ['action', 'content', 'old_text', 'operations'],
  spawn_parallel: ['tasks'],
  delegate_task: ['goal', 'prompt', 'tasks'],
};
const MAIN_FIELDS = ['command', 'pattern', 'path', 'query', 'url', 'file_path', 'name', 'goal', 'prompt', 'code', 'action'];

/** The argument that says most, on one line and at most 300 characters; '' when there is none. */
export function mainArgument(call: ToolCall): string {
  const fields = fieldsOf(call);
  if (fields === null) return oneLine(call.arguments);
  const parts = TELLING[call.name]?.map((key) => said(fields.find(([k]) => k === key)?.[1])).filter((part) => part !== '');
  if (parts && parts.length > 0) return oneLine(parts.join(' '));
  const found = MAIN_FIELDS.map((key) => fields.find(([k]) => k === key)).find((f) => typeof f?.[1] === 'string') ?? fields.find(([, v]) => typeof v === 'string') ?? fields[0];
  if (!found) return '';
  const [, value] = found;
  if (Array.isArray(value)) return value.every((v) => typeof v === 'string') ? oneLine(value.join(' ')) : '';
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

/** A text as it is; of a list of tasks or operations what each is about. */
function said(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.slice(0, 20).map((one: unknown) => (isObject(one) ? ([one.goal, one.prompt, one.content, one.old_text].find((v) => typeof v === 'string') ?? '') : said(one))).filter((part) => part !== '').join(' · ');
}

function oneLine(source: string): string {
  return source.slice(0, 600).replace(/\s+/g, ' ').trim().slice(0, 300);
}
