import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { visible } from './text.ts';

const TITLE_CHARS = 300;
/** An article shorter than this, in a page that has much more, is most likely not the content. */
const SHORT_ARTICLE_CHARS = 250;
const LONG_PAGE_FACTOR = 5;
/** Beyond this, parsers and Readability need minutes; real pages stay far below. */
const MAX_DEPTH = 256;
const MAX_BLANKS = 100;
const NEVER_DEEPER = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|td|th|tr|dd|dt|option|thead|tbody|tfoot)$/;
/** Nodes that say nothing, or nothing a reader would see. */
const NOISE = 'script,style,noscript,template,iframe,object,embed,canvas,svg,link,meta,form input,button,select,textarea,dialog,[hidden],[aria-hidden="true"]';

export interface PageText {
  title: string;
  markdown: string;
}

/**
 * The readable part of an HTML page as Markdown. Links are absolute and only http(s) and mailto; pictures become links with their
 * alternative text, so that nothing that shows the text loads them. Never throws: what cannot be parsed is stripped of its tags.
 * May take long for hostile pages: run it in a worker.
 */
export function pageToMarkdown({ html, url }: { html: string; url: string }): PageText {
  try {
    if (depthOf(html) <= MAX_DEPTH) return convert(shortBlanks(html), url);
  } catch {
    // what no parser expects: the text alone is better than nothing
  }
  return { title: titleIn(html), markdown: tidy(stripTags(shortBlanks(html))) };
}

