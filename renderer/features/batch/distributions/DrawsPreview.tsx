import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { DRAWS_SHOWN, type Draws } from '#shared/contract/distributions.ts';
import { cx } from '../../../lib/cx.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';

const DEBOUNCE_MS = 200;
const COMBINATIONS = 8;

/** What a sample of draws from a table looks like; drawn again as the table changes. */
export function DrawsPreview({ toolsets }: { toolsets: Readonly<Record<string, number>> }): ReactNode {
  const { t } = useTranslation('batch');
  const f = useFormat();
  const errorText = useErrorText();
  const { draws, error, stale } = useDraws(toolsets);
  return (
    <section aria-label={t('runForm.dist.preview', { shown: f.exact(DRAWS_SHOWN) })} aria-busy={stale} className="grid content-start gap-3">
      <h3 className="text-sm font-semibold">{t('runForm.dist.preview', { shown: f.exact(DRAWS_SHOWN) })}</h3>
      {error !== null && <p className="text-sm text-warn">{t('runForm.dist.previewFailed', { why: errorText(error) })}</p>}
      {draws && error === null && (
        <div className={cx('grid gap-4 transition-opacity', stale && 'opacity-60')}>
          <ul className="grid gap-1">
            {draws.toolsets.map(({ name, count }) => (
              <Bar key={name} name={name} share={count / draws.draws} shown={f.exact(count)} />
            ))}
          </ul>
          <div className="grid gap-1.5">
            <h4 className="text-xs font-semibold text-fg-3">{t('runForm.dist.combinations')}</h4>
            <ul className="grid gap-1">
              {draws.combinations.slice(0, COMBINATIONS).map((one) => (
                <Bar key={one.toolsets.join(' ')} name={one.toolsets.join(' + ')} share={one.count / draws.draws} shown={f.percent(one.count / draws.draws)} quiet />
              ))}
              {others(draws) > 0 && <Bar name={t('runForm.dist.others')} share={others(draws) / draws.draws} shown={f.percent(others(draws) / draws.draws)} quiet />}
            </ul>
          </div>
        </div>
      )}
    </section>
  );
}

function others({ combinations, others: rest }: Draws): number {
  return combinations.slice(COMBINATIONS).reduce((sum, { count }) => sum + count, rest);
}

function Bar({ name, share, shown, quiet = false }: { name: string; share: number; shown: string; quiet?: boolean }): ReactNode {
  return (
    <li className="grid grid-cols-[minmax(7rem,1fr)_minmax(0,2fr)_3rem] items-center gap-3 text-sm">
      <span className="truncate" title={name}>
        {name}
      </span>
      <span className="h-2 overflow-hidden rounded-full bg-hover" aria-hidden="true">
        <i className={cx('block h-full rounded-full transition-[width]', quiet ? 'bg-fg-3' : 'bg-accent')} style={{ width: `${share * 100}%` }} />
      </span>
      <span className="num text-right text-xs text-fg-2">{shown}</span>
    </li>
  );
}

function useDraws(toolsets: Readonly<Record<string, number>>): { draws: Draws | null; error: unknown; stale: boolean } {
  const client = useClient();
  const key = JSON.stringify(toolsets);
  const [state, setState] = useState<{ key: string; draws: Draws | null; error: unknown }>({ key: '', draws: null, error: null });
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      client.distributions.preview({ toolsets: JSON.parse(key) as Record<string, number> }, { signal: abort.signal }).then(
        (draws) => !abort.signal.aborted && setState({ key, draws, error: null }),
        (error: unknown) => !abort.signal.aborted && setState((s) => ({ ...s, key, error })),
      );
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, key]);
  return { draws: state.draws, error: state.error, stale: state.key !== key };
}
