import { CornerDownRight, Paperclip, Square } from 'lucide-react';
import { useEffect, useId, useImperativeHandle, useRef, useState, type ClipboardEvent, type KeyboardEvent, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import type { QueuedMessage, SessionState } from '#shared/contract/chats.ts';
import type { Attachment } from '#shared/trajectory.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { Button, IconButton } from '../../../ui/Button.tsx';
import { Kbd } from '../../../ui/Kbd.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { offered, readTyped, type Offers, type SlashName } from '../commands/slash.ts';
import { noteUsed } from '../new-chat.ts';
import { Items } from './Items.tsx';
import { Queue } from './Queue.tsx';
import { offerId, SlashPopup } from './SlashPopup.tsx';
import { useAttachments, type Item } from './use-attachments.ts';
import { unsentDraft, useDraft } from './use-draft.ts';
import { useSkillOffers } from './use-skill-offers.ts';

/** Longer pastes become a file; the person can have them as text after all. */
const PASTE_CHARS = 20_000;
/** Names behind a slash end somewhere. */
const LONGEST_OFFER = 200;

export interface ComposerHandle {
  focus: () => void;
  /** Puts a text in front of what is there. */
  insert: (text: string, attachments?: readonly Attachment[]) => void;
  addFiles: (files: readonly File[]) => void;
}

export interface ComposerProps {
  state: SessionState;
  handle: Ref<ComposerHandle>;
  onCommand: (name: SlashName, args: string) => void;
  onStop: () => void;
  /** Model, tools, workspace: at the foot. */
  children: ReactNode;
}

/** Where the person writes: text, files, commands. The text lives in the field itself, so that a long one costs nothing to type into. */
export function Composer({ state, handle, onCommand, onStop, children }: ComposerProps): ReactNode {
  const { t } = useTranslation('chat');
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const listId = useId();
  const { id } = state.session;
  const busy = state.session.state !== 'idle';
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [first] = useState(() => unsentDraft(id) ?? state.draft.text);
  const [hasText, setHasText] = useState(first.trim() !== '');
  const [offers, setOffers] = useState<Offers | null>(null);
  const commands = offers?.items ?? null;
  const [at, setAt] = useState(0);
  const [unknown, setUnknown] = useState<ReturnType<typeof readTyped> | null>(null);
  const files = useAttachments(state.draft.attachments);
  const draft = useDraft(id, state.draft, () => ({ text: field.current?.value ?? first, attachments: files.ready }), (next) => {
    write(next.text, false);
    files.set(next.attachments);
  });
  // Files are part of the draft once they are there.
  const readyIds = files.ready.map((a) => a.id).join();
  const savedIds = useRef(readyIds);
  if (savedIds.current !== readyIds) {
    savedIds.current = readyIds;
    queueMicrotask(draft.touched);
  }

  // Whoever walks through the list by keys stays in the list.
  useEffect(() => {
    if (!document.activeElement?.matches('nav :focus-visible')) field.current?.focus();
  }, []);

  /** Esc said that no list is wanted for this text: names that arrive later open none. */
  const closed = useRef(false);
  // Names that come in later only add to the list: what was said of a sent name stays.
  const skills = useSkillOffers(() => !closed.current && offer());
  const offer = (): void => {
    const text = field.current?.value ?? '';
    setOffers(/^[/／]/.test(text) && text.length < LONGEST_OFFER ? offered(text, skills.names()) : null);
  };
  const look = (): void => {
    closed.current = false;
    const text = field.current?.value ?? '';
    setHasText(text.trim() !== '');
    offer();
    if (/^[/／]/.test(text)) void skills.load();
    setAt(0);
    setUnknown(null);
  };
  function write(text: string, own = true): void {
    if (field.current) field.current.value = text;
    look();
    if (own) draft.touched();
  }
  const insert = (text: string, more: readonly Attachment[] = []): void => {
    const now = field.current?.value ?? '';
    write(now.trim() === '' ? text : `${text}\n\n${now}`);
    if (more.length > 0) files.set([...files.ready, ...more]);
    field.current?.focus();
  };
  useImperativeHandle(handle, () => ({
    focus: () => field.current?.focus(),
    insert,
    addFiles: (given) => files.add(given),
  }));

  const runCommand = (name: SlashName, args: string): void => {
    write('');
    onCommand(name, args);
  };

  const send = (whenBusy: 'queue' | 'steer'): void => {
    const typed = readTyped(field.current?.value ?? '', skills.names());
    // It may be the name of a skill that is not known here yet.
    if (typed.kind === 'unknown' && !skills.loaded()) return void skills.load().then(() => send(whenBusy));
    if (typed.kind === 'command') return runCommand(typed.name, typed.args);
    if (typed.kind === 'unknown') return setUnknown(typed);
    const attachments = files.ready;
    if (files.uploading || (typed.text.trim() === '' && attachments.length === 0)) return;
    noteUsed(id);
    const before = { text: field.current?.value ?? '', items: attachments };
    write('');
    files.set([]);
    client.chats.send({ id, text: typed.text, attachments, whenBusy }).then(draft.flush, (error: unknown) => {
      toast({ title: t('composer.notSent'), description: errorText(error), kind: 'bad' });
      // Given back, in front of what was typed meanwhile.
      insert(before.text, before.items);
    });
  };

  const pick = (command: Offers['items'][number]): void => {
    if ('skill' in command) write(`${offers?.before ?? ''}/${command.skill} `);
    else if (command.args === 'needed') write(`/${command.name} `);
    else runCommand(command.name, '');
  };
  const onKeyDown = (e: KeyboardEvent): void => {
    // Enter that ends a composition chooses a word; Safari says so only by the code.
    if (e.nativeEvent.isComposing || e.keyCode === 229) return;
    if (e.key === 'Escape') closed.current = true;
    if (commands) {
      const chosen = commands[at];
      if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
        if (e.altKey) return;
        e.preventDefault();
        return setAt((at + (e.key === 'ArrowDown' ? 1 : commands.length - 1)) % commands.length);
      }
      if (chosen && (e.key === 'Tab' && !e.shiftKey)) {
        e.preventDefault();
        return write('skill' in chosen ? `${offers?.before ?? ''}/${chosen.skill} ` : `/${chosen.name} `);
      }
      if (chosen && e.key === 'Enter' && !e.shiftKey) {
        e.preventDefault();
        return pick(chosen);
      }
      if (e.key === 'Escape') {
        e.preventDefault();
        return setOffers(null);
      }
    }
    if (e.key === 'Escape') {
      if (!busy) return;
      e.preventDefault();
      onStop();
    } else if (e.key === 'Enter' && !e.shiftKey) {
      e.preventDefault();
      send(busy && (e.altKey || e.ctrlKey || e.metaKey) ? 'steer' : 'queue');
    }
  };

  const onPaste = (e: ClipboardEvent): void => {
    const given = [...e.clipboardData.files];
    const text = e.clipboardData.getData('text/plain');
    // Office programs give a picture of what is text as well: then the text is meant.
    if (given.length > 0 && text === '') {
      e.preventDefault();
      files.add(given);
    } else if (text.length > PASTE_CHARS) {
      e.preventDefault();
      files.add([new File([text], t('attach.pastedName'), { type: 'text/plain' })], text);
    }
  };
  const asText = (item: Item): void => {
    files.remove(item.key);
    insert(item.pasted ?? '');
  };

  const unqueue = (item: QueuedMessage, then?: () => void): void =>
    void client.chats.unqueue({ id, itemId: item.id }).then(then, (error: unknown) => toast({ title: errorText(error), kind: 'bad' }));
  const nothing = !hasText && files.items.length === 0;
  const label = t(busy ? 'composer.queue' : 'composer.send');

  return (
    <div data-composer="" className="mx-auto w-full max-w-[784px] px-4 pt-2 pb-3">
      <Queue
        queue={state.queue}
        waits={!busy}
        onRemove={unqueue}
        onEdit={(item) => unqueue(item, () => insert(item.text, item.attachments))}
        onSendNow={() => void client.chats.send({ id, text: '' }).catch((error: unknown) => toast({ title: errorText(error), kind: 'bad' }))}
      />
      <div className="relative rounded-l border border-line-strong bg-raised shadow-pop focus-within:border-accent">
        {commands && <SlashPopup id={listId} commands={commands} at={at} onHover={setAt} onPick={pick} />}
        <Items items={files.items} onRemove={files.remove} onRetry={files.retry} onAsText={asText} />
        <textarea
          ref={field}
          rows={1}
          defaultValue={first}
          aria-label={t('composer.label')}
          aria-autocomplete="list"
          aria-controls={commands ? listId : undefined}
          aria-activedescendant={commands?.[at] ? offerId(listId, commands[at]) : undefined}
          placeholder={t(state.session.messageCount === 0 ? 'composer.placeholderNew' : busy ? 'composer.placeholderBusy' : 'composer.placeholder')}
          onInput={() => {
            look();
            draft.touched();
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onBlur={draft.flush}
          className="block max-h-[min(40vh,340px)] min-h-[42px] w-full resize-none bg-transparent px-3 py-2.5 text-[0.875rem] leading-[1.5] outline-none [field-sizing:content]"
        />
        {unknown?.kind === 'unknown' && (
          <p role="alert" className="px-3 pb-1 text-sm text-bad">
            {unknown.closest ? t('slash.unknownClosest', { name: unknown.name, closest: unknown.closest }) : t('slash.unknown', { name: unknown.name })}
          </p>
        )}
        <div className="flex min-w-0 items-center gap-1 px-2 pb-2">
          <IconButton icon={Paperclip} label={t('attach.button')} onClick={() => picker.current?.click()} />
          <input ref={picker} type="file" multiple hidden tabIndex={-1} onChange={(e) => { files.add([...(e.target.files ?? [])]); e.target.value = ''; }} />
          <span className="flex min-w-0 flex-1 items-center gap-0.5 overflow-hidden">{children}</span>
          {busy && (
            <Button variant="ghost" icon={Square} onClick={onStop}>
              {t('composer.stop')} <Kbd keys="Escape" />
            </Button>
          )}
          {busy && !nothing && (
            <Button icon={CornerDownRight} disabled={files.uploading} onClick={() => send('steer')} title={t('composer.steerHint')}>
              {t('composer.steer')} <Kbd keys="alt+Enter" />
            </Button>
          )}
          {(!busy || !nothing) && (
            <Button variant="primary" dim={nothing || files.uploading} title={files.uploading ? t('attach.wait') : undefined} onClick={() => send('queue')}>
              {label}
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}
