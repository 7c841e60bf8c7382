import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SpendLine } from '#shared/contract/chats.ts';
import { useFormat } from '../../../lib/i18n.ts';

/** What a chat cost, by purpose. Tokens without a known price are said, never counted as free. */
export function SpendLines({ lines, long = false }: { lines: readonly SpendLine[]; long?: boolean }): ReactNode {
  const { t } = useTranslation('chat');
  const format = useFormat();
  if (lines.length === 0) return <p className="text-sm text-fg-3">{t('spend.none')}</p>;
  const unpriced = lines.reduce((sum, line) => sum + line.unpricedTokens, 0);
  const isUnpriced = (line: SpendLine): boolean => line.costUsd === 0 && line.unpricedTokens > 0;
  return (
    <>
      <dl className="grid gap-1">
        {lines.map((line) => (
          <div key={line.purpose} className="flex items-baseline justify-between gap-3 text-sm">
            <dt className="text-fg-3">{t(`spend.${line.purpose}`)}{long && <span className="num"> · {t('spend.calls', { count: line.calls, shown: format.exact(line.calls) })}</span>}</dt>
            <dd className="num" title={t('spend.tokens', { shown: format.exact(line.tokens) })}>
              {long && <span className={isUnpriced(line) ? undefined : 'mr-3 text-fg-3'}>{t('spend.tokens', { shown: format.compact(line.tokens) })}</span>}
              {isUnpriced(line) ? !long && t('spend.tokens', { shown: format.compact(line.unpricedTokens) }) : format.money(line.costUsd)}
            </dd>
          </div>
        ))}
      </dl>
      {unpriced > 0 && <p className="num mt-1 text-xs text-fg-3">{t('spend.unpriced', { shown: format.compact(unpriced) })}</p>}
    </>
  );
}
