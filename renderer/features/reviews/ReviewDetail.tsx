import { CircleStop, FileSearch } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Proposal, Review } from '#shared/contract/reviews.ts';
import { useCommands } from '../../lib/commands.tsx';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { ProposalCard, type Decide } from './ProposalCard.tsx';
import { nextWaiting, waitingIn } from './proposals.ts';

/** A review with its proposals, and where one decides on them. @param onChanged takes what a decision answered */
export function ReviewDetail({ review, onChanged }: { review: Review; onChanged: (review: Review) => void }): ReactNode {
  const { t } = useTranslation(['reviews', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const { proposals } = review;
  const [picked, setPicked] = useState<string | null>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const current = proposals.find((p) => p.id === picked) ?? waitingIn(review)[0] ?? proposals[0] ?? null;
  const waiting = waitingIn(review);

  const show = (id: string): void => {
    setPicked(id);
    document.getElementById(`proposal-${id}`)?.scrollIntoView({ block: 'nearest' });
  };
  const settle = async (proposal: Proposal, decision: 'accept' | 'reject' | 'undo', edited?: Parameters<Decide>[2]): Promise<Review | null> => {
    setBusy((now) => new Set(now).add(proposal.id));
    try {
      const after = await client.reviews.decide({ proposalId: proposal.id, decision, ...(edited ? { edited } : {}) });
      onChanged(after);
      return after;
    } catch (error) {
      toast({ title: t('failed', { title: proposal.title }), description: errorText(error), kind: 'bad' });
      return null;
    } finally {
      setBusy((now) => {
        const left = new Set(now);
        left.delete(proposal.id);
        return left;
      });
    }
  };
  const decide: Decide = (proposal, decision, edited) => {
    void settle(proposal, decision, edited).then((after) => {
      if (!after) return;
      setEditing((now) => (now === proposal.id ? null : now));
      const next = decision === 'undo' ? null : nextWaiting(after.proposals, proposal.id);
      if (next) show(next.id);
    });
  };
  const acceptAll = (): void => {
    void (async () => {
      // one after the other: a later one may build on an earlier one
      for (const proposal of waiting) if (!(await settle(proposal, 'accept'))) return;
    })();
  };
  const move = (step: number): void => {
    const at = proposals.findIndex((p) => p.id === current?.id);
    const next = proposals[Math.max(0, Math.min(proposals.length - 1, at + step))];
    if (next) show(next.id);
  };
  useCommands(
    t('title'),
    [
      { id: 'next-proposal', label: t('keys.nextProposal'), keys: 'shift+j', also: ['n'], keysOnly: true, repeats: true, run: () => move(1) },
      { id: 'previous-proposal', label: t('keys.previousProposal'), keys: 'shift+k', also: ['p'], keysOnly: true, repeats: true, run: () => move(-1) },
    ],
    proposals.length > 1 && editing === null,
  );

  return (
    <div className="grid h-full grid-cols-1 grid-rows-[auto_minmax(0,1fr)]">
      <Head review={review} waiting={waiting.length} busy={busy.size > 0} onAcceptAll={acceptAll} onCancel={() => void client.reviews.cancel({ id: review.id }).then(onChanged, (error: unknown) => void toast({ title: errorText(error), kind: 'bad' }))} />
      <div className="overflow-y-auto">
        <div className="mx-auto grid max-w-[860px] grid-cols-1 gap-3 px-5 py-4">
          {proposals.map((proposal) => (
            <ProposalCard
              key={proposal.id}
              proposal={proposal}
              current={proposal.id === current?.id}
              busy={busy.has(proposal.id)}
              editing={editing === proposal.id}
              onCurrent={() => setPicked(proposal.id)}
              onEdit={(on) => setEditing(on ? proposal.id : null)}
              onDecide={decide}
            />
          ))}
          {proposals.length === 0 && <Nothing review={review} />}
        </div>
      </div>
    </div>
  );
}

function Head({ review, waiting, busy, onAcceptAll, onCancel }: { review: Review; waiting: number; busy: boolean; onAcceptAll: () => void; onCancel: () => void }): ReactNode {
  const { t } = useTranslation('reviews');
  const format = useFormat();
  const tokens = review.usage.promptTokens + review.usage.completionTokens;
  const going = review.state === 'queued' || review.state === 'running';
  const [first] = review.sources;
  const source = review.sessionId !== null ? `#/chat/${encodeURIComponent(review.sessionId)}` : first ? `#/library/${encodeURIComponent(first.trajectoryId)}` : null;
  return (
    <header className="border-b border-line px-5 py-2.5">
      <div className="flex items-start gap-3">
        <h2 className="line-clamp-2 min-w-0 flex-1 text-lg leading-[1.35] font-semibold wrap-anywhere">{source === null ? review.title : <a href={source} className="no-underline hover:underline">{review.title || t('untitled')}</a>}</h2>
        {going && <Button icon={CircleStop} onClick={onCancel}>{t('action.cancel')}</Button>}
        {waiting > 1 && <Button variant="primary" hotkey="shift+a" busy={busy} onClick={onAcceptAll}>{t('action.acceptAll', { count: waiting })}</Button>}
      </div>
      <div className="num mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-fg-3">
        <span>{t(`trigger.${review.trigger}`)}</span>
        <span>{t(`what.${review.kind}`)}</span>
        {review.sources.length > 1 && <span>{t('sources', { count: review.sources.length })}</span>}
        {going && <span className="flex items-center gap-1 text-accent"><Spinner className="size-3" />{t(`reviewState.${review.state}`)}</span>}
        {review.model !== null && <span>{review.model}</span>}
        {tokens > 0 && <span title={format.exact(tokens)}>{t('tokens', { shown: format.compact(tokens) })}</span>}
        {review.costUsd !== null && <span>{format.money(review.costUsd)}</span>}
        <span title={format.dateTime(review.createdAt)}>{format.ago(review.createdAt)}</span>
        {review.trajectoryId !== null && <a href={`#/library/${encodeURIComponent(review.trajectoryId)}`} className="flex items-center gap-1 underline decoration-line-strong underline-offset-2 hover:text-fg"><FileSearch className="size-3" aria-hidden="true" />{t('trace')}</a>}
      </div>
      {review.focus && <p className="mt-1 text-sm wrap-anywhere text-fg-2">{t('focus', { text: review.focus })}</p>}
      {review.error !== null && <p role="alert" className="mt-1.5 rounded-s bg-bad-soft px-2 py-1 text-sm wrap-anywhere">{review.error}</p>}
    </header>
  );
}

function Nothing({ review }: { review: Review }): ReactNode {
  const { t } = useTranslation('reviews');
  const text = review.state === 'done' ? 'nothing.done' : review.state === 'queued' || review.state === 'running' ? 'nothing.going' : 'nothing.ended';
  return <p className="py-10 text-center text-fg-3">{t(text)}</p>;
}
