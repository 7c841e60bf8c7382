import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { APPROVALS, type Question } from '#shared/contract/chats.ts';
import { Button } from '../../../ui/Button.tsx';
import { Input } from '../../../ui/Input.tsx';
import { useTalk } from './talk-context.tsx';

/** What the agent waits for, under the call that waits. The number keys answer while no text is being typed. */
export function QuestionCard({ question }: { question: Question }): ReactNode {
  const { t } = useTranslation('chat');
  return (
    <div role="group" aria-label={t(question.kind === 'approval' ? 'conversation.ask.approval' : 'conversation.ask.clarify')} className="border-t border-line bg-warn-soft px-3 py-2.5 text-fg">
      {question.kind === 'approval' ? <Approval key={question.id} question={question} /> : <Clarify key={question.id} question={question} />}
    </div>
  );
}

function Approval({ question }: { question: Extract<Question, { kind: 'approval' }> }): ReactNode {
  const { t } = useTranslation('chat');
  const { actions } = useTalk();
  const [sent, setSent] = useState<string | null>(null);
  return (
    <>
      <p className="font-medium">{t(`conversation.ask.${question.what}`)}</p>
      <pre tabIndex={0} className="focus-inset my-1.5 max-h-40 overflow-auto rounded-s border border-line bg-code px-2 py-1 font-mono text-xs wrap-anywhere whitespace-pre-wrap"><bdi>{question.subject.slice(0, 20_000)}</bdi></pre>
      <p className="text-sm wrap-anywhere text-fg-2">{question.reason}</p>
      {question.scope !== '' && <p className="text-sm wrap-anywhere text-fg-2">{t('conversation.ask.scope', { scope: question.scope })}</p>}
      <div className="mt-2 flex flex-wrap gap-2">
        {APPROVALS.map((choice, i) => (
          <Button
            key={choice}
            hotkey={String(i + 1)}
            variant={choice === 'deny' ? 'danger' : 'default'}
            busy={sent === choice}
            disabled={sent !== null && sent !== choice}
            onClick={() => {
              setSent(choice);
              actions.answer(question.id, { kind: 'approval', choice });
            }}
          >
            {t(`conversation.ask.${choice}`)}
          </Button>
        ))}
      </div>
    </>
  );
}

/** More choices than this have no key. */
const KEYS = 8;

function Clarify({ question }: { question: Extract<Question, { kind: 'clarify' }> }): ReactNode {
  const { t } = useTranslation('chat');
  const { actions } = useTalk();
  const [text, setText] = useState('');
  const [sent, setSent] = useState(false);
  const answer = (value: string | null): void => {
    if (sent) return;
    setSent(true);
    actions.answer(question.id, { kind: 'clarify', text: value });
  };
  return (
    <>
      <p className="font-medium wrap-anywhere whitespace-pre-wrap">{question.question}</p>
      {question.choices.length > 0 && (
        <div className="mt-2 flex flex-wrap gap-2">
          {question.choices.map((choice, i) => (
            <Button key={i} {...(i < KEYS ? { hotkey: String(i + 1) } : {})} disabled={sent} onClick={() => answer(choice)} className="h-auto! min-h-[26px] max-w-full py-1 text-left whitespace-normal! wrap-anywhere">
              {choice}
            </Button>
          ))}
        </div>
      )}
      <form
        className="mt-2 flex gap-2"
        onSubmit={(e) => {
          e.preventDefault();
          if (text.trim() !== '') answer(text.trim());
        }}
      >
        <Input aria-label={t('conversation.ask.other')} placeholder={t(question.choices.length > 0 ? 'conversation.ask.other' : 'conversation.ask.yourAnswer')} value={text} disabled={sent} onChange={(e) => setText(e.target.value)} className="min-w-0 flex-1" />
        <Button type="submit" disabled={sent || text.trim() === ''}>{t('conversation.ask.send')}</Button>
        <Button variant="ghost" disabled={sent} onClick={() => answer(null)}>{t('conversation.ask.skip')}</Button>
      </form>
    </>
  );
}
