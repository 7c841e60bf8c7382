/** One word of a command after the shell's quotes are taken off. */
export interface Word {
  text: string;
  /** Every character was quoted: the shell expands no pattern or `~` in it. */
  quoted: boolean;
}

/** One simple command: its words without redirections, where it writes, and what it reads as a here-document. */
export interface SimpleCommand {
  words: Word[];
  writesTo: Word[];
  heredoc: string | null;
  /** Its output goes into the next command of the list. */
  pipesOn: boolean;
}

/** Commands in order, plus the texts of `$(…)`, backticks and `<(…)` in them, each a script of its own. */
export interface Script {
  commands: SimpleCommand[];
  nested: string[];
}

const BLANK = /[ \t\r]/;
const OPERATOR = /[;&|(){}\n]/;

/**
 * Splits a POSIX-like shell script into its simple commands, well enough to tell a command from a text that only mentions one.
 * Not a shell: aliases, variables and arithmetic are left as they are written. Never throws; unclosed quotes end with the text.
 */
export function splitScript(text: string): Script {
  return new Splitter(text).run();
}

class Splitter {
  private readonly text: string;
  private at = 0;
  private readonly commands: SimpleCommand[] = [];
  private readonly nested: string[] = [];
  private current = emptyCommand();
  private pending: { command: SimpleCommand; end: string; dedent: boolean }[] = [];

  constructor(text: string) {
    this.text = text.replaceAll('\\\n', '');
  }

  run(): Script {
    while (this.at < this.text.length) this.step();
    this.close(false);
    return { commands: this.commands, nested: this.nested };
  }

  private step(): void {
    const char = this.text.charAt(this.at);
    const next = this.text.charAt(this.at + 1);
    if (BLANK.test(char)) this.at += 1;
    else if (char === '#') this.skipTo('\n');
    else if (char === '\n') this.newline();
    else if ((char === '<' || char === '>') && next === '(') this.nest(2);
    else if (char === '<' || char === '>' || (char === '&' && next === '>')) this.redirect();
    else if (/\d/.test(char) && /^\d+[<>]/.test(this.text.slice(this.at, this.at + 12))) this.at += 1;
    else if (this.braceIsWord(char)) this.current.words.push(this.word());
    else if (OPERATOR.test(char)) this.operator(char, next);
    else this.current.words.push(this.word());
  }

  private braceIsWord(char: string): boolean {
    return (char === '{' || char === '}') && !/^[{}](\s|;|$)/.test(this.text.slice(this.at, this.at + 2));
  }

  private operator(char: string, next: string): void {
    const pipe = char === '|' && next !== '|';
    this.at += next === char && char !== '(' && char !== ')' ? 2 : pipe && next === '&' ? 2 : 1;
    this.close(pipe);
  }

  private close(pipesOn: boolean): void {
    const { words, writesTo, heredoc } = this.current;
    const waits = this.pending.some((entry) => entry.command === this.current);
    if (words.length > 0 || writesTo.length > 0 || heredoc !== null || waits) {
      this.current.pipesOn = pipesOn;
      this.commands.push(this.current);
    }
    this.current = emptyCommand();
  }

  private newline(): void {
    this.at += 1;
    this.close(false);
    for (const { command, end, dedent } of this.pending) {
      const lines: string[] = [];
      while (this.at < this.text.length) {
        const stop = this.text.indexOf('\n', this.at);
        const line = this.text.slice(this.at, stop === -1 ? undefined : stop);
        this.at = stop === -1 ? this.text.length : stop + 1;
        if ((dedent ? line.replace(/^\t+/, '') : line) === end) break;
        lines.push(line);
      }
      command.heredoc = lines.join('\n');
    }
    this.pending = [];
  }

  private redirect(): void {
    const operator = /^(&>>|&>|<<<|<<-|<<|<>|<&|<|>>|>\||>&|>)/.exec(this.text.slice(this.at))?.[0] ?? '>';
    this.at += operator.length;
    while (BLANK.test(this.text.charAt(this.at))) this.at += 1;
    if (this.text.startsWith('<(', this.at) || this.text.startsWith('>(', this.at)) return;
    const target = this.word();
    if (operator === '<<' || operator === '<<-') {
      this.pending.push({ command: this.current, end: target.text, dedent: operator === '<<-' });
    } else if (operator === '<<<') this.current.heredoc = target.text;
    else if (operator.includes('>') && !/^[\d-]+$/.test(target.text)) this.current.writesTo.push(target);
  }

  private word(): Word {
    let out = '';
    let bare = false;
    while (this.at < this.text.length) {
      const char = this.text.charAt(this.at);
      if (BLANK.test(char) || (OPERATOR.test(char) && char !== '{' && char !== '}') || char === '<' || char === '>') break;
      if (char === "'") out += this.until("'");
      else if (char === '"') out += this.doubleQuoted();
      else if (char === '\\') {
        out += this.text.charAt(this.at + 1);
        this.at += 2;
      } else if (char === '$' && this.text.charAt(this.at + 1) === "'") {
        this.at += 1;
        out += this.until("'");
      } else if (char === '$' && this.text.charAt(this.at + 1) === '(') out += this.nest(2);
      else if (char === '`') out += this.backticks();
      else {
        bare = true;
        out += char;
        this.at += 1;
      }
    }
    if (out === '' && !bare && this.at < this.text.length && OPERATOR.test(this.text.charAt(this.at))) return { text: '', quoted: true };
    return { text: out, quoted: !bare };
  }

  private until(quote: string): string {
    const stop = this.text.indexOf(quote, this.at + 1);
    const inner = this.text.slice(this.at + 1, stop === -1 ? undefined : stop);
    this.at = stop === -1 ? this.text.length : stop + 1;
    return inner;
  }

  private doubleQuoted(): string {
    let out = '';
    this.at += 1;
    while (this.at < this.text.length) {
      const char = this.text.charAt(this.at);
      if (char === '"') {
        this.at += 1;
        break;
      }
      if (char === '\\') {
        out += this.text.charAt(this.at + 1);
        this.at += 2;
      } else if (char === '$' && this.text.charAt(this.at + 1) === '(') out += this.nest(2);
      else if (char === '`') out += this.backticks();
      else {
        out += char;
        this.at += 1;
      }
    }
    return out;
  }

  private backticks(): string {
    const inner = this.until('`');
    this.nested.push(inner);
    return `\`${inner}\``;
  }

  /** Takes what stands between `$(`, `<(` or `>(` and its bracket as a script of its own; answers with its text as written. */
  private nest(opening: number): string {
    const from = this.at;
    let depth = 1;
    let quote = '';
    this.at += opening;
    for (; this.at < this.text.length && depth > 0; this.at += 1) {
      const char = this.text.charAt(this.at);
      if (char === '\\' && quote !== "'") this.at += 1;
      else if (quote !== '') quote = char === quote ? '' : quote;
      else if (char === "'" || char === '"') quote = char;
      else if (char === '(') depth += 1;
      else if (char === ')') depth -= 1;
    }
    const whole = this.text.slice(from, this.at);
    this.nested.push(whole.slice(opening, depth === 0 ? -1 : undefined));
    // A process substitution is an argument of the command it stands in.
    if (whole.startsWith('<') || whole.startsWith('>')) this.current.words.push({ text: whole, quoted: true });
    return whole;
  }

  private skipTo(char: string): void {
    const stop = this.text.indexOf(char, this.at);
    this.at = stop === -1 ? this.text.length : stop;
  }
}

function emptyCommand(): SimpleCommand {
  return { words: [], writesTo: [], heredoc: null, pipesOn: false };
}
