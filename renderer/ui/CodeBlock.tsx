import { Check, Copy } from 'lucide-react';
import { memo, useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';
import { pageHighlights, type HighlightedLines } from './highlight.ts';
import { TOKEN_KINDS } from './highlight-theme.ts';

const SAYS_COPIED_MS = 2_000;

/**
 * Code with its language, its colours once they are there, and a way to copy it. Colours never change its size.
 * @param props.first, props.last a long block comes in several of these, one below the other @param props.growing it may still change
 */
export const CodeBlock = memo(function CodeBlock({ code, lang, growing, first = true, last = true }: { code: string; lang: string; growing: boolean; first?: boolean; last?: boolean }): ReactNode {
  const lines = useHighlight(code, growing ? '' : lang);
  const text = code.replace(/\n$/, '');
  return (
    <div className={cx('md-code', !first && 'md-code-more', !last && !growing && 'md-code-less')}>
      {first && <Head code={text} lang={lang} whole={last || growing} />}
      {/* The region can be scrolled by keyboard only when it takes the focus. */}
      <pre tabIndex={0}>
        <code>
          {lines === null ? text : lines.map((line, i) => (
            <span key={i}>
              {i > 0 && '\n'}
              {line.map(([part, kind], k) => (kind === 0 ? part : <span key={k} className={`tok-${TOKEN_KINDS[kind] ?? 'plain'}`}>{part}</span>))}
            </span>
          ))}
        </code>
      </pre>
    </div>
  );
});

function Head({ code, lang, whole }: { code: string; lang: string; whole: boolean }): ReactNode {
  const { t } = useTranslation('app');
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAYS_COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const Icon = copied ? Check : Copy;
  const label = copied ? t('action.copied') : t('action.copy');
  return (
    <div className="md-code-head">
      <span className="min-w-0 flex-1 truncate">{lang.slice(0, 40)}</span>
      {whole && (
        <button type="button" aria-label={label} title={label} onClick={() => void navigator.clipboard.writeText(code).then(() => setCopied(true), () => undefined)} className="grid size-[20px] place-items-center rounded-s hover:bg-hover hover:text-fg">
          <Icon className="size-3" aria-hidden="true" />
        </button>
      )}
    </div>
  );
}

/** The coloured lines; null while they are not there, or when the code stays plain. */
function useHighlight(code: string, lang: string): HighlightedLines | null {
  const known = lang === '' ? null : pageHighlights().known(code, lang);
  const [asked, setAsked] = useState<{ code: string; lang: string; lines: HighlightedLines | null } | null>(null);
  const missing = known === undefined;
  useEffect(() => {
    if (!missing) return;
    let here = true;
    void pageHighlights().ask(code, lang).then((lines) => here && setAsked({ code, lang, lines }));
    return () => {
      here = false;
    };
  }, [missing, code, lang]);
  if (known !== undefined) return known;
  return asked?.code === code && asked.lang === lang ? asked.lines : null;
}
