import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { MarkdownPiece } from '../../../ui/Markdown.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { viewOfResult } from '../../library/results/result-view.ts';
import { ResultBody } from '../../library/results/ResultBody.tsx';
import { CallCard } from '../../library/view/CallCard.tsx';
import { part } from '../../library/view/folds.ts';
import { ChildTree } from '../delegation/ChildTree.tsx';
import { DeliveredRow } from '../delegation/DeliveredRow.tsx';
import { QuestionCard } from './QuestionCard.tsx';
import { CompactionRow, FootRow, MoreRow, NoteRow, Switcher, ThinkRow } from './QuietRows.tsx';
import type { Row } from './rows.ts';
import { useTalk } from './talk-context.tsx';
import { UserRow } from './UserRow.tsx';

export type MessageRowKind = Exclude<Row, { kind: 'end' }>;

const ABOVE: Record<Row['kind'], string> = {
  user: 'pt-4', note: 'pt-2', compaction: 'pt-3', stray: 'pt-1.5', more: 'pt-1', nothing: 'pt-1.5', think: 'pt-2', piece: 'pt-2', call: 'pt-0.5', args: 'pt-1.5', foot: 'pt-1', end: 'pt-3',
};

/** One row of a message. */
export const MessageRow = memo(function MessageRow({ row }: { row: MessageRowKind }): ReactNode {
  const { t } = useTranslation('chat');
  const { forks, current } = useTalk();
  const fork = forks.get(row.key);
  // The pieces of one fenced block touch.
  const above = row.kind === 'piece' && row.piece?.kind === 'code' && !row.piece.first ? '' : ABOVE[row.kind];
  const speaker = row.kind === 'user' ? t('conversation.you') : row.kind === 'note' || row.kind === 'compaction' ? null : t('conversation.agent');
  return (
    <div className={cx('relative', above, current === row.seq && 'before:absolute before:inset-y-0 before:-left-2.5 before:w-0.5 before:bg-accent')}>
      {row.head && speaker !== null && <h3 className="sr-only">{speaker}</h3>}
      {fork && row.kind !== 'user' && <Switcher fork={fork} />}
      <Body row={row} />
      {fork && row.kind === 'user' && <Switcher fork={fork} />}
    </div>
  );
});

function Body({ row }: { row: MessageRowKind }): ReactNode {
  const { t } = useTranslation('chat');
  switch (row.kind) {
    case 'user':
      return <UserRow message={row.message} steered={row.steered} />;
    case 'note':
      return row.message.note === 'delegation' ? <DeliveredRow message={row.message} /> : <NoteRow message={row.message} />;
    case 'compaction':
      return <CompactionRow message={row.message} />;
    case 'think':
      return <ThinkRow seq={row.seq} message={row.message} />;
    case 'piece':
      return <PieceRow row={row} />;
    case 'more':
      return <MoreRow message={row.message} />;
    case 'nothing':
      return <p className="text-sm text-fg-3">{t('conversation.nothing')}</p>;
    case 'call':
      return <CallRow row={row} />;
    case 'args':
      return <ArgsRow seq={row.seq} />;
    case 'stray':
      return (
        <div className="my-1 overflow-hidden rounded-m border border-bad/50">
          <p className="px-2.5 py-1 text-sm text-bad">{t('conversation.stray', { name: row.message.toolName ?? '' })}</p>
          <ResultBody name={row.message.toolName ?? ''} message={row.message} view={viewOfResult(row.message.toolName ?? '', row.message)} part={part.call(row.message.seq, 0)} />
        </div>
      );
    case 'foot':
      return <FootRow message={row.message} />;
  }
}

function PieceRow({ row }: { row: Extract<Row, { kind: 'piece' }> }): ReactNode {
  const { transcript } = useTalk();
  const growing = useStore(transcript.live, (s) => (row.piece === null && s.answer?.seq === row.seq ? (s.answer.pieces[row.index] ?? null) : null));
  const piece = row.piece ?? growing;
  return piece && <div dir="auto"><MarkdownPiece piece={piece} growing={row.piece === null} /></div>;
}

function CallRow({ row }: { row: Extract<Row, { kind: 'call' }> }): ReactNode {
  const { question, openSeq } = useTalk();
  const { pair } = row;
  const open = openSeq === row.seq && pair.result === null;
  return (
    <CallCard pair={pair} seq={row.seq} index={row.index} running={open} folded>
      <ChildTree callId={pair.call.id} />
      {open && question?.callId === pair.call.id && <QuestionCard question={question} />}
    </CallCard>
  );
}

const ARGS_LINES = 4;

/** A call that is being written. */
function ArgsRow({ seq }: { seq: number }): ReactNode {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const { transcript } = useTalk();
  const answer = useStore(transcript.live, (s) => (s.answer?.seq === seq ? s.answer : null));
  return (
    <div className="my-1 overflow-hidden rounded-m border border-line bg-raised">
      <p className="flex h-7 items-center gap-2 px-2.5 text-sm text-fg-2">
        <Spinner className="size-3" />
        <span className="flex-1">{t('conversation.writingCall')}</span>
        <span className="num text-xs text-fg-3">{answer && t('conversation.chars', { shown: format.compact(answer.argsChars) })}</span>
      </p>
      <pre className="h-[5.25rem] overflow-hidden border-t border-line bg-code px-2.5 py-1.5 font-mono text-xs leading-[1.5] wrap-anywhere whitespace-pre-wrap text-fg-3">
        {answer?.args.replaceAll('\\n', '\n').split('\n').slice(-ARGS_LINES).join('\n').slice(-400)}
      </pre>
    </div>
  );
}
