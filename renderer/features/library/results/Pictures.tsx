import { Dialog as Base } from '@base-ui/react/dialog';
import { FileText, ImageOff } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Attachment } from '#shared/trajectory.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useFormat } from '../../../lib/i18n.ts';

/** Kinds that are only pixels; anything else is shown as a file. */
const RASTER = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp']);

/** What was sent with a message or shown by a tool: pictures in a place of fixed height, other files by name. */
export function Pictures({ attachments }: { attachments: readonly Attachment[] }): ReactNode {
  return (
    <ul className="flex flex-wrap gap-2">
      {attachments.map((attachment, i) => (
        <li key={`${attachment.id}:${i}`} className="min-w-0">{attachment.kind === 'image' && RASTER.has(attachment.mime) ? <Picture attachment={attachment} /> : <FileChip attachment={attachment} />}</li>
      ))}
    </ul>
  );
}

function FileChip({ attachment }: { attachment: Attachment }): ReactNode {
  const format = useFormat();
  return (
    <span title={attachment.path ?? attachment.name} className="flex h-7 max-w-72 items-center gap-1.5 rounded-m border border-line bg-raised px-2 text-sm">
      <FileText className="size-3.5 shrink-0 text-fg-3" aria-hidden="true" />
      <span className="min-w-0 truncate"><bdi>{attachment.name}</bdi></span>
      <span className="num shrink-0 text-xs text-fg-3">{format.bytes(attachment.bytes)}</span>
    </span>
  );
}

function Picture({ attachment }: { attachment: Attachment }): ReactNode {
  const { t } = useTranslation('library');
  const app = useTranslation('app').t;
  const { url, failed } = usePicture(attachment.id);
  const label = t('call.picture', { name: attachment.name });
  if (failed) {
    return (
      <span className="grid h-32 w-44 place-content-center justify-items-center gap-1 rounded-m border border-dashed border-line-strong p-2 text-center text-xs text-fg-3">
        <ImageOff className="size-4" aria-hidden="true" />
        <span className="wrap-anywhere">{t('call.pictureGone', { name: attachment.name })}</span>
      </span>
    );
  }
  return (
    <Base.Root>
      <Base.Trigger aria-label={label} title={attachment.name} disabled={url === null} className="grid h-32 max-w-full min-w-24 place-content-center overflow-hidden rounded-m border border-line bg-raised">
        {url !== null && <img src={url} alt="" className="h-32 max-w-full object-contain" />}
      </Base.Trigger>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-shade" />
        <Base.Popup data-cover="" className="fixed inset-6 z-50 grid place-content-center">
          <Base.Title className="sr-only">{label}</Base.Title>
          <Base.Close aria-label={app('action.close')} className="grid max-h-full place-content-center">
            {url !== null && <img src={url} alt={attachment.name} className="max-h-[calc(100vh-48px)] max-w-full rounded-m object-contain" />}
          </Base.Close>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** A picture as an address of this page, given back when it is no longer shown. */
function usePicture(id: string): { url: string | null; failed: boolean } {
  const client = useClient();
  const [state, setState] = useState<{ url: string | null; failed: boolean }>({ url: null, failed: false });
  useEffect(() => {
    let here = true;
    let made: string | null = null;
    client.chats.picture({ id }).then(
      ({ mime, data }) => {
        if (!here) return;
        if (!RASTER.has(mime)) throw new Error('No picture.');
        made = URL.createObjectURL(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: mime }));
        setState({ url: made, failed: false });
      },
    ).catch(() => here && setState({ url: null, failed: true }));
    return () => {
      here = false;
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [client, id]);
  return state;
}
