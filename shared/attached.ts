import type { Attachment } from './trajectory.ts';

/**
 * The text of a message with one line for each file that came with it, so that models without eyes and readers of the data know of them.
 * @param attachments with the path in the workspace.
 */
export function withAttached(text: string, attachments: readonly Attachment[]): string {
  return attachments.length === 0 ? text : `${text}${text === '' ? '' : '\n\n'}${linesOf(attachments)}`;
}

/** What the person typed: the content of a user message without the lines that `withAttached` put behind it. */
export function typedText(content: string, attachments: readonly Attachment[] = []): string {
  if (attachments.length === 0) return content;
  const lines = linesOf(attachments);
  if (content === lines) return '';
  return content.endsWith(`\n\n${lines}`) ? content.slice(0, -lines.length - 2) : content;
}

function linesOf(attachments: readonly Attachment[]): string {
  return attachments.map((a) => `[Attached ${a.kind}: ${a.path ?? a.name}, ${sizeOf(a.bytes)}]`).join('\n');
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kb = bytes / 1024;
  return kb < 1024 ? `${Math.round(kb)} KB` : `${(kb / 1024).toFixed(1)} MB`;
}
