/**
 * Splits growing Markdown into blocks that no longer change and a tail that may: borders are blank lines outside fences, before a
 * line that is neither indented nor a list item (so lists and their paragraphs stay whole).
 * Promise: the blocks joined are `text`; a block but the last stays as it is when text is added.
 */
export function splitBlocks(text: string): string[] {
  const blocks: string[] = [];
  let start = 0;
  let fence: string | null = null;
  let blank = false;
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    // An unfinished line may still become anything: it never opens a border.
    if (end < 0) break;
    const line = text.slice(at, end);
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
    const border = fence === null && blank && line.trim() !== '' && !/^(\s|[-*+]\s|\d+[.)]\s|[-*+]$|\d+[.)]$)/.test(line);
    if (border && at > start) {
      blocks.push(text.slice(start, at));
      start = at;
    }
    if (fence === null && mark?.[1]) fence = mark[1];
    else if (fence !== null && mark?.[1] && mark[1].startsWith(fence) && mark[2]?.trim() === '') fence = null;
    blank = fence === null && line.trim() === '';
    at = end + 1;
  }
  if (start < text.length) blocks.push(text.slice(start));
  return blocks;
}
