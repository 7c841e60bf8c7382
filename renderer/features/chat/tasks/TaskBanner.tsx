import { Layers } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** Above the field of a task that is open: what is different here from a chat. */
export function TaskBanner(): ReactNode {
  const { t } = useTranslation('tasks');
  return (
    <div className="mx-auto w-full max-w-[784px] px-4 pt-1">
      <p className="flex items-center gap-2 rounded-m border border-line bg-sunken px-2.5 py-1 text-sm text-fg-2">
        <Layers className="size-3.5 shrink-0 text-fg-3" aria-hidden="true" />
        <span className="min-w-0 flex-1">{t('banner')}</span>
      </p>
    </div>
  );
}
