/** What the column `tests` of a row holds. */
export type RowTests =
  /** A Python program, or asserts one by one. */
  | { kind: 'program'; program: string | string[] }
  /** A test file in the workspace. */
  | { kind: 'path'; path: string }
  /** A shell command in the workspace. */
  | { kind: 'command'; command: string };

const MAX_CHARS = 4_000_000;
const FILE = /^[\w.][\w./-]{0,500}\.py$/;
const NODE = /^[\w.][\w./-]{0,500}\.py(?:::[^\n']{1,500})?$/;
const PYTHON_LINE = /^\s*(?:assert|def|class|import|from|for|with|try|if|check|@|print|#)\b|^\s*[@#]|^\s*check\(/;

/** Null when the row has no tests; a sentence when they are nothing that can be run. */
export function kindOfTests(tests: unknown, row: Readonly<Record<string, unknown>>): RowTests | string | null {
  if (tests === undefined || tests === null || tests === '') return null;
  if (Array.isArray(tests)) return ofList(tests, row);
  if (typeof tests !== 'string') return 'The row’s tests are neither text nor a list of texts.';
  if (tests.length > MAX_CHARS) return 'The row’s tests are too long.';
  const text = tests.trim();
  if (text === '') return null;
  if (text.startsWith('[')) {
    const list = listIn(text);
    if (list) return ofList(list, row);
  }
  if (FILE.test(text)) return { kind: 'path', path: text };
  return text.includes('\n') || PYTHON_LINE.test(text) ? { kind: 'program', program: setUp(row) + tests } : { kind: 'command', command: text };
}

function ofList(tests: unknown[], row: Readonly<Record<string, unknown>>): RowTests | string | null {
  if (tests.length === 0) return null;
  if (!tests.every((t) => typeof t === 'string')) return 'The row’s tests are neither text nor a list of texts.';
  if (tests.reduce((sum, t) => sum + t.length, 0) > MAX_CHARS) return 'The row’s tests are too long.';
  if (tests.every((t) => NODE.test(t.trim()))) return { kind: 'command', command: `python3 -m pytest -q ${tests.map((t) => `'${t.trim()}'`).join(' ')}` };
  const before = setUp(row);
  return { kind: 'program', program: tests.map((t) => before + t) };
}

/** MBPP keeps imports and set-up of its asserts in columns of their own. */
function setUp(row: Readonly<Record<string, unknown>>): string {
  const imports = Array.isArray(row['test_imports']) ? (row['test_imports'] as unknown[]) : [];
  const parts = [...imports, row['test_setup_code']].filter((part): part is string => typeof part === 'string' && part.trim() !== '');
  return parts.map((part) => `${part}\n`).join('');
}

function listIn(text: string): unknown[] | null {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? (list as unknown[]) : null;
  } catch {
    return null;
  }
}
