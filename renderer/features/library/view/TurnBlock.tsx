import { ChevronRight, Copy } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { saidByPerson, type ToolSpec } from '#shared/trajectory.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Chip } from '../../../ui/Chip.tsx';
import { Markdown } from '../../../ui/Markdown.tsx';
import { ChildTree } from '../../chat/delegation/ChildTree.tsx';
import { viewOfResult } from '../results/result-view.ts';
import { ResultBody } from '../results/ResultBody.tsx';
import { CallCard } from './CallCard.tsx';
import { LongText } from './LongText.tsx';
import { useFold } from './context.tsx';
import { part } from './folds.ts';
import { PlainIconButton } from './PlainIconButton.tsx';
import type { Turn } from './turns.ts';

export interface TurnBlockProps {
  turn: Turn;
  isAnswer: boolean;
  /** The first thing a person said. */
  isTask: boolean;
  current: boolean;
  running: boolean;
  tools: readonly ToolSpec[];
  onCopy: (turn: Turn) => void;
}

/** One turn: who, what was thought and said, and the calls with their results. */
export const TurnBlock = memo(function TurnBlock({ turn, isAnswer, isTask, current, running, tools, onCopy }: TurnBlockProps): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const { message } = turn;
  const notes: ReactNode[] = [];
  let who = t('role.agent');
  let tone = 'text-role-agent';
  if (turn.kind === 'assistant') {
    notes.push(isAnswer ? t('turn.answer') : t('turn.step', { n: turn.step }));
    if (turn.calls.length > 1) notes.push(t('turn.together', { count: turn.calls.length }));
  } else if (turn.kind === 'system') {
    who = t('role.system');
    tone = 'text-fg-2';
  } else if (turn.kind === 'orphan') {
    who = message.toolName ?? t('role.tool');
    tone = 'text-role-tool';
    notes.push(t('turn.orphan'));
  } else {
    const harness = !saidByPerson(message);
    who = harness ? t('role.harness') : isTask ? t('role.user') : t('role.userAgain');
    tone = harness ? 'text-fg-2' : 'text-role-human';
    if (message.note === 'skill' && !message.synthetic) notes.push(t('turn.skill'));
  }
  const numbers = [message.durationMs === undefined || turn.kind === 'orphan' ? null : `+${format.duration(message.durationMs)}`, message.usage ? t('turn.tokens', { shown: format.compact(message.usage.completionTokens) }) : null].filter(Boolean);
  return (
    <article aria-label={[who, ...notes].join(' ')} className={cx('group/turn relative border-b border-line py-2.5', current && 'before:absolute before:inset-y-2.5 before:-left-3 before:w-0.5 before:rounded-full before:bg-accent')}>
      <header className="mb-1 flex min-h-[22px] items-center gap-2 text-xs text-fg-3">
        <h3 className={cx('shrink-0 font-semibold whitespace-nowrap', tone)}>{who}</h3>
        {notes.length > 0 && <span className="min-w-0 truncate">{notes.join(' · ')}</span>}
        {message.synthetic && <Chip title={t('turn.synthetic')}>{t('turn.syntheticChip')}</Chip>}
        {message.finishReason === 'length' && <Chip tone="warn">{t('turn.cutOff')}</Chip>}
        {message.finishReason === 'content_filter' && <Chip tone="warn">{t('turn.filtered')}</Chip>}
        <span className="flex-1" />
        <PlainIconButton icon={Copy} label={t('view.copyTurn')} className="opacity-0 group-hover/turn:opacity-100 focus-visible:opacity-100" onClick={() => onCopy(turn)} />
        {/* Too narrow for all: the last number goes to a second line, which is hidden, before any word is cut. */}
        <span className="num flex h-[1lh] min-w-0 shrink-[999] flex-wrap justify-end gap-x-2 overflow-hidden" title={numbers.join(' · ')}>
          {numbers.map((text) => <span key={text} className="whitespace-nowrap">{text}</span>)}
        </span>
      </header>
      <Body turn={turn} running={running} tools={tools} isAnswer={isAnswer} />
    </article>
  );
});

