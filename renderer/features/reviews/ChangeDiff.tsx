import { structuredPatch } from 'diff';
import { useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ChangedFile } from '#shared/contract/skills.ts';
import { cx } from '../../lib/cx.ts';
import { useFormat } from '../../lib/i18n.ts';

const SHORT_LINES = 24;
const MOST_LINES = 2_000;
/** A worst case of the diff must not hold up the page. */
const DIFF_MS = 200;

interface Line {
  sign: '+' | '-' | ' ' | '@';
  text: string;
}

/** One changed file: its name, and what is added and taken away, with signs, so that colour is not all that tells. */
export function ChangeDiff({ change }: { change: ChangedFile }): ReactNode {
  const { t } = useTranslation('reviews');
  const format = useFormat();
  const [open, setOpen] = useState(false);
  const lines = useMemo(() => linesOf(change), [change]);
  const added = lines.filter((line) => line.sign === '+').length;
  const removed = lines.filter((line) => line.sign === '-').length;
  const shown = lines.slice(0, open ? MOST_LINES : SHORT_LINES);
  const hidden = lines.length - shown.length;
  return (
    <div className="overflow-hidden rounded-m border border-line">
      <div className="flex h-7 items-center gap-2 border-b border-line bg-sunken px-2.5 text-xs">
        <code className="min-w-0 flex-1 truncate font-mono text-fg-2" title={change.path}>{change.path}</code>
        <span className="num text-good">+{format.exact(added)}</span>
        <span className="num text-bad">−{format.exact(removed)}</span>
      </div>
      {change.binary ? (
        <p className="px-2.5 py-2 text-sm text-fg-3">{t('diff.binary')}</p>
      ) : (
        <div tabIndex={0} role="group" aria-label={t('diff.label', { path: change.path })} className="focus-inset max-h-[60vh] overflow-auto bg-code py-1 font-mono text-xs leading-[1.5]">
          {shown.map((line, i) => (
            <div key={i} className={cx('flex gap-2 px-2.5', line.sign === '+' && 'bg-good-soft text-fg', line.sign === '-' && 'bg-bad-soft text-fg', (line.sign === ' ' || line.sign === '@') && 'text-fg-2')}>
              <span className={cx('w-3 shrink-0 select-none', line.sign === '+' ? 'text-good' : line.sign === '-' ? 'text-bad' : 'text-fg-3')}>{line.sign === '-' ? '−' : line.sign === '@' ? '⋯' : line.sign}</span>
              <span className="min-w-0 flex-1 wrap-anywhere whitespace-pre-wrap">{line.text || ' '}</span>
            </div>
          ))}
        </div>
      )}
      {(hidden > 0 || open) && lines.length > SHORT_LINES && (
        <button type="button" onClick={() => setOpen(!open)} className="focus-inset w-full border-t border-line px-2.5 py-1 text-left text-xs text-accent hover:bg-hover">
          {open ? t('diff.less') : t('diff.more', { count: hidden, shown: format.exact(hidden) })}
        </button>
      )}
    </div>
  );
}

function linesOf({ before, after, binary }: ChangedFile): Line[] {
  if (binary) return [];
  if (before === null || after === null) {
    const sign = before === null ? '+' : '-';
    return (before ?? after ?? '').replace(/\n$/, '').split('\n').map((text) => ({ sign, text }));
  }
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context: 3, timeout: DIFF_MS });
  if (!patch) return [...before.split('\n').map((text): Line => ({ sign: '-', text })), ...after.split('\n').map((text): Line => ({ sign: '+', text }))];
  return patch.hunks.flatMap((hunk, i) => [
    ...(i > 0 || hunk.oldStart > 1 ? [{ sign: '@' as const, text: '' }] : []),
    ...hunk.lines.filter((line) => !line.startsWith('\\')).map((line): Line => ({ sign: line[0] as Line['sign'], text: line.slice(1) })),
  ]);
}
