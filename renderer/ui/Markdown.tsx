import { Component, memo, useMemo, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import ReactMarkdown, { type Components } from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { CodeBlock } from './CodeBlock.tsx';
import { htmlAsText } from './markdown-html.ts';
import { imageHost, safeLink, tellsHost } from './markdown-links.ts';
import { isTooDeep, PieceSplitter, splitPieces, type Piece } from './markdown-pieces.ts';
import './markdown.css';

/** Longer texts are shown as they are: so many elements at once would block the page. Lists of pieces have no such limit. */
export const MARKDOWN_MAX_CHARS = 60_000;

const remarkPlugins = [remarkGfm, htmlAsText];
const rehypePlugins = [rehypeSanitize];

/**
 * Markdown of hostile origin: raw HTML stays text, images are never fetched, links tell their host and open outside the page.
 * With `growing` only what is added is read, and what is settled is not rendered again.
 */
export const Markdown = memo(function Markdown({ text, growing = false }: { text: string; growing?: boolean }): ReactNode {
  if (text.length > MARKDOWN_MAX_CHARS) return <div className="md whitespace-pre-wrap">{text}</div>;
  return growing ? <Growing text={text} /> : <Whole text={text} />;
});

function Whole({ text }: { text: string }): ReactNode {
  const pieces = useMemo(() => splitPieces(text), [text]);
  return pieces.map((piece, i) => <MarkdownPiece key={i} piece={piece} />);
}

function Growing({ text }: { text: string }): ReactNode {
  const kept = useRef({ text: '', splitter: new PieceSplitter() });
  const pieces = useMemo(() => {
    if (!text.startsWith(kept.current.text)) kept.current = { text: '', splitter: new PieceSplitter() };
    kept.current.splitter.add(text.slice(kept.current.text.length));
    kept.current.text = text;
    return kept.current.splitter.pieces();
  }, [text]);
  return pieces.map((piece, i) => <MarkdownPiece key={i} piece={piece} growing={i === pieces.length - 1} />);
}

/** One piece of a Markdown text. @param props.growing it may still change, so nothing costly is done for it */
export const MarkdownPiece = memo(
  function MarkdownPiece({ piece, growing = false }: { piece: Piece; growing?: boolean }): ReactNode {
    if (piece.kind === 'code') return <div className="md"><CodeBlock code={piece.text} lang={piece.lang} growing={growing} first={piece.first} last={piece.last} /></div>;
    return (
      <div className="md">
        <Guard text={piece.text}>
          {isTooDeep(piece.text) ? <AsWritten text={piece.text} /> : (
            <ReactMarkdown remarkPlugins={remarkPlugins} rehypePlugins={rehypePlugins} urlTransform={keepUrl} components={growing ? GROWING_COMPONENTS : COMPONENTS}>
              {piece.text}
            </ReactMarkdown>
          )}
        </Guard>
      </div>
    );
  },
  (a, b) => a.growing === b.growing && (a.piece === b.piece || samePiece(a.piece, b.piece)),
);

function samePiece(a: Piece, b: Piece): boolean {
  if (a.text !== b.text || a.kind !== b.kind) return false;
  return a.kind === 'text' || (b.kind === 'code' && a.lang === b.lang && a.first === b.first && a.last === b.last);
}

function AsWritten({ text }: { text: string }): ReactNode {
  return <p className="whitespace-pre-wrap">{text}</p>;
}

/** Text that the reader cannot take is shown as it was written. */
class Guard extends Component<{ text: string; children: ReactNode }, { failed: string | null }> {
  override state: { failed: string | null } = { failed: null };
  static getDerivedStateFromError(): { failed: string } {
    return { failed: '' };
  }
  override componentDidCatch(): void {
    this.setState({ failed: this.props.text });
  }
  override render(): ReactNode {
    return this.state.failed === null || (this.state.failed !== '' && this.state.failed !== this.props.text) ? this.props.children : <AsWritten text={this.props.text} />;
  }
}

/** Addresses are judged where they are used: `Link` and `Picture` let nothing through that is not safe. */
const keepUrl = (url: string): string => url;

function Link({ href, children }: { href?: string | undefined; children?: ReactNode }): ReactNode {
  const safe = safeLink(href);
  if (!safe) return <span className="md-dead" title={href?.slice(0, 300)}>{children}</span>;
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

/** Code inside a list item or a quote; fences of their own are pieces. */
function InnerCode({ children, growing }: { children?: ReactNode; growing: boolean }): ReactNode {
  const code = (Array.isArray(children) ? (children as ReactNode[])[0] : children) ?? null;
  const props = typeof code === 'object' && code !== null && 'props' in code ? (code.props as { className?: string; children?: ReactNode }) : null;
  const lang = /language-(\S+)/.exec(props?.className ?? '')?.[1] ?? '';
  return <CodeBlock code={plainText(props?.children ?? null)} lang={lang} growing={growing} />;
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
  pre: ({ children }) => <InnerCode growing={false}>{children}</InnerCode>,
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

const GROWING_COMPONENTS: Components = { ...COMPONENTS, pre: ({ children }) => <InnerCode growing>{children}</InnerCode> };