function Body({ turn, running, tools, isAnswer }: { turn: Turn; running: boolean; tools: readonly ToolSpec[]; isAnswer: boolean }): ReactNode {
  const { t } = useTranslation('library');
  const { message } = turn;
  switch (turn.kind) {
    case 'system':
      return <SystemBody turn={turn} tools={tools} />;
    case 'user':
      return !saidByPerson(message) ? (
        <div className="border-l-2 border-dashed border-line-strong pl-2.5 text-sm wrap-anywhere whitespace-pre-wrap text-fg-2">
          <LongText message={message} plain />
        </div>
      ) : (
        <LongText message={message} plain />
      );
    case 'orphan':
      return (
        <div className="overflow-hidden rounded-m border border-bad/50 [&>*:first-child]:border-t-0">
          <ResultBody name={message.toolName ?? ''} message={message} view={viewOfResult(message.toolName ?? '', message)} part={part.call(turn.key, 0)} />
        </div>
      );
    case 'assistant':
      return (
        <>
          {message.reasoning && <Reasoning seq={turn.key} text={message.reasoning} tokens={message.usage?.reasoningTokens} />}
          {message.content.trim() !== '' ? <LongText message={message} /> : turn.calls.length === 0 && <p className="text-sm text-fg-3">{t('turn.noContent')}</p>}
          {turn.calls.map((pair, i) => (
            <CallCard key={i} pair={pair} seq={turn.key} index={i} running={running && !isAnswer}>
              <ChildTree callId={pair.call.id} />
            </CallCard>
          ))}
          {turn.strays.map((stray) => (
            <div key={stray.seq} className="my-1.5 overflow-hidden rounded-m border border-bad/50">
              <p className="px-2.5 py-1 text-sm text-bad">{t('turn.orphan')}</p>
              <ResultBody name={stray.toolName ?? ''} message={stray} view={viewOfResult(stray.toolName ?? '', stray)} part={part.call(stray.seq, 0)} />
            </div>
          ))}
        </>
      );
  }
}

/** A line that unfolds what is below it. */
export function FoldLine({ open, onToggle, children }: { open: boolean; onToggle: () => void; children: ReactNode }): ReactNode {
  return (
    <button type="button" aria-expanded={open} onClick={onToggle} className="flex min-h-[22px] items-center gap-1.5 rounded-s text-xs text-fg-3 hover:text-fg">
      <ChevronRight aria-hidden="true" className={cx('size-3 transition-transform', open && 'rotate-90')} />
      {children}
    </button>
  );
}

export function Reasoning({ seq, text, tokens }: { seq: number; text: string; tokens?: number | undefined }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const [open, toggle] = useFold(part.reasoning(seq), false);
  const length = tokens ? t('turn.reasoningLength', { shown: format.compact(tokens) }) : t('turn.reasoningChars', { shown: format.compact(text.length) });
  return (
    <div className="mb-1.5 border-l-2 border-line-strong pl-2.5">
      <FoldLine open={open} onToggle={toggle}>{t('turn.reasoning')} · {length}</FoldLine>
      {open && (
        <div className="text-sm text-role-think">
          <Markdown text={text} />
        </div>
      )}
    </div>
  );
}

function SystemBody({ turn, tools }: { turn: Turn; tools: readonly ToolSpec[] }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const [open, toggle] = useFold(part.system(turn.key), false);
  const length = turn.message.contentBytes ? format.bytes(turn.message.contentBytes) : t('turn.chars', { shown: format.compact(turn.message.content.length) });
  return (
    <>
      <FoldLine open={open} onToggle={toggle}>{length} · {tools.length === 0 ? t('turn.noTools') : t('turn.toolsOffered', { count: tools.length })}</FoldLine>
      {open && (
        <div className="grid gap-3 pt-1">
          <div className="text-sm wrap-anywhere text-fg-2">
            <LongText message={turn.message} plain />
          </div>
          {tools.length > 0 && (
            <ul className="grid gap-1.5 border-l-2 border-line-strong pl-2.5 text-sm">
              {tools.map((tool) => (
                <li key={tool.name} className="min-w-0">
                  <code className="font-mono font-semibold text-role-tool">{tool.name}</code> <code className="font-mono text-xs text-fg-3">{parameterNames(tool)}</code>
                  <p className="wrap-anywhere whitespace-pre-wrap text-fg-2">{tool.description}</p>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </>
  );
}

function parameterNames(tool: ToolSpec): string {
  const { properties, required } = tool.parameters as { properties?: unknown; required?: unknown };
  if (typeof properties !== 'object' || properties === null) return '';
  const must = Array.isArray(required) ? required : [];
  return Object.keys(properties).map((name) => (must.includes(name) ? name : `${name}?`)).join(', ');
}
