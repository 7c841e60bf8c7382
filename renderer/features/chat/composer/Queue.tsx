import { CornerDownRight, ListPlus, Pencil, Send, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { QueuedMessage } from '#shared/contract/chats.ts';
import { IconButton } from '../../../ui/Button.tsx';

/** Messages that wait for their turn, or for the next model call. */
export function Queue({ queue, waits, onRemove, onEdit, onSendNow }: { queue: readonly QueuedMessage[]; /** Nothing runs that would take them. */ waits: boolean; onRemove: (item: QueuedMessage) => void; onEdit: (item: QueuedMessage) => void; onSendNow: () => void }): ReactNode {
  const { t } = useTranslation('chat');
  if (queue.length === 0) return null;
  return (
    <ul aria-label={t('queue.label')} className="mb-1.5 grid max-h-40 gap-1 overflow-y-auto">
      {queue.map((item, i) => {
        const Icon = item.steer ? CornerDownRight : ListPlus;
        return (
          <li key={item.id} className="flex min-w-0 items-center gap-2 rounded-m border border-dashed border-line-strong bg-raised py-0.5 pr-0.5 pl-2.5 text-sm">
            <Icon className="size-3.5 shrink-0 text-fg-3" aria-hidden="true" />
            <span className="shrink-0 text-xs text-fg-3">{t(item.steer ? 'queue.steer' : waits ? 'queue.waits' : 'queue.next')}</span>
            <span className="min-w-0 flex-1 truncate" title={item.text.slice(0, 2000)}>{item.text || item.attachments.map((a) => a.name).join(', ')}</span>
            {waits && i === 0 && <IconButton size="sm" icon={Send} label={t('queue.sendNow')} onClick={onSendNow} />}
            <IconButton size="sm" icon={Pencil} label={t('queue.edit')} onClick={() => onEdit(item)} />
            <IconButton size="sm" icon={X} label={t('queue.remove')} onClick={() => onRemove(item)} />
          </li>
        );
      })}
    </ul>
  );
}
