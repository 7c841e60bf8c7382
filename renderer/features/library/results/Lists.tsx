import { Ban, CircleCheck, CircleDashed, CircleDot, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { safeLink } from '../../../ui/markdown-links.ts';
import { useFold } from '../view/context.tsx';
import { CutText, More } from './CutText.tsx';
import type { ResultView } from './result-view.ts';

const STATES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
const ICONS: Record<(typeof STATES)[number], { icon: LucideIcon; tone: string }> = {
  pending: { icon: CircleDashed, tone: 'text-fg-3' },
  in_progress: { icon: CircleDot, tone: 'text-accent' },
  completed: { icon: CircleCheck, tone: 'text-good' },
  cancelled: { icon: Ban, tone: 'text-fg-3' },
};
const SHORT = 10;
const PAGE_HEAD_CHARS = 300;

/** A task list as it stood. */
export function Todos({ todos, label }: { todos: Extract<ResultView, { kind: 'todos' }>['todos']; label: string }): ReactNode {
  const { t } = useTranslation('library');
  if (todos.length === 0) return <p className="border-t border-line bg-code px-2.5 py-1.5 text-sm text-fg-3">{t('call.empty')}</p>;
  return (
    <ul aria-label={label} className="grid gap-0.5 border-t border-line bg-code px-2.5 py-1.5 text-sm">
      {todos.map(({ content, status }, i) => {
        const state = STATES.find((s) => s === status) ?? 'pending';
        const { icon: Icon, tone } = ICONS[state];
        return (
          <li key={i} className="flex min-w-0 items-start gap-2">
            <Icon role="img" aria-label={t(`call.todoState.${state}`)} className={cx('mt-0.5 size-3.5 shrink-0', tone)} />
            <span className={cx('min-w-0 wrap-anywhere', state === 'completed' || state === 'cancelled' ? 'text-fg-3' : 'text-fg', state === 'cancelled' && 'line-through')}>{content}</span>
          </li>
        );
      })}
    </ul>
  );
}

/** Pages of the web: title, host, what they say. Only web addresses become links, and the host is always told. */
export function Pages({ pages, part, label }: { pages: Extract<ResultView, { kind: 'pages' }>['pages']; part: string; label: string }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const [open, toggle] = useFold(`${part}:pages`, false);
  if (pages.length === 0) return <p className="border-t border-line bg-code px-2.5 py-1.5 text-sm text-fg-3">{t('call.noPages')}</p>;
  const shown = open ? pages.slice(0, 200) : pages.slice(0, SHORT);
  const hidden = pages.length - shown.length;
  return (
    <>
      <ul aria-label={label} className="border-t border-line bg-code">
        {shown.map((page, i) => {
          const link = safeLink(page.url);
          return (
            <li key={i} className={cx('px-2.5 py-1.5 text-sm', i > 0 && 'border-t border-line')}>
              <div className="flex min-w-0 items-baseline gap-2">
                {link ? (
                  <a href={link.href} target="_blank" rel="noopener noreferrer" title={link.href} className="min-w-0 truncate text-accent underline underline-offset-2">{page.title || link.host}</a>
                ) : (
                  <span className="min-w-0 truncate" title={page.url.slice(0, 300)}>{page.title || page.url.slice(0, 300)}</span>
                )}
                {link && page.title !== '' && <span className="shrink-0 text-xs text-fg-3">{link.host}</span>}
              </div>
              {page.error !== null ? <p className="wrap-anywhere text-bad">{page.error.slice(0, 2_000)}</p> : page.text.length > PAGE_HEAD_CHARS ? (
                <div className="-mx-2.5 mt-1 -mb-1.5">
                  <CutText text={page.text} part={`${part}:page:${i}`} label={page.title} />
                </div>
              ) : <p className="wrap-anywhere text-fg-2">{page.text}</p>}
            </li>
          );
        })}
      </ul>
      {(hidden > 0 || (open && pages.length > SHORT)) && <More onClick={toggle}>{open ? t('call.showLess') : t('call.moreMatches', { count: hidden, shown: format.exact(hidden) })}</More>}
    </>
  );
}
