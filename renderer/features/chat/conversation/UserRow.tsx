import { Copy, GitFork, Pencil } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';
import { typedText } from '#shared/attached.ts';
import type { StoredMessage } from '#shared/trajectory.ts';
import { cx } from '../../../lib/cx.ts';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { headOf } from '../../../ui/clean-text.ts';
import { TextViewer } from '../../../ui/TextViewer.tsx';
import { Pictures } from '../../library/results/Pictures.tsx';
import { useFold } from '../../library/view/context.tsx';
import { part } from '../../library/view/folds.ts';
import { PlainIconButton } from '../../library/view/PlainIconButton.tsx';
import { useTalk } from './talk-context.tsx';

const HEAD_LINES = 24;
const HEAD_CHARS = 3_000;

/** What a person said. */
export function UserRow({ message, steered }: { message: StoredMessage; steered: boolean }): ReactNode {
  const { t } = useTranslation('chat');
  const { editing } = useTalk();
  const edited = useStore(editing, (s) => s.editing?.seq === message.seq);
  return (
    <div className="group/row relative rounded-l border border-line bg-sunken px-3.5 py-2.5">
      {steered && <p className="mb-1 text-xs text-fg-3">{t('conversation.steered')}</p>}
      {edited ? <Edit message={message} /> : (
        <>
          <Actions message={message} />
          <Text message={message} />
        </>
      )}
      {message.attachments && message.attachments.length > 0 && (
        <div className={cx((edited || typedText(message.content, message.attachments) !== '') && 'mt-2')}>
          <Pictures attachments={message.attachments} />
        </div>
      )}
    </div>
  );
}

function Actions({ message }: { message: StoredMessage }): ReactNode {
  const { t } = useTranslation('chat');
  const { actions, busy, editing, transcript, current } = useTalk();
  const edit = (): void => {
    void (message.contentBytes === undefined ? Promise.resolve(message.content) : transcript.whole(message.seq)).then(
      (text) => editing.setState({ editing: { seq: message.seq, text: typedText(text, message.attachments) } }),
      () => undefined,
    );
  };
  return (
    <div className={cx('absolute top-1 right-1 z-1 flex rounded-m bg-sunken opacity-0 group-hover/row:opacity-100 focus-within:opacity-100', current === message.seq && 'opacity-100')}>
      <PlainIconButton icon={Copy} label={t('conversation.action.copy')} onClick={() => actions.copyMessage(message)} />
      {!busy && <PlainIconButton icon={Pencil} label={t('conversation.action.edit')} onClick={edit} />}
      <PlainIconButton icon={GitFork} label={t('conversation.action.fork')} onClick={() => actions.fork(message.seq)} />
    </div>
  );
}

function Text({ message }: { message: StoredMessage }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const errorText = useErrorText();
  const { transcript } = useTalk();
  const [open, toggle] = useFold(part.whole(message.seq), false);
  const whole = useStore(transcript.state, (s) => s.wholes.get(message.seq));
  const [error, setError] = useState<unknown>(null);
  const cut = message.contentBytes !== undefined && whole === undefined;
  useEffect(() => {
    if (!open || !cut) return;
    transcript.whole(message.seq).then(() => setError(null), setError);
  }, [open, cut, transcript, message.seq]);
  // The files are shown below; the lines that tell the model of them are not what was typed.
  const text = typedText(whole ?? message.content, message.attachments);
  const { head, hidden } = headOf(text, HEAD_LINES, HEAD_CHARS);
  const long = cut || hidden > 0;
  const shown = open && !cut;
  return (
    <>
      {long && shown ? <TextViewer text={text} label={t('role.userAgain')} className="h-96 max-h-[60vh] rounded-m border border-line" /> : <div className="wrap-anywhere whitespace-pre-wrap" dir="auto">{long ? head : text}</div>}
      {long && (
        <button type="button" onClick={toggle} aria-busy={(open && cut && error === null) || undefined} className="mt-1 text-xs text-accent">
          {shown ? t('call.showLess') : t('call.showAllBytes', { size: format.bytes(message.contentBytes ?? text.length) })}
        </button>
      )}
      {error !== null && <p role="alert" className="text-sm text-bad">{errorText(error)}</p>}
    </>
  );
}

/** More than this is not edited here: the field would hold up the page with every key. */
const EDIT_MAX_CHARS = 200_000;

function Edit({ message }: { message: StoredMessage }): ReactNode {
  const { t } = useTranslation('chat');
  const app = useTranslation('app').t;
  const { actions, editing } = useTalk();
  const text = useStore(editing, (s) => s.editing?.text ?? '');
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const el = field.current;
    if (!el) return;
    el.focus({ preventScroll: true });
    el.setSelectionRange(el.value.length, el.value.length);
  }, []);
  const close = (): void => editing.setState({ editing: null });
  const tooLong = text.length > EDIT_MAX_CHARS;
  const send = (): void => {
    if (text.trim() === '' || tooLong) return;
    close();
    actions.edit(message.seq, text, message.attachments ?? []);
  };
  return (
    <>
      <textarea
        ref={field}
        aria-label={t('conversation.action.edit')}
        value={tooLong ? text.slice(0, EDIT_MAX_CHARS) : text}
        readOnly={tooLong}
        rows={Math.min(12, Math.max(2, text.slice(0, 2_000).split('\n').length))}
        onChange={(e) => editing.setState({ editing: { seq: message.seq, text: e.target.value } })}
        onKeyDown={(e) => {
          if (e.nativeEvent.isComposing) return;
          if (e.key === 'Escape') close();
          else if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) send();
          else return;
          e.preventDefault();
          e.stopPropagation();
        }}
        className="w-full resize-none rounded-m border border-line-strong bg-raised px-2 py-1.5"
      />
      {tooLong && <p className="text-sm text-bad">{t('conversation.action.editTooLong')}</p>}
      <div className="mt-1 flex items-center gap-2">
        <span className="flex-1 text-xs text-fg-3">{t('conversation.action.editHint')}</span>
        <Button variant="ghost" onClick={close}>{app('action.cancel')}</Button>
        <Button disabled={text.trim() === '' || tooLong} onClick={send}>{t('conversation.action.resend')}</Button>
      </div>
    </>
  );
}
