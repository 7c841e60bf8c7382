import { BookOpen, Brain, Check, Pencil, ShieldAlert, Undo2, X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Proposal } from '#shared/contract/reviews.ts';
import { cx } from '../../lib/cx.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Chip } from '../../ui/Chip.tsx';
import { Kbd } from '../../ui/Kbd.tsx';
import { findingText } from '../skills/notes.ts';
import { ChangeDiff } from './ChangeDiff.tsx';
import { choicesOf } from './proposals.ts';

const TONES = { waiting: 'warn', applied: 'good', accepted: 'good', rejected: 'neutral', undone: 'neutral', failed: 'bad' } as const;

export type Edited = { path: string; after: string | null }[];
export type Decide = (proposal: Proposal, decision: 'accept' | 'reject' | 'undo', edited?: Edited) => void;

/** One thing that a review would keep: what, why, drawn from which turns, and what it changes. */
export function ProposalCard({ proposal, current, busy, editing, onCurrent, onEdit, onDecide }: {
  proposal: Proposal;
  current: boolean;
  busy: boolean;
  editing: boolean;
  onCurrent: () => void;
  onEdit: (on: boolean) => void;
  onDecide: Decide;
}): ReactNode {
  const { t } = useTranslation(['reviews', 'app']);
  const { t: ofSkills } = useTranslation('skills');
  const format = useFormat();
  const can = choicesOf(proposal);
  const Icon = proposal.kind.startsWith('memory') ? Brain : BookOpen;
  const skillLink = proposal.kind !== 'skill_remove' && proposal.kind.startsWith('skill') && (proposal.state === 'applied' || proposal.state === 'accepted' || proposal.kind === 'skill_change');
  return (
    <article
      id={`proposal-${proposal.id}`}
      aria-label={t('proposal.label', { kind: t(`kind.${proposal.kind}`), title: proposal.title })}
      aria-current={current || undefined}
      onFocus={onCurrent}
      onClick={onCurrent}
      className={cx('scroll-my-4 rounded-l border bg-raised', current ? 'border-accent' : 'border-line')}
    >
      <header className="flex flex-wrap items-center gap-x-2.5 gap-y-1 px-3.5 pt-3">
        <Icon className="size-4 shrink-0 text-fg-3" aria-hidden="true" />
        <h3 className="min-w-0 flex-1 truncate font-semibold" title={proposal.title}>
          <span className="font-normal text-fg-2">{t(`kind.${proposal.kind}`)} · </span>
          {skillLink ? <a href={`#/skills/own/${proposal.target.split('/').map(encodeURIComponent).join('/')}`} className="underline decoration-line-strong underline-offset-2">{proposal.title}</a> : proposal.title}
        </h3>
        <Chip tone={TONES[proposal.state]}>{t(`state.${proposal.state}`)}</Chip>
      </header>
      <div className="grid grid-cols-1 gap-2.5 px-3.5 pt-2 pb-3.5">
        {proposal.reason && <p className="text-sm wrap-anywhere text-fg-2">{proposal.reason}</p>}
        {proposal.evidence.length > 0 && (
          <ul aria-label={t('proposal.evidence')} className="grid gap-1">
            {proposal.evidence.map((e, i) => (
              <li key={i}>
                <a href={`#/library/${encodeURIComponent(e.trajectoryId)}?at=${e.seq}`} className="block border-l-2 border-line-strong py-0.5 pl-2.5 text-sm text-fg-2 no-underline hover:border-accent hover:text-fg">
                  <span className="num mr-2 text-xs text-fg-3">{t(`role.${e.role === 'user' || e.role === 'assistant' || e.role === 'tool' ? e.role : 'other'}`)} #{e.seq}</span>
                  <q className="line-clamp-3 wrap-anywhere">{e.quote}</q>
                </a>
              </li>
            ))}
          </ul>
        )}
        {proposal.findings.length > 0 && (
          <ul className="grid gap-1 rounded-m bg-warn-soft px-2.5 py-2 text-sm">
            {proposal.findings.map((f, i) => (
              <li key={i} className="flex gap-2">
                <ShieldAlert className="mt-0.5 size-3.5 shrink-0 text-warn" aria-hidden="true" />
                <span className="min-w-0 wrap-anywhere">{findingText(f, ofSkills, format.lang)} <code className="font-mono text-xs text-fg-3">{f.file}{f.line === null ? '' : `:${f.line}`}</code></span>
              </li>
            ))}
          </ul>
        )}
        {editing ? <EditForm key={proposal.id} proposal={proposal} busy={busy} onCancel={() => onEdit(false)} onSave={(edited) => onDecide(proposal, 'accept', edited)} /> : proposal.changes.map((change) => <ChangeDiff key={change.path} change={change} />)}
        {proposal.error !== null && <p role="alert" className="rounded-s bg-bad-soft px-2 py-1 text-sm wrap-anywhere">{proposal.error}</p>}
        {!editing && (can.accept || can.reject || can.undo) && (
          <div className="flex flex-wrap gap-2">
            {can.accept && <Button icon={Check} busy={busy} {...(current ? { hotkey: 'a' } : {})} onClick={() => onDecide(proposal, 'accept')}>{t('action.accept')}</Button>}
            {can.accept && proposal.changes.some((c) => c.after !== null && !c.binary) && <Button variant="ghost" icon={Pencil} disabled={busy} {...(current ? { hotkey: 'e' } : {})} onClick={() => onEdit(true)}>{t('action.edit')}</Button>}
            {can.reject && <Button variant="ghost" icon={X} disabled={busy} {...(current ? { hotkey: 'r' } : {})} onClick={() => onDecide(proposal, 'reject')}>{t('action.reject')}</Button>}
            {can.undo && <Button icon={Undo2} busy={busy} {...(current ? { hotkey: 'u' } : {})} onClick={() => onDecide(proposal, 'undo')}>{t('app:action.undo')}</Button>}
          </div>
        )}
      </div>
    </article>
  );
}

