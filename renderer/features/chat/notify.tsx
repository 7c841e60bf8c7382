import { useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSummary } from '#shared/contract/chats.ts';
import { SHELL_NOTIFY, SHELL_OPEN } from '#shared/shell.ts';
import { useClient, useLoad } from '../../lib/engine-context.tsx';
import { navigate, splitHash } from '../../lib/hash-location.ts';
import { hostKind } from '../../lib/transports.ts';
import { useCloseToast, useToasts } from '../../ui/Toasts.tsx';
import { useChatChanges } from './feed.tsx';
import { newsOf, type News } from './news.ts';

/** Whether the person has this chat before the eyes. */
export function isLookedAt(id: string): boolean {
  return document.visibilityState === 'visible' && document.hasFocus() && splitHash(window.location.hash).path === `/chat/${id}`;
}

/** Says when a chat in the background has ended or asks: in the page, and in the desktop app also by the system. */
export function ChatNotices(): ReactNode {
  const { t } = useTranslation('chat');
  const client = useClient();
  const toast = useToasts();
  const closeToast = useCloseToast();
  const known = useRef(new Map<string, SessionSummary>());
  // Chats that run when the page comes up are known by their state, so that their end is news.
  const running = useLoad((client, signal) => client.chats.list({ limit: 60 }, { signal }), []);
  useEffect(() => {
    for (const session of running.data?.items ?? []) if (!known.current.has(session.id)) known.current.set(session.id, session);
  }, [running.data]);

  const tell = async ({ id, title: own, error }: SessionSummary, news: News): Promise<void> => {
    // Asked for at this moment: Settings or config.yaml may have been changed elsewhere.
    const wanted = await client.preferences.get().then((preferences) => preferences.notify, () => true);
    if (!wanted || isLookedAt(id)) return;
    const title = own || t('list.untitled');
    const text = news === 'failed' && error ? error : t(`notice.${news}`);
    const open = (): void => navigate(`/chat/${id}`);
    toast({ id: `chat-${id}`, title, description: text, kind: news === 'failed' ? 'bad' : news === 'ended' ? 'good' : 'info', timeout: news === 'asks' ? 30_000 : 9_000, action: { label: t('notice.open'), run: open } });
    if (hostKind(document) === 'desktop') window.postMessage({ type: SHELL_NOTIFY, title, body: text, place: `/chat/${id}` }, window.location.origin);
  };

  useChatChanges(({ changed, removed }) => {
    for (const id of removed) known.current.delete(id);
    for (const session of changed) {
      const news = newsOf(known.current.get(session.id), session);
      known.current.set(session.id, session);
      if (news !== null && !isLookedAt(session.id)) void tell(session, news);
    }
  });

  // Who opens the chat has the news.
  useEffect(() => {
    const onLook = (): void => {
      const id = /^\/chat\/(.+)$/.exec(splitHash(window.location.hash).path)?.[1];
      if (id !== undefined && isLookedAt(id)) closeToast(`chat-${id}`);
    };
    const events = ['hashchange', 'popstate', 'focus'] as const;
    for (const event of events) window.addEventListener(event, onLook);
    return () => events.forEach((event) => window.removeEventListener(event, onLook));
  }, [closeToast]);

  // A click on the system's notification leads to its chat.
  useEffect(() => {
    const onMessage = (event: MessageEvent<{ type?: unknown; place?: unknown } | null>): void => {
      if (event.source !== window || event.data?.type !== SHELL_OPEN) return;
      const { place } = event.data;
      if (typeof place === 'string' && /^\/chat\/[\w-]+$/.test(place)) navigate(place);
    };
    window.addEventListener('message', onMessage);
    return () => window.removeEventListener('message', onMessage);
  }, []);
  return null;
}
