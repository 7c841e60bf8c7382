import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { TrialPrompt } from '#shared/contract/trials.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { rowExtras } from './form.ts';

/** What runs with a prompt because its row says so; nothing for a prompt alone. */
export function RowExtras({ row }: { row: TrialPrompt['row'] }): ReactNode {
  const { t } = useTranslation('skillTrial');
  const f = useFormat();
  const { turns, system, tools } = rowExtras(row);
  const notes = [turns > 0 && t('row.turns', { count: turns, shown: f.exact(turns) }), system && t('row.system'), tools && t('row.tools')].filter((note) => note !== false);
  return notes.length === 0 ? null : <span className="num text-xs font-normal whitespace-nowrap text-fg-3">{notes.join(' · ')}</span>;
}