function EditForm({ proposal, busy, onCancel, onSave }: { proposal: Proposal; busy: boolean; onCancel: () => void; onSave: (edited: Edited) => void }): ReactNode {
  const { t } = useTranslation(['reviews', 'app']);
  const texts = proposal.changes.filter((c) => c.after !== null && !c.binary);
  const [typed, setTyped] = useState<Record<string, string>>({});
  const save = (): void => onSave(proposal.changes.map((c) => ({ path: c.path, after: typed[c.path] ?? c.after })));
  return (
    <form
      className="grid gap-2"
      onSubmit={(e) => {
        e.preventDefault();
        save();
      }}
      onKeyDown={(e) => {
        if (e.nativeEvent.isComposing) return;
        if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) save();
        if (e.key === 'Escape') {
          e.stopPropagation();
          onCancel();
        }
      }}
    >
      {texts.map((change, i) => (
        <label key={change.path} className="grid gap-1">
          <code className="font-mono text-xs text-fg-3">{change.path}</code>
          <textarea
            autoFocus={i === 0}
            spellCheck={false}
            rows={Math.min(24, Math.max(4, (change.after ?? '').split('\n').length + 1))}
            value={typed[change.path] ?? change.after ?? ''}
            onChange={(e) => setTyped({ ...typed, [change.path]: e.target.value })}
            className="w-full resize-y rounded-m border border-line-strong bg-bg px-2.5 py-2 font-mono text-xs leading-[1.5] outline-none focus:border-accent"
          />
        </label>
      ))}
      <div className="flex gap-2">
        <Button type="submit" icon={Check} busy={busy}>{t('action.acceptEdited')}<Kbd keys="mod+Enter" /></Button>
        <Button variant="ghost" onClick={onCancel}>{t('app:action.cancel')}<Kbd keys="Escape" /></Button>
      </div>
    </form>
  );
}
