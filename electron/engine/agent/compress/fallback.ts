import { isRequest, type Message } from '#shared/trajectory.ts';
import { estimateTokens } from '../tokens.ts';
import { cutBody } from './record.ts';
import { firstLine, objectOf, shorten } from './text.ts';

const REQUEST_CHARS = 1_200;
const ANSWER_CHARS = 1_200;
const REQUESTS = 12;
const ANSWERS = 3;
const COMMANDS = 40;
const FILES = 80;
const FAILURES = 6;
const LINE_CHARS = 200;
const LEAST_SCALE = 1 / 16;

/**
 * A summary without a model: what the messages themselves say of requests, files, commands with their exit codes, failures and last
 * answers, at most `maxTokens` long. The same messages give the same text. What did not fit is counted.
 */
export function fallbackRecord(messages: readonly Message[], earlier: string | null, maxTokens: number): string {
  for (let scale = 1; ; scale /= 2) {
    const text = write(messages, earlier && cutBody(earlier, Math.floor(maxTokens / 2)), scale);
    if (estimateTokens(text) <= maxTokens) return text;
    if (scale <= LEAST_SCALE) return cutBody(text, maxTokens);
  }
}

function write(messages: readonly Message[], earlier: string | null, scale: number): string {
  const { commands, read, changed, others, failures } = workOf(messages);
  const chars = (n: number) => Math.ceil(n * scale);
  const requests = messages.filter(isRequest).map((m) => `- “${shorten(m.content.trim(), chars(REQUEST_CHARS))}”`);
  const answers = messages.filter((m) => m.role === 'assistant' && m.content.trim() !== '').map((m) => `- “${shorten(m.content.trim(), chars(ANSWER_CHARS))}”`);
  const latest = (items: readonly string[], most: number, what: string) => {
    const kept = items.slice(-Math.ceil(most * scale));
    return [...(items.length > kept.length ? [`- (${items.length - kept.length} earlier ${what} not listed)`] : []), ...kept];
  };
  const section = (title: string, lines: readonly string[]) => (lines.length > 0 ? `## ${title}\n${lines.join('\n')}` : null);
  return [
    earlier === null ? null : `# Earlier record\n${earlier}\n\n# Since then`,
    section('Goal', ['What the person asked for, in order:', ...latest(requests, REQUESTS, 'requests')]),
    section('Progress', [
      '### Done',
      ...latest(commands, COMMANDS, 'commands'),
      ...(others.length > 0 ? [`- Other calls that succeeded: ${others.join(', ')}`] : []),
      ...(commands.length + others.length + changed.length === 0 ? ['- No tool calls.'] : []),
      ...(changed.length > 0 ? ['- The files below were changed.'] : []),
      '### In progress',
      '- See the messages after this record.',
      ...(failures.length > 0 ? ['### Blocked', 'Calls that failed:', ...latest(failures, FAILURES, 'failures')] : []),
    ]),
    section('Relevant files', [...latest(changed, FILES, 'changed files'), ...latest(read, FILES, 'read files')]),
    section('Critical context', answers.length > 0 ? ['What the agent said last:', ...latest(answers, ANSWERS, 'answers')] : []),
  ]
    .filter((part) => part !== null)
    .join('\n\n');
}

interface Work {
  commands: string[];
  read: string[];
  changed: string[];
  /** Names of other tools with how often. */
  others: string[];
  failures: string[];
}

function workOf(messages: readonly Message[]): Work {
  const commands: string[] = [];
  const failures: string[] = [];
  const read = new Set<string>();
  const changed = new Set<string>();
  const others = new Map<string, number>();
  messages.forEach((message, at) => {
    for (const call of message.toolCalls ?? []) {
      const args = objectOf(call.arguments) ?? {};
      const result = resultOf(messages, at, call.id);
      const path = typeof args['path'] === 'string' ? firstLine(args['path'], LINE_CHARS) : null;
      if (typeof args['command'] === 'string') {
        const code = result ? objectOf(result.content)?.['exit_code'] : undefined;
        const end = !result ? 'no result' : typeof code === 'number' ? `exit code ${code}` : result.isError ? 'failed' : 'done';
        commands.push(`- \`${firstLine(args['command'], LINE_CHARS)}\` → ${end}`);
      } else if (result && !result.isError) {
        if (path === null) others.set(call.name, (others.get(call.name) ?? 0) + 1);
        else (/write|patch|edit|create|delete|move/.test(call.name) ? changed : read).add(path);
      }
      if (result?.isError) failures.push(`- ${[call.name, path].filter(Boolean).join(' ')}: ${complaintOf(result.content)}`);
    }
  });
  return {
    commands,
    failures,
    changed: [...changed].map((path) => `- ${path} (changed)`),
    read: [...read].filter((path) => !changed.has(path)).map((path) => `- ${path} (read)`),
    others: [...others].map(([name, times]) => (times > 1 ? `${name} (${times} times)` : name)),
  };
}

/** The error that a result names, else the last line of its output. */
function complaintOf(content: string): string {
  const result = objectOf(content);
  if (typeof result?.['error'] === 'string') return firstLine(result['error'], LINE_CHARS);
  const output = typeof result?.['output'] === 'string' ? result['output'] : content;
  return shorten(output.trim().split('\n').at(-1)?.trim() ?? '', LINE_CHARS);
}

function resultOf(messages: readonly Message[], at: number, callId: string): Message | null {
  for (let i = at + 1; i < messages.length && messages[i]!.role !== 'assistant'; i++) {
    if (messages[i]!.role === 'tool' && messages[i]!.toolCallId === callId) return messages[i]!;
  }
  return null;
}
