import { Pencil, Plus, RotateCcw, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Price, PriceRow } from '#shared/contract/spend.ts';
import { useClient, useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button, IconButton } from '../../../ui/Button.tsx';
import { Chip } from '../../../ui/Chip.tsx';
import { Banner, ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { PriceDialog } from './PriceDialog.tsx';

/** The price table: own rows first, built-in ones can be overridden; models that were used without a price ask for one. */
export function Prices(): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const f = useFormat();
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const prices = useLoad((c) => c.spend.prices(), []);
  const [editing, setEditing] = useState<{ model: string; price: Price | null; known: boolean } | null>(null);
  if (prices.error && !prices.data) return <ErrorState error={prices.error} onRetry={prices.reload} />;
  if (!prices.data) return <Skeleton className="h-56 rounded-l" />;
  const { rows, unpriced } = prices.data;
  const remove = (row: PriceRow): void => {
    const set = (price: Price | null): Promise<void> => client.spend.setPrice({ model: row.model, price }).then(prices.reload);
    set(null).then(
      () => toast({ title: t('spend.removed', { model: row.model }), action: { label: t('app:action.undo'), run: () => void set(row.price) } }),
      (error: unknown) => toast({ title: errorText(error), kind: 'bad' }),
    );
  };
  return (
    <div className="grid gap-2">
      <div className="flex items-end justify-between gap-4 pt-1">
        <div>
          <h3 className="font-semibold">{t('spend.prices')}</h3>
          <p className="text-sm text-fg-2">{t('spend.pricesAbout')}</p>
        </div>
        <Button icon={Plus} onClick={() => setEditing({ model: '', price: null, known: false })}>{t('spend.addPrice')}</Button>
      </div>
      {unpriced.length > 0 && (
        <Banner tone="warn" title={t('spend.unpricedTitle', { count: unpriced.length })}>
          <ul className="grid gap-1">
            {unpriced.map(({ provider, model, tokens }) => (
              <li key={`${provider}/${model}`} className="flex flex-wrap items-center gap-2">
                <code className="font-mono text-xs wrap-anywhere">{provider}/{model}</code>
                <span className="num text-xs text-fg-3">{t('spend.tokens', { shown: f.compact(tokens) })}</span>
                <Button onClick={() => setEditing({ model: `${provider}/${model}`, price: null, known: false })}>{t('spend.setPrice')}</Button>
              </li>
            ))}
          </ul>
        </Banner>
      )}
      <div className="max-h-80 overflow-y-auto rounded-l border border-line bg-raised" tabIndex={0} role="region" aria-label={t('spend.prices')}>
        <table className="num w-full text-sm">
          <thead className="sticky top-0 bg-raised text-xs text-fg-3">
            <tr className="border-b border-line">
              <th className="px-3.5 py-1.5 text-left font-medium">{t('spend.column.model')}</th>
              <th className="px-2 py-1.5 text-right font-medium">{t('spend.column.input')}</th>
              <th className="px-2 py-1.5 text-right font-medium">{t('spend.column.cached')}</th>
              <th className="px-2 py-1.5 text-right font-medium">{t('spend.column.output')}</th>
              <th className="w-20 px-2 py-1.5"><span className="sr-only">{t('spend.column.actions')}</span></th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.model} className="border-line not-last:border-b">
                <td className="px-3.5 py-1">
                  <span className="flex items-center gap-2">
                    <code className="font-mono text-xs wrap-anywhere">{row.model}</code>
                    {row.source === 'own' && <Chip tone="info">{t('spend.own')}</Chip>}
                  </span>
                </td>
                {[row.price.input, row.price.cached ?? row.price.input, row.price.output].map((value, i) => (
                  <td key={i} className="px-2 py-1 text-right text-fg-2">{f.money(value)}</td>
                ))}
                <td className="px-2 py-0.5">
                  <span className="flex justify-end">
                    <IconButton icon={Pencil} size="sm" label={t('spend.editPrice', { model: row.model })} onClick={() => setEditing({ model: row.model, price: row.price, known: true })} />
                    {row.source === 'own' && <IconButton icon={row.model.endsWith('*') ? RotateCcw : Trash2} size="sm" label={t('spend.removePrice', { model: row.model })} onClick={() => remove(row)} />}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {editing && <PriceDialog initial={editing} onClose={() => setEditing(null)} onSaved={prices.reload} />}
    </div>
  );
}
