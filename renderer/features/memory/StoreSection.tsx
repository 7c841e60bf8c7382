import { Plus } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { MemoryEntry, MemoryStore } from '#shared/contract/memory.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Banner, CopyButton, Meter } from '../../ui/Feedback.tsx';

/** One of the two files: how full it is, what is wrong with it, and its entries. */
export function StoreSection({
  store,
  shown,
  filtered,
  adding,
  onAdd,
  children,
}: {
  store: MemoryStore;
  /** Entries that are listed. */
  shown: readonly MemoryEntry[];
  filtered: boolean;
  adding: ReactNode;
  onAdd: () => void;
  children: ReactNode;
}): ReactNode {
  const { t } = useTranslation('memory');
  const f = useFormat();
  const heading = useId();
  const over = store.chars - store.limit;
  const blocked = store.entries.filter((entry) => entry.blocked).length;
  const share = store.chars / store.limit;
  return (
    <section aria-labelledby={heading}>
      <header className="grid grid-cols-1 gap-2 border-b border-line bg-bg px-4 pt-3.5 pb-2.5">
        <div className="flex items-center gap-3">
          <div className="min-w-0 flex-1">
            <h2 id={heading} className="font-semibold">
              {t(`stores.${store.target}.title`)}
            </h2>
            <div className="flex min-w-0 items-center gap-1 text-xs text-fg-3">
              <span className="truncate font-mono" title={store.file}>
                {store.file}
              </span>
              <CopyButton text={() => store.file} label={t('copyPath')} />
            </div>
          </div>
          <div className="num w-[190px] min-w-[120px] text-right text-xs text-fg-2">
            <span className={over > 0 ? 'text-bad' : undefined}>{t('usage', { chars: f.exact(store.chars), limit: f.exact(store.limit), percent: `${Math.floor(share * 100)}%` })}</span>
            <Meter
              className="mt-1"
              total={store.limit}
              label={t('usageLabel', { chars: f.exact(store.chars), limit: f.exact(store.limit) })}
              parts={[{ key: 'used', value: Math.min(store.chars, store.limit), color: over > 0 ? 'var(--bad)' : share > 0.85 ? 'var(--warn)' : 'var(--accent)' }]}
            />
          </div>
          <Button icon={Plus} onClick={onAdd} disabled={store.problem !== null} aria-label={t('addTo', { name: t(`stores.${store.target}.title`) })}>
            {t('add')}
          </Button>
        </div>
        {store.problem !== null && (
          <Banner tone="bad" title={t('problem')}>
            {store.problem}
          </Banner>
        )}
        {over > 0 && (
          <Banner tone="warn" title={t('over', { count: over, shown: f.exact(over) })}>
            {t('overHint')}
          </Banner>
        )}
        {blocked > 0 && (
          <Banner tone="bad" title={t('blockedCount', { count: blocked })}>
            {t('blockedHint')}
          </Banner>
        )}
      </header>
      {adding}
      {shown.length > 0 && (
        <ul aria-labelledby={heading}>{children}</ul>
      )}
      {shown.length === 0 && !adding && store.problem === null && (
        <p className="border-b border-line px-4 py-6 text-center text-sm text-fg-3">{filtered && store.entries.length > 0 ? t('noneFound') : t(`stores.${store.target}.empty`)}</p>
      )}
    </section>
  );
}
