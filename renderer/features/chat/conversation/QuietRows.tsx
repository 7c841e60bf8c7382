import { ChevronLeft, ChevronRight, Copy, GitFork, RotateCcw } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';
import type { StoredMessage } from '#shared/trajectory.ts';
import { cx } from '../../../lib/cx.ts';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { readRemembered, remember } from '../../../lib/remembered.ts';
import { Markdown } from '../../../ui/Markdown.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { TextViewer } from '../../../ui/TextViewer.tsx';
import { useFold } from '../../library/view/context.tsx';
import { part } from '../../library/view/folds.ts';
import { PlainIconButton } from '../../library/view/PlainIconButton.tsx';
import { FoldLine } from '../../library/view/TurnBlock.tsx';
import { skillPathByName } from '../../skills/address.ts';
import type { Fork } from './branches.ts';
import { ROWS_MAX_CHARS } from './rows.ts';
import { useTalk } from './talk-context.tsx';

const THOUGHTS_KEY = 'chat.thoughts';
const MARKDOWN_CHARS = 12_000;
const LIVE_THOUGHT_CHARS = 4_000;
const TICK_MS = 1_000;

/** The present, told again every second while `on`. */
export function useNow(on: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!on) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [on]);
  return now;
}

/** What the model thought: one line until it is opened. How one left it while it was thinking holds for later ones that are being thought. */
export function ThinkRow({ seq, message }: { seq: number; message: StoredMessage | null }): ReactNode {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const { transcript } = useTalk();
  const live = useStore(transcript.live, (s) => (message === null && s.answer?.seq === seq ? s.answer : null));
  const seen = useStore(transcript.state, (s) => s.thoughts.get(seq));
  const [open, toggle] = useFold(part.reasoning(seq), message === null && readRemembered(THOUGHTS_KEY) === 'open');
  const thinking = live !== null && live.thoughtMs === null;
  const now = useNow(thinking);
  const ms = thinking ? now - (live.thinkingSince ?? now) : (live?.thoughtMs ?? seen ?? (message ? thoughtMs(message) : null));
  const time = ms === null ? null : format.duration(Math.max(1, Math.round(ms / 1_000)) * 1_000);
  const text = message?.reasoning ?? live?.reasoning ?? '';
  const turn = (): void => {
    if (message === null) remember(THOUGHTS_KEY, open ? '' : 'open');
    toggle();
  };
  return (
    <div className="border-l-2 border-line-strong pl-2.5">
      <FoldLine open={open} onToggle={turn}>
        {thinking && <Spinner className="size-3" />}
        {thinking ? t('conversation.think.now', { time: time ?? '' }) : time === null ? t('conversation.think.plain') : t('conversation.think.done', { time })}
      </FoldLine>
      {open && (
        <div className="pb-1 text-sm text-role-think">
          {message === null ? <div className="wrap-anywhere whitespace-pre-wrap">{text.slice(-LIVE_THOUGHT_CHARS)}</div> : text.length > MARKDOWN_CHARS ? <TextViewer text={text} label={t('conversation.think.plain')} className="h-96 max-h-[60vh] rounded-m" /> : <Markdown text={text} />}
        </div>
      )}
    </div>
  );
}

/** The part of a model call that went into thinking, by the tokens (or characters) it wrote; null when it is not known. */
export function thoughtMs({ durationMs, reasoning = '', content, toolCalls = [], usage }: StoredMessage): number | null {
  if (durationMs === undefined) return null;
  if (usage && usage.reasoningTokens > 0 && usage.completionTokens > 0) return durationMs * Math.min(1, usage.reasoningTokens / usage.completionTokens);
  const rest = content.length + toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
  return reasoning.length + rest === 0 ? null : durationMs * (reasoning.length / (reasoning.length + rest));
}

/** A note of the harness to the model. */
export function NoteRow({ message }: { message: StoredMessage }): ReactNode {
  const { t } = useTranslation('chat');
  const [open, toggle] = useFold(`${message.seq}:note`, false);
  const skill = message.note === 'skill' ? skillNamedIn(message.content) : null;
  return (
    <div className="border-l-2 border-dashed border-line-strong pl-2.5">
      <span className="flex items-center gap-1.5">
        <FoldLine open={open} onToggle={toggle}>{t(message.note === undefined ? 'conversation.note.other' : `conversation.note.${message.note}`)}</FoldLine>
        {skill !== null && <a href={`#${skillPathByName(skill)}`} className="font-mono text-xs text-role-agent">{skill}</a>}
      </span>
      {open && <div className="pb-1 text-sm wrap-anywhere whitespace-pre-wrap text-fg-2">{message.content.slice(0, MARKDOWN_CHARS)}</div>}
    </div>
  );
}

/** The name stands in the first sentence of what the model is told. */
function skillNamedIn(content: string): string | null {
  return /^[^\n]*?\bskill "([a-z0-9][a-z0-9._-]{0,63})"/.exec(content.slice(0, 400))?.[1] ?? null;
}

