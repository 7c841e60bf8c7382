export interface FencedBlock {
  /** First word after the fence, in small letters; empty when there is none. */
  language: string;
  text: string;
}

/** The fenced code blocks of a Markdown text, in order. One that is never closed goes to the end. */
export function fencedBlocks(text: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { fence: string; language: string; lines: string[] } | null = null;
  for (const line of text.split('\n')) {
    const fence = /^ {0,3}(`{3,20}|~{3,20})/.exec(line)?.[1];
    if (open === null) {
      if (fence !== undefined) open = { fence, language: /^\s*[\w+#-]{1,30}/.exec(line.slice(line.indexOf(fence) + fence.length))?.[0].trim().toLowerCase() ?? '', lines: [] };
    } else if (fence?.startsWith(open.fence) && line.trim() === fence) {
      blocks.push({ language: open.language, text: open.lines.join('\n') });
      open = null;
    } else open.lines.push(line);
  }
  if (open !== null && open.lines.length > 0) blocks.push({ language: open.language, text: open.lines.join('\n') });
  return blocks;
}
