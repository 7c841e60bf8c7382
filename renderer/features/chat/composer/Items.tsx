import { File as FileIcon, RotateCcw, X } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { fromBase64 } from '../../../lib/base64.ts';
import { cx } from '../../../lib/cx.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Progress } from '../../../ui/Feedback.tsx';
import type { Item } from './use-attachments.ts';

/** The files of the message: on their way, there, or refused, each with its name. */
export function Items({ items, onRemove, onRetry, onAsText }: { items: readonly Item[]; onRemove: (key: string) => void; onRetry: (key: string) => void; onAsText: (item: Item) => void }): ReactNode {
  const { t } = useTranslation('chat');
  const format = useFormat();
  if (items.length === 0) return null;
  return (
    <ul aria-label={t('attach.label')} className="flex flex-wrap gap-1.5 px-2.5 pt-2.5">
      {items.map((item) => {
        const busy = !item.attachment && item.error === null;
        return (
          <li key={item.key} className={cx('relative flex max-w-72 items-center gap-2 overflow-hidden rounded-m border bg-bg py-1 pr-1 pl-1.5 text-xs', item.error ? 'border-bad' : 'border-line')}>
            <Thumb item={item} />
            <span className="grid min-w-0">
              <span className="truncate text-sm" title={item.name}>{item.name}</span>
              <span className={cx('num truncate', item.error ? 'text-bad' : 'text-fg-3')} title={item.error ?? undefined} role={item.error ? 'alert' : undefined}>
                {item.error ?? (busy ? t('attach.sending', { sent: format.bytes(item.sent), size: format.bytes(item.bytes) }) : format.bytes(item.bytes))}
              </span>
            </span>
            {item.pasted !== null && <Button variant="ghost" className="h-[22px]! px-1.5!" onClick={() => onAsText(item)}>{t('attach.asText')}</Button>}
            {item.error && <Small icon={RotateCcw} label={t('attach.again', { name: item.name })} onClick={() => onRetry(item.key)} />}
            <Small icon={X} label={t(busy ? 'attach.cancel' : 'attach.remove', { name: item.name })} onClick={() => onRemove(item.key)} />
            {busy && <span className="absolute inset-x-0 bottom-0"><Progress value={item.bytes === 0 ? null : item.sent / item.bytes} label={t('attach.progress', { name: item.name })} /></span>}
          </li>
        );
      })}
    </ul>
  );
}

function Small({ icon: Icon, label, onClick }: { icon: typeof X; label: string; onClick: () => void }): ReactNode {
  return (
    <button type="button" aria-label={label} title={label} onClick={onClick} className="grid size-[22px] shrink-0 place-items-center rounded-m text-fg-3 hover:bg-hover hover:text-fg">
      <Icon className="size-3.5" aria-hidden="true" />
    </button>
  );
}

function Thumb({ item }: { item: Item }): ReactNode {
  const client = useClient();
  const [own, setOwn] = useState<string | null>(null);
  const stored = item.image && item.url === null ? (item.attachment?.id ?? null) : null;
  useEffect(() => {
    if (stored === null) return;
    let url: string | null = null;
    let gone = false;
    client.chats.picture({ id: stored }).then(
      ({ mime, data }) => {
        if (gone) return;
        url = URL.createObjectURL(new Blob([fromBase64(data)], { type: mime }));
        setOwn(url);
      },
      () => undefined,
    );
    return () => {
      gone = true;
      if (url) URL.revokeObjectURL(url);
    };
  }, [client, stored]);
  const url = item.url ?? own;
  return (
    <span className="grid size-8 shrink-0 place-items-center overflow-hidden rounded-s bg-hover text-fg-3">
      {url ? <img src={url} alt="" className="size-full object-cover" /> : <FileIcon className="size-4" strokeWidth={1.6} aria-hidden="true" />}
    </span>
  );
}