/** Where older messages were replaced by a summary, for the model. */
export function CompactionRow({ message }: { message: StoredMessage }): ReactNode {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const [open, toggle] = useFold(`${message.seq}:compaction`, false);
  const { compaction } = message;
  if (!compaction) return null;
  const count = compaction.to - compaction.from + 1;
  return (
    <div className="text-xs text-fg-3">
      <div className="flex items-center gap-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        <FoldLine open={open} onToggle={toggle}>
          <span className="num" title={t(compaction.method === 'fallback' ? 'conversation.compaction.fallback' : 'conversation.compaction.hint')}>
            {t('conversation.compaction.text', { count, shown: format.exact(count), before: format.compact(compaction.tokensBefore), after: format.compact(compaction.tokensAfter) })}
          </span>
        </FoldLine>
      </div>
      {open && (
        <div className="mt-1 rounded-m border border-line bg-raised px-3 py-2 text-sm text-fg-2">
          <Markdown text={message.content} />
        </div>
      )}
    </div>
  );
}

/** A long answer of which only the beginning came. */
export function MoreRow({ message }: { message: StoredMessage }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const errorText = useErrorText();
  const { transcript } = useTalk();
  const whole = useStore(transcript.state, (s) => s.wholes.get(message.seq));
  const [state, setState] = useState<{ loading: boolean; error: unknown }>({ loading: false, error: null });
  const load = (): void => {
    setState({ loading: true, error: null });
    transcript.whole(message.seq).then(() => setState({ loading: false, error: null }), (error: unknown) => setState({ loading: false, error }));
  };
  if (whole !== undefined && whole.length > ROWS_MAX_CHARS) return <TextViewer text={whole} label={t('role.agent')} className="h-96 max-h-[60vh] rounded-m border border-line" />;
  return (
    <>
      <button type="button" onClick={load} aria-busy={state.loading || undefined} className="flex items-center gap-1.5 text-xs text-accent">
        {state.loading && <Spinner className="size-3" />}
        {t('call.showAllBytes', { size: format.bytes(message.contentBytes ?? 0) })}
      </button>
      {state.error !== null && <p role="alert" className="text-sm text-bad">{errorText(state.error)}</p>}
    </>
  );
}

/** Below an answer: what can be done with it, and what it took. */
export function FootRow({ message }: { message: StoredMessage }): ReactNode {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const { actions, busy, lastAnswer, current } = useTalk();
  const last = message.seq === lastAnswer;
  const numbers = [message.durationMs === undefined ? null : format.duration(message.durationMs), message.usage ? t('conversation.tokens', { shown: format.compact(message.usage.completionTokens) }) : null].filter(Boolean);
  return (
    <div className={cx('flex h-[22px] items-center gap-0.5 text-xs text-fg-3', !last && current !== message.seq && 'opacity-0 group-hover/line:opacity-100 focus-within:opacity-100')}>
      <PlainIconButton icon={Copy} label={t('conversation.action.copy')} className="-ml-1" onClick={() => actions.copyMessage(message)} />
      {last && !busy && <PlainIconButton icon={RotateCcw} label={t('conversation.action.retry')} onClick={actions.retry} />}
      <PlainIconButton icon={GitFork} label={t('conversation.action.fork')} onClick={() => actions.fork(message.seq)} />
      <span className="num ml-1.5" title={format.dateTime(message.createdAt)}>{numbers.join(' · ')}</span>
      {message.finishReason === 'length' && <span className="ml-2 text-warn">{t('conversation.cutOff')}</span>}
      {message.finishReason === 'content_filter' && <span className="ml-2 text-warn">{t('conversation.filtered')}</span>}
    </div>
  );
}

/** Between the ways a conversation went from here. */
export function Switcher({ fork }: { fork: Fork }): ReactNode {
  const { t } = useTranslation('chat');
  const { actions, busy } = useTalk();
  const go = (by: number): void => {
    const id = fork.ways[fork.at + by];
    if (id !== undefined) actions.branch(id);
  };
  return (
    <div role="group" aria-label={t('conversation.fork.label')} className="flex h-[22px] items-center justify-end text-xs text-fg-3">
      <button type="button" aria-label={t('conversation.fork.previous')} disabled={busy || fork.at === 0} onClick={() => go(-1)} className="grid size-5 place-items-center rounded-s hover:not-disabled:bg-hover disabled:opacity-40"><ChevronLeft className="size-3.5" aria-hidden="true" /></button>
      <span className="num">{fork.at + 1}/{fork.ways.length}</span>
      <button type="button" aria-label={t('conversation.fork.next')} disabled={busy || fork.at === fork.ways.length - 1} onClick={() => go(1)} className="grid size-5 place-items-center rounded-s hover:not-disabled:bg-hover disabled:opacity-40"><ChevronRight className="size-3.5" aria-hidden="true" /></button>
    </div>
  );
}
