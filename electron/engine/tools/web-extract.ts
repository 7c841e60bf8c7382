import { z } from 'zod';
import { defineTool, ToolError } from './define.ts';
import type { ToolContext, WebService } from './types.ts';
import { quoted } from './web/quoted.ts';

const MAX_URLS = 5;
/** Longer pages are given in parts (Hermes' limit for a page that is given whole). */
const HEAD_CHARS = 5_000;
/** One part after the first: whoever asks on wants the text. */
const PART_CHARS = 20_000;
const MAX_PAGE_CHARS = 2_000_000;
/** Pages of this run that are kept, so that going on does not read them again. */
const KEPT_PAGES = 8;
const KEPT_CHARS = 4_000_000;

type Page = Awaited<ReturnType<WebService['extract']>>;

/** `web_extract`: result `{pages: [{url, title, content, total_chars, hint?} | {url, error}], note}` in the order asked for. */
export const webExtractTool = defineTool({
  name: 'web_extract',
  toolset: 'web',
  parallel: 'safe',
  missing: ({ web }) => (web ? null : 'The web cannot be reached from here.'),
  description:
    `Read up to ${MAX_URLS} web pages as Markdown; also plain text, Markdown and JSON, no PDF. Of a long page you get the first ${HEAD_CHARS.toLocaleString('en-US')} characters and how to go on. ` +
    'Addresses of this machine and of private networks are refused unless the person allowed them.',
  parameters: z.object({
    urls: z.array(z.string().max(4_000)).min(1).max(MAX_URLS).describe(`Addresses that begin with http:// or https://, at most ${MAX_URLS}.`),
    offset: z.int().min(0).default(0).describe('Characters of the page to skip, to go on in a long one. Only with one address.'),
  }),
  async run({ urls, offset }, context) {
    const wanted = [...new Set(urls.map((url) => url.trim()))];
    if (offset > 0 && wanted.length > 1) throw new ToolError('offset goes with one address only. Ask for the pages one by one.');
    const pages = await Promise.all(wanted.map((url) => onePage(url, offset, context)));
    const only = pages.length === 1 ? pages[0] : undefined;
    if (only && 'error' in only) throw new ToolError(only.error);
    return { pages, note: quoted('These pages') };
  },
});

type Outcome = { url: string; error: string } | { url: string; title: string; content: string; total_chars: number; hint?: string };

async function onePage(asked: string, offset: number, context: ToolContext): Promise<Outcome> {
  try {
    const { url, title, markdown } = await read(asked, context);
    if (markdown.length > MAX_PAGE_CHARS) throw new ToolError(`The page has ${markdown.length.toLocaleString('en-US')} characters; more than ${MAX_PAGE_CHARS.toLocaleString('en-US')} are not read. Download it in the terminal and search the file.`);
    if (offset > 0 && offset >= markdown.length) throw new ToolError(`The page has ${markdown.length.toLocaleString('en-US')} characters; offset ${offset} is past its end.`);
    const end = partEnd(markdown, offset, offset > 0 ? PART_CHARS : HEAD_CHARS);
    return {
      url,
      title,
      content: markdown.slice(offset, end),
      total_chars: markdown.length,
      ...(end < markdown.length && { hint: `Characters ${offset} to ${end} of ${markdown.length.toLocaleString('en-US')}. Go on with urls=[${JSON.stringify(asked)}], offset=${end}.` }),
    };
  } catch (error) {
    if (error instanceof ToolError) return { url: asked, error: error.message };
    throw error;
  }
}

async function read(url: string, { services, signal, state }: ToolContext): Promise<Page> {
  if (!services.web) throw new ToolError('Web pages cannot be read here.');
  const kept = (state.get('web_extract') as Map<string, Page> | undefined) ?? new Map<string, Page>();
  state.set('web_extract', kept);
  const page = kept.get(url) ?? (await services.web.extract(url, signal));
  kept.delete(url);
  kept.set(url, page);
  let chars = [...kept.values()].reduce((sum, one) => sum + one.markdown.length, 0);
  for (const [oldest, one] of kept) {
    if (kept.size <= KEPT_PAGES && chars <= KEPT_CHARS) break;
    kept.delete(oldest);
    chars -= one.markdown.length;
  }
  return page;
}

/** Where a part of at most `chars` ends: after a line if one ends in its last fifth, never inside a character. */
function partEnd(text: string, from: number, chars: number): number {
  if (text.length - from <= chars) return text.length;
  const end = from + chars;
  const line = text.lastIndexOf('\n', end - 1) + 1;
  if (line > from + chars * 0.8) return line;
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
}
