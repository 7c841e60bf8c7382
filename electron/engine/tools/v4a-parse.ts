import { ToolError } from './define.ts';

export interface HunkLine {
  kind: 'keep' | 'remove' | 'add';
  text: string;
}

export interface Hunk {
  /** Texts after `@@`, outermost first: lines that stand somewhere above the change. */
  anchors: string[];
  lines: HunkLine[];
  atEnd: boolean;
  /** Where it starts in the patch, for messages. */
  patchLine: number;
}

export type FileChange =
  | { kind: 'add'; path: string; lines: string[] }
  | { kind: 'delete'; path: string }
  | { kind: 'move'; path: string; to: string }
  | { kind: 'update'; path: string; to: string | null; hunks: Hunk[] };

const HEADER = /^\*\*\* (Add|Update|Delete|Move) File: *(.+?) *$/;
const EXAMPLE = '*** Begin Patch\n*** Update File: src/a.py\n@@ def greet():\n-    return "hi"\n+    return "hello"\n*** End Patch';

/**
 * Reads a patch in the V4A format (OpenAI's apply_patch; `*** Move File: a -> b` as Hermes has it). The Begin and End lines may
 * be missing, and a code fence around the patch is passed over.
 * @throws ToolError that names the line of the patch and shows a correct one.
 */
export function parseV4A(text: string): FileChange[] {
  return new Parser(text).run();
}

class Parser {
  private readonly lines: string[];
  private at = 0;

  constructor(text: string) {
    this.lines = text.replace(/\r\n/g, '\n').split('\n');
  }

  run(): FileChange[] {
    const changes: FileChange[] = [];
    while (this.at < this.lines.length) {
      const line = this.lines[this.at] ?? '';
      const header = HEADER.exec(line);
      if (header) {
        this.at += 1;
        changes.push(this.change(header[1] ?? '', header[2] ?? ''));
      } else if (/^\*\*\* End Patch\s*$/.test(line)) break;
      else if (/^\*\*\* Begin Patch\s*$/.test(line) || line.trim() === '' || line.startsWith('```')) this.at += 1;
      else throw this.problem('a file header is expected here ("*** Update File: path", "*** Add File: path", "*** Delete File: path" or "*** Move File: old -> new")');
    }
    if (changes.length === 0) throw new ToolError(`The patch changes no file. A correct one looks like this:\n${EXAMPLE}`);
    return changes;
  }

  private change(kind: string, path: string): FileChange {
    if (kind === 'Delete') return { kind: 'delete', path };
    if (kind === 'Move') {
      const [from, to] = path.split(/ +-> +/);
      if (!from || !to) throw this.problem('"*** Move File:" needs the form "old/path -> new/path"', -1);
      return { kind: 'move', path: from, to };
    }
    if (kind === 'Add') return { kind: 'add', path, lines: this.added() };
    const move = /^\*\*\* Move to: *(.+?) *$/.exec(this.lines[this.at] ?? '');
    if (move) this.at += 1;
    const hunks = this.hunks();
    if (hunks.length === 0 && !move) throw this.problem(`the update of "${path}" has no changes`, -1);
    return { kind: 'update', path, to: move?.[1] ?? null, hunks };
  }

  private get sectionEnds(): boolean {
    const line = this.lines[this.at];
    return line === undefined || HEADER.test(line) || /^\*\*\* (End|Begin) Patch\s*$/.test(line) || (line.startsWith('```') && this.at >= this.lines.length - 2);
  }

  private added(): string[] {
    const out: string[] = [];
    for (; !this.sectionEnds; this.at += 1) {
      const line = this.lines[this.at] ?? '';
      if (line.startsWith('+')) out.push(line.slice(1));
      else if (line.trim() !== '') throw this.problem('every line of an added file starts with "+"');
    }
    return out;
  }

  private hunks(): Hunk[] {
    const hunks: Hunk[] = [];
    let current = this.newHunk();
    const close = (): void => {
      while (current.lines.at(-1)?.kind === 'keep' && current.lines.at(-1)?.text === '') current.lines.pop();
      if (current.lines.some((line) => line.kind !== 'keep')) hunks.push(current);
    };
    for (; !this.sectionEnds; this.at += 1) {
      const line = this.lines[this.at] ?? '';
      if (line.startsWith('@@')) {
        if (current.lines.length > 0) {
          close();
          current = this.newHunk();
        }
        const anchor = line.replace(/^@@( -\d+(,\d+)? \+\d+(,\d+)? @@)?/, '').replace(/ *@@$/, '').trim();
        if (anchor !== '') current.anchors.push(anchor);
      } else if (/^\*\*\* End of File\s*$/.test(line)) current.atEnd = true;
      else if (line.startsWith('+')) current.lines.push({ kind: 'add', text: line.slice(1) });
      else if (line.startsWith('-')) current.lines.push({ kind: 'remove', text: line.slice(1) });
      else if (line.startsWith(' ') || line === '') current.lines.push({ kind: 'keep', text: line.slice(1) });
      else throw this.problem('a line of a change starts with a space (unchanged), "-" (removed), "+" (added) or "@@" (a line above it)');
    }
    close();
    return hunks;
  }

  private newHunk(): Hunk {
    return { anchors: [], lines: [], atEnd: false, patchLine: this.at + 1 };
  }

  private problem(text: string, shift = 0): ToolError {
    const number = Math.min(this.lines.length, this.at + 1 + shift);
    const shown = (this.lines[number - 1] ?? '').slice(0, 120);
    return new ToolError(`The patch cannot be read: at its line ${number} (${JSON.stringify(shown)}) ${text}. Nothing was changed.`, { example: EXAMPLE });
  }
}
