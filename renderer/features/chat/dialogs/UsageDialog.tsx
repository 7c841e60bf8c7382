import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionState } from '#shared/contract/chats.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { ContextMeter } from '../side/ContextMeter.tsx';
import { SpendLines } from '../side/SpendLines.tsx';

/** /usage: money by purpose, tokens, context. */
export function UsageDialog({ state, onClose }: { state: SessionState; onClose: () => void }): ReactNode {
  const { t } = useTranslation(['chat', 'app']);
  const format = useFormat();
  const cost = state.spend.reduce((sum, line) => sum + line.costUsd, 0);
  // Without a price of any call there is no sum of money, not one of nothing.
  const priced = state.spend.some((line) => line.costUsd > 0 || line.unpricedTokens === 0);
  const tokens = state.spend.reduce((sum, line) => sum + line.tokens, 0);
  return (
    <Dialog open onClose={onClose} title={t('usage.title')} width="sm" footer={<Button variant="primary" onClick={onClose}>{t('app:action.close')}</Button>}>
      <div className="grid gap-4">
        <p className="num">{t(priced ? 'usage.total' : 'usage.totalUnpriced', { cost: format.money(cost), tokens: format.exact(tokens), messages: format.exact(state.session.messageCount) })}</p>
        <SpendLines lines={state.spend} long />
        {state.context && <ContextMeter meter={state.context} compressing={state.compressing} />}
      </div>
    </Dialog>
  );
}
