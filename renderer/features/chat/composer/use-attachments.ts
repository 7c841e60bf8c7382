import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Attachment } from '#shared/trajectory.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { useToasts } from '../../../ui/Toasts.tsx';
import { attachFile, MAX_ATTACHMENTS, MAX_FILE_BYTES } from './upload.ts';

/** One file at the composer: on its way, there, or refused. */
export interface Item {
  key: string;
  name: string;
  bytes: number;
  image: boolean;
  /** Bytes sent while it is on its way. */
  sent: number;
  attachment: Attachment | null;
  error: string | null;
  /** A picture's own bytes, to show it small. */
  url: string | null;
  /** What was pasted, so that it can go into the text after all. */
  pasted: string | null;
}

export interface Attachments {
  items: readonly Item[];
  ready: Attachment[];
  uploading: boolean;
  add: (files: readonly File[], pasted?: string) => void;
  remove: (key: string) => void;
  retry: (key: string) => void;
  /** Puts these in place of all. */
  set: (attachments: readonly Attachment[]) => void;
}

const fromStored = (attachment: Attachment): Item => ({
  key: attachment.id + attachment.name, name: attachment.name, bytes: attachment.bytes, image: attachment.kind === 'image', sent: attachment.bytes, attachment, error: null, url: null, pasted: null,
});

/** The files of the message that is being written. Each is brought to the engine as soon as it is given. */
export function useAttachments(initial: readonly Attachment[]): Attachments {
  const { t } = useTranslation('chat');
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const format = useFormat();
  const [items, setItems] = useState<readonly Item[]>(() => initial.map(fromStored));
  const count = useRef(0);
  const work = useRef(new Map<string, { abort: AbortController; file: File }>());
  const urls = useRef(new Set<string>());
  useEffect(() => {
    const running = work.current;
    const made = urls.current;
    return () => {
      for (const { abort } of running.values()) abort.abort();
      for (const url of made) URL.revokeObjectURL(url);
    };
  }, []);
  const patch = useCallback((key: string, change: Partial<Item>) => setItems((all) => all.map((item) => (item.key === key ? { ...item, ...change } : item))), []);

  const bring = useCallback(
    (key: string, file: File) => {
      const abort = new AbortController();
      work.current.set(key, { abort, file });
      attachFile(client.chats, file, (sent) => patch(key, { sent }), abort.signal).then(
        (attachment) => patch(key, { attachment, error: null }),
        (error: unknown) => !abort.signal.aborted && patch(key, { error: errorText(error) }),
      );
    },
    [client, patch, errorText],
  );

  const number = items.length;
  return useMemo(
    () => ({
      items,
      ready: items.flatMap((item) => (item.attachment ? [item.attachment] : [])),
      uploading: items.some((item) => !item.attachment && item.error === null),
      add(files, pasted) {
        const room = MAX_ATTACHMENTS - number;
        if (files.length > room) toast({ title: t('attach.tooMany', { max: MAX_ATTACHMENTS }), kind: 'bad' });
        for (const file of files.slice(0, Math.max(0, room))) {
          if (file.size > MAX_FILE_BYTES) {
            toast({ title: t('attach.tooLarge', { name: file.name, max: format.bytes(MAX_FILE_BYTES) }), kind: 'bad' });
            continue;
          }
          const key = `file-${++count.current}`;
          const image = /^image\/(png|jpeg|gif|webp)$/.test(file.type);
          const url = image ? URL.createObjectURL(file) : null;
          if (url) urls.current.add(url);
          setItems((all) => [...all, { key, name: file.name || 'image.png', bytes: file.size, image, sent: 0, attachment: null, error: null, url, pasted: pasted ?? null }]);
          bring(key, file);
        }
      },
      remove(key) {
        work.current.get(key)?.abort.abort();
        work.current.delete(key);
        setItems((all) => all.filter((item) => item.key !== key));
      },
      retry(key) {
        const file = work.current.get(key)?.file;
        if (!file) return;
        patch(key, { error: null, sent: 0 });
        bring(key, file);
      },
      set(attachments) {
        for (const { abort } of work.current.values()) abort.abort();
        work.current.clear();
        setItems(attachments.map(fromStored));
      },
    }),
    [items, number, bring, patch, toast, t, format],
  );
}