/** How deep the elements nest, from their tags alone. */
function depthOf(html: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [, end, name = '', own] of html.matchAll(/<(\/?)([a-z][a-z0-9-]*)[^<>]*?(\/?)>/gi)) {
    if (own || NEVER_DEEPER.test(name.toLowerCase())) continue;
    depth = Math.max(0, depth + (end ? -1 : 1));
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Long runs of blanks say nothing and take patterns of the converters very long. */
function shortBlanks(html: string): string {
  return html.replace(/[ \t\u00a0]{100,}/g, ' '.repeat(MAX_BLANKS)).replace(/\n\s{200,}/g, '\n\n');
}

function convert(html: string, url: string): PageText {
  // Wrapped, because the parser keeps what it finds: a page without <body>, or with two of them, would be read as empty.
  const { document } = parseHTML(`<!doctype html><html><head></head><body>${html}</body></html>`);
  const base = baseOf(document as never, url);
  const title = line(document.querySelector('title')?.textContent);
  for (const node of document.querySelectorAll(`title,base,${NOISE}`)) node.remove();
  for (const node of document.body.querySelectorAll('html,head,body')) {
    while (node.firstChild) node.parentNode?.insertBefore(node.firstChild, node);
    node.remove();
  }
  document.title = title;
  const whole = document.body.innerHTML;
  const wholeChars = (document.body.textContent ?? '').replace(/\s+/g, ' ').length;
  const article = new Readability(document as never, { charThreshold: 200, keepClasses: true }).parse();
  const articleChars = article?.length ?? 0;
  const useWhole = !article?.content || (articleChars < SHORT_ARTICLE_CHARS && wholeChars > articleChars * LONG_PAGE_FACTOR);
  const body = parseHTML(`<!doctype html><html><body>${useWhole ? whole : article.content}</body></html>`).document.body;
  return { title: line(article?.title) || title, markdown: tidy(converter(base).turndown(body as never)) };
}

/** A title on one line. */
function line(text: string | null | undefined): string {
  return visible(text ?? '').replace(/\s+/g, ' ').trim().slice(0, TITLE_CHARS);
}

/** What is used of DOM elements. The Node side has no DOM types. */
interface Dom {
  readonly tagName: string;
  readonly textContent: string | null;
  readonly children: ArrayLike<Dom>;
  readonly firstElementChild: Dom | null;
  getAttribute(name: string): string | null;
  querySelector(selector: string): Dom | null;
  querySelectorAll(selector: string): Iterable<Dom>;
}

function baseOf(document: { querySelector(selector: string): Dom | null }, url: string): string {
  const href = document.querySelector('base[href]')?.getAttribute('href');
  return href && URL.canParse(href, url) && /^https?:/.test(new URL(href, url).protocol) ? new URL(href, url).href : url;
}

function converter(base: string): TurndownService {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', emDelimiter: '*' });
  service.addRule('link', {
    filter: 'a',
    replacement: (content, node) => {
      const text = content.replace(/\s+/g, ' ').trim();
      const href = safeLink((node as unknown as Dom).getAttribute('href'), base);
      return href === null || text === '' ? text : `[${text}](${href})`;
    },
  });
  service.addRule('image', {
    filter: 'img',
    replacement: (_, node) => {
      const element = node as unknown as Dom;
      const alt = (element.getAttribute('alt') ?? '').replace(/[[\]\s]+/g, ' ').trim();
      const src = safeLink(element.getAttribute('src') ?? element.getAttribute('data-src'), base);
      return src === null || src.startsWith('mailto:') ? alt : `[picture${alt ? `: ${alt}` : ''}](${src})`;
    },
  });
  service.addRule('pre', {
    filter: 'pre',
    replacement: (_, node) => {
      const element = node as unknown as Dom;
      const code = (element.textContent ?? '').replace(/\n$/, '');
      const language = /\blang(?:uage)?-([\w+#-]+)/.exec(`${element.getAttribute('class') ?? ''} ${element.firstElementChild?.getAttribute('class') ?? ''}`)?.[1] ?? '';
      const fence = '`'.repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)));
      return `\n\n${fence}${language}\n${code}\n${fence}\n\n`;
    },
  });
  service.addRule('table', { filter: 'table', replacement: (content, node) => tableOf(node as unknown as Dom) ?? `\n\n${content}\n\n` });
  return service;

  /** A table of simple cells; null for one that only lays out a page. */
  function tableOf(table: Dom): string | null {
    if (table.querySelector('table')) return null;
    const rows = [...table.querySelectorAll('tr')].map((tr) =>
      Array.from(tr.children).filter((cell) => /^t[dh]$/i.test(cell.tagName)).map((cell) => service.turndown(cell as never).replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|').trim()),
    );
    const filled = rows.filter((cells) => cells.length > 0);
    const columns = Math.max(0, ...filled.map((cells) => cells.length));
    if (columns < 2) return null;
    const row = (cells: readonly string[]): string => `| ${Array.from({ length: columns }, (_, i) => cells[i] ?? '').join(' | ')} |`;
    const [head = [], ...rest] = filled;
    const caption = table.querySelector('caption')?.textContent?.trim();
    return `\n\n${caption ? `${caption}\n\n` : ''}${[row(head), `|${' --- |'.repeat(columns)}`, ...rest.map(row)].join('\n')}\n\n`;
  }
}

/** The absolute address of a link that may be shown; null for `javascript:`, `data:` and their like. */
function safeLink(href: string | null, base: string): string | null {
  if (href === null || href.trim() === '' || href.startsWith('#') || !URL.canParse(href, base)) return null;
  const url = new URL(href, base);
  return /^(https?|mailto):$/.test(url.protocol) ? url.href.replaceAll('(', '%28').replaceAll(')', '%29') : null;
}

function tidy(text: string): string {
  return visible(text)
    .split('\n')
    .map((one) => one.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function titleIn(html: string): string {
  const at = html.slice(0, 100_000).search(/<title\b/i);
  if (at < 0) return '';
  const text = html.slice(at, at + 2_000).replace(/^[^>]*>/, '').split(/<\/title/i, 1)[0] ?? '';
  return line(text);
}

/** Text between tags, without scripts and styles, in one pass over the page. */
function stripTags(html: string): string {
  const out: string[] = [];
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    if (open < 0) {
      out.push(html.slice(at));
      break;
    }
    out.push(html.slice(at, open));
    const name = /^<(script|style|noscript|template)\b/i.exec(html.slice(open, open + 10))?.[1];
    let close = html.indexOf('>', open);
    if (name) {
      const end = indexOfTag(html, `</${name}`, open);
      close = end < 0 ? -1 : html.indexOf('>', end);
    }
    if (close < 0) break;
    if (/^<\/?(p|div|br|li|tr|h[1-6]|section|article|pre)\b/i.test(html.slice(open, open + 10))) out.push('\n');
    at = close + 1;
  }
  return out.join('');
}

function indexOfTag(html: string, tag: string, from: number): number {
  const pattern = new RegExp(tag, 'gi');
  pattern.lastIndex = from;
  return pattern.exec(html)?.index ?? -1;
}
