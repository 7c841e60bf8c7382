import type { ToolCall } from '#shared/trajectory.ts';
import { textOf } from '../json.ts';

export type PlannedCall = Pick<ToolCall, 'name' | 'arguments'>;

/**
 * The call as it can be made with the tools that are offered: itself, or, for a file tool that is not offered, the same work
 * by a shell command. Null when it cannot be done.
 */
export function offeredCall(tool: string, args: Record<string, unknown>, offered: ReadonlySet<string>): PlannedCall | null {
  if (offered.has(tool)) return { name: tool, arguments: JSON.stringify(args) };
  const command = offered.has('terminal') ? shellFor(tool, args) : null;
  return command === null ? null : { name: 'terminal', arguments: JSON.stringify({ command }) };
}

function shellFor(tool: string, args: Record<string, unknown>): string | null {
  const path = textOf(args.path) || '.';
  switch (tool) {
    case 'write_file':
      return writeCommand(path, textOf(args.content));
    case 'read_file':
      return `cat -n ${quote(path)}`;
    case 'search_files':
      if (args.target === 'files') return `find ${quote(path)} -type f -name ${quote(textOf(args.pattern))}`;
      return `grep -rnE ${quote(textOf(args.pattern))} ${quote(path)}`;
    case 'patch':
      return patchCommand(path, textOf(args.old_string), textOf(args.new_string));
    default:
      return null;
  }
}

function writeCommand(path: string, content: string): string {
  const at = path.lastIndexOf('/');
  const folder = at > 0 ? `mkdir -p ${quote(path.slice(0, at))} && ` : '';
  return `${folder}cat > ${quote(path)} <<'END_OF_FILE'\n${content}${content.endsWith('\n') ? '' : '\n'}END_OF_FILE`;
}

/** JSON strings are Python strings as well. */
function patchCommand(path: string, before: string, after: string): string {
  const script = [
    'from pathlib import Path',
    `file = Path(${JSON.stringify(path)})`,
    'text = file.read_text(encoding="utf-8")',
    `old = ${JSON.stringify(before)}`,
    'assert text.count(old) == 1, "the text to replace must occur exactly once"',
    `file.write_text(text.replace(old, ${JSON.stringify(after)}), encoding="utf-8")`,
  ];
  return `python3 - <<'END_OF_SCRIPT'\n${script.join('\n')}\nEND_OF_SCRIPT`;
}

function quote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
