import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SpendLine } from '#shared/contract/chats.ts';
import type { Caps } from '#shared/contract/spend.ts';
import { useClient, useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { Input } from '../../../ui/Input.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { SettingRow, SettingsSection } from '../SettingRow.tsx';
import { amountText, parseAmount } from './amount.ts';
import { Prices } from './Prices.tsx';

const CAPS = ['sessionUsd', 'runUsd', 'dayUsd'] as const satisfies readonly (keyof Caps)[];

/** What was spent and for what, the caps, and the prices it is counted by. */
export function Spend(): ReactNode {
  const { t } = useTranslation('settings');
  const summary = useLoad((client) => client.spend.summary(), []);
  return (
    <SettingsSection id="spend" title={t('spend.title')} about={t('spend.about')}>
      {summary.data ? (
        <div className="grid gap-3">
          <div className="rounded-l border border-line bg-raised">
            {CAPS.map((cap) => (
              <CapRow key={cap} cap={cap} value={summary.data?.caps[cap] ?? null} onSaved={(caps) => summary.data && summary.set({ ...summary.data, caps })} />
            ))}
          </div>
          <Days days={summary.data.days} />
          <Prices />
        </div>
      ) : summary.error ? (
        <ErrorState error={summary.error} onRetry={summary.reload} />
      ) : (
        <Skeleton className="h-40 rounded-l" />
      )}
    </SettingsSection>
  );
}

function CapRow({ cap, value, onSaved }: { cap: (typeof CAPS)[number]; value: number | null; onSaved: (caps: Caps) => void }): ReactNode {
  const { t } = useTranslation('settings');
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const [text, setText] = useState(amountText(value));
  const parsed = parseAmount(text);
  const wrong = parsed === undefined || parsed === 0;
  const save = (): void => {
    if (wrong || parsed === value) return;
    client.spend.setCaps({ [cap]: parsed }).then(
      (caps) => {
        onSaved(caps);
        setText(amountText(caps[cap]));
        toast({ title: t('spend.capSaved'), kind: 'good' });
      },
      (error: unknown) => toast({ title: errorText(error), kind: 'bad' }),
    );
  };
  return (
    <SettingRow label={t(`spend.cap.${cap}`)} hint={wrong ? <span role="alert" className="text-bad">{t('spend.wrongAmount')}</span> : t(`spend.capHint.${cap}`)}>
      <span className="flex items-center gap-1.5 text-sm text-fg-3">
        $
        <Input
          aria-label={t(`spend.cap.${cap}`)}
          aria-invalid={wrong || undefined}
          inputMode="decimal"
          className="num w-24 text-right"
          placeholder={t('spend.noCap')}
          value={text}
          onChange={(e) => setText(e.target.value)}
          onBlur={save}
          onKeyDown={(e) => e.key === 'Enter' && save()}
        />
      </span>
    </SettingRow>
  );
}

/** The last days, by purpose. */
function Days({ days }: { days: readonly { day: string; lines: readonly SpendLine[] }[] }): ReactNode {
  const { t } = useTranslation('settings');
  const f = useFormat();
  if (days.length === 0) return <p className="rounded-l border border-line bg-raised px-3.5 py-3 text-sm text-fg-3">{t('spend.nothing')}</p>;
  return (
    <div className="max-h-72 overflow-y-auto rounded-l border border-line bg-raised" tabIndex={0} role="region" aria-label={t('spend.days')}>
      <table className="num w-full text-sm">
        <thead className="sticky top-0 bg-raised text-left text-xs text-fg-3">
          <tr className="border-b border-line">
            <th className="px-3.5 py-1.5 font-medium">{t('spend.column.day')}</th>
            <th className="px-2 py-1.5 font-medium">{t('spend.column.purpose')}</th>
            <th className="px-2 py-1.5 text-right font-medium">{t('spend.column.calls')}</th>
            <th className="px-2 py-1.5 text-right font-medium">{t('spend.column.tokens')}</th>
            <th className="px-3.5 py-1.5 text-right font-medium">{t('spend.column.cost')}</th>
          </tr>
        </thead>
        <tbody>
          {days.flatMap(({ day, lines }) =>
            lines.map((line, i) => (
              <tr key={`${day} ${line.purpose}`} className={i === lines.length - 1 ? 'border-b border-line last:border-0' : ''}>
                <td className="px-3.5 py-1 text-fg-2">{i === 0 ? day : ''}</td>
                <td className="px-2 py-1">{t(`spend.purpose.${line.purpose}`)}</td>
                <td className="px-2 py-1 text-right text-fg-2">{f.exact(line.calls)}</td>
                <td className="px-2 py-1 text-right text-fg-2" title={f.exact(line.tokens)}>{f.compact(line.tokens)}</td>
                <td className="px-3.5 py-1 text-right" title={line.unpricedTokens > 0 ? t('spend.unpricedHint', { shown: f.exact(line.unpricedTokens) }) : undefined}>
                  {f.money(line.costUsd)}
                  {line.unpricedTokens > 0 && <span className="text-warn"> + ?</span>}
                </td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </div>
  );
}
