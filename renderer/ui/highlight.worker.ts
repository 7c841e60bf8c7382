import { createHighlighterCore, type HighlighterCore, type LanguageInput } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import { TOKEN_THEME, tokenKind, type HighlightAnswer, type HighlightRequest, type Token } from './highlight-theme.ts';

/** Grammars that are worth their size; each is loaded when it is first needed. */
const GRAMMARS: Record<string, LanguageInput> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  graphql: () => import('shiki/langs/graphql.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  nginx: () => import('shiki/langs/nginx.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  r: () => import('shiki/langs/r.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  scss: () => import('shiki/langs/scss.mjs'),
  shellsession: () => import('shiki/langs/shellsession.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  vue: () => import('shiki/langs/vue.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
  zig: () => import('shiki/langs/zig.mjs'),
};

const ALIASES: Record<string, string> = {
  sh: 'bash', shell: 'bash', zsh: 'bash', console: 'shellsession', 'c++': 'cpp', cc: 'cpp', h: 'c', hpp: 'cpp', cs: 'csharp', 'c#': 'csharp', patch: 'diff', dockerfile: 'docker', golang: 'go', gql: 'graphql',
  htm: 'html', conf: 'ini', properties: 'ini', js: 'javascript', mjs: 'javascript', cjs: 'javascript', json5: 'json', jsonc: 'json', jsonl: 'json', kt: 'kotlin', makefile: 'make', md: 'markdown', ps1: 'powershell', pwsh: 'powershell',
  py: 'python', python3: 'python', rb: 'ruby', rs: 'rust', ts: 'typescript', mts: 'typescript', yml: 'yaml', svg: 'xml',
};

const LINE_MAX_CHARS = 2_000;
const LINE_MAX_MS = 200;

const page = self as unknown as { onmessage: ((event: MessageEvent<HighlightRequest>) => void) | null; postMessage: (answer: HighlightAnswer) => void };
let highlighter: Promise<HighlighterCore> | null = null;

// The policy of the page forbids WebAssembly: grammars run on the browser's own regular expressions.
const make = (): Promise<HighlighterCore> => (highlighter ??= createHighlighterCore({ themes: [TOKEN_THEME], langs: [], engine: createJavaScriptRegexEngine({ forgiving: true }) }));

async function highlight({ code, lang }: HighlightRequest): Promise<Token[][] | null> {
  const wanted = lang.toLowerCase();
  const name = Object.hasOwn(ALIASES, wanted) ? ALIASES[wanted]! : wanted;
  if (!Object.hasOwn(GRAMMARS, name)) return null;
  const shiki = await make();
  if (!shiki.getLoadedLanguages().includes(name)) await shiki.loadLanguage(GRAMMARS[name]!);
  const lines = shiki.codeToTokensBase(code, { lang: name, theme: 'talaria', tokenizeMaxLineLength: LINE_MAX_CHARS, tokenizeTimeLimit: LINE_MAX_MS });
  return lines.map((line) => line.map((token): Token => [token.content, tokenKind(token.color)]));
}

page.onmessage = ({ data }) => {
  highlight(data).then(
    (lines) => page.postMessage({ id: data.id, lines }),
    () => page.postMessage({ id: data.id, lines: null }),
  );
};
