import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { splitBlocks } from './markdown-blocks.ts';
import { htmlAsText } from './markdown-html.ts';
import { imageHost, safeLink, tellsHost } from './markdown-links.ts';
import './markdown.css';

/** Longer texts are shown as they are: turning them into elements would block the page. */
export const MARKDOWN_MAX_CHARS = 60_000;

const remarkPlugins = [remarkGfm, htmlAsText];
const rehypePlugins = [rehypeSanitize];

/**
 * Markdown of hostile origin: raw HTML stays text, images are never fetched, links tell their host and open outside the page.
 * With `growing` the text is cut into blocks, so that what is settled is not rendered again as more arrives.
 */
export const Markdown = memo(function Markdown({ text, growing = false }: { text: string; growing?: boolean }): ReactNode {
  if (text.length > MARKDOWN_MAX_CHARS) return <div className="md whitespace-pre-wrap">{text}</div>;
  if (!growing) {
    return (
      <div className="md">
        <Block text={text} />
      </div>
    );
  }
  return (
    <div className="md">
      {splitBlocks(text).map((block, i) => (
        <Block key={i} text={block} />
      ))}
    </div>
  );
});

const Block = memo(function Block({ text }: { text: string }): ReactNode {
  return (
    <ReactMarkdown remarkPlugins={remarkPlugins} rehypePlugins={rehypePlugins} urlTransform={keepUrl} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
});

/** Addresses are judged where they are used: `Link` and `Picture` let nothing through that is not safe. */
const keepUrl = (url: string): string => url;

function Link({ href, children }: { href?: string | undefined; children?: ReactNode }): ReactNode {
  const safe = safeLink(href);
  if (!safe) return <span className="md-dead" title={href}>{children}</span>;
  return (
    <a href={safe.href} target="_blank" rel="noopener noreferrer" title={safe.href}>
      {children}
      {!tellsHost(plainText(children), safe.host) && <span className="md-host"> ({safe.host})</span>}
    </a>
  );
}

function Picture({ src, alt }: { src?: string | undefined; alt?: string | undefined }): ReactNode {
  const { t } = useTranslation('app');
  const host = imageHost(src);
  return (
    <span className="md-image" title={src?.slice(0, 300)}>
      {t('markdown.image')}
      {alt ? ` “${alt}”` : ''}
      {host && host !== 'data' ? ` · ${host}` : ''}
    </span>
  );
}

function plainText(node: ReactNode): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node);
  if (Array.isArray(node)) return node.map(plainText).join('');
  return '';
}

/** Headings of a message sit below those of the page. */
const heading = (level: 4 | 5 | 6) =>
  function Heading({ children }: { children?: ReactNode }): ReactNode {
    const Tag = `h${level}` as const;
    return <Tag>{children}</Tag>;
  };

const COMPONENTS: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => <Picture src={typeof src === 'string' ? src : undefined} alt={alt} />,
  input: ({ checked }) => <span className="md-check" role="img" aria-label={checked ? '☑' : '☐'}>{checked ? '☑' : '☐'}</span>,
  // The region can be scrolled by keyboard only when it takes the focus.
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  table: ({ children }) => (
    <div className="md-table" tabIndex={0} role="group">
      <table>{children}</table>
    </div>
  ),
  h1: heading(4),
  h2: heading(4),
  h3: heading(5),
  h4: heading(5),
  h5: heading(6),
  h6: heading(6),
};
