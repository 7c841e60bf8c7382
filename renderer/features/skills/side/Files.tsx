import { FilePlus2, FileText, FileX2, Plus, Trash2 } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillDetail } from '#shared/contract/skills.ts';
import { cx } from '../../../lib/cx.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button, IconButton } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { keepDraft } from '../drafts.ts';
import { MAIN_FILE } from '../notes.ts';

/** Longer ones are not for a model to read. */
const MAX_FILE_BYTES = 1_048_576;

/** The files of a skill: open, add, remove. Removing can be undone. */
export function Files({ detail, open, onOpen, onDetail }: { detail: SkillDetail; open: string; onOpen: (path: string) => void; onDetail: (detail: SkillDetail) => void }): ReactNode {
  const { t } = useTranslation(['skills', 'app']);
  const format = useFormat();
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const picker = useRef<HTMLInputElement>(null);
  const [adding, setAdding] = useState(false);
  const { id, readOnly } = detail.summary;
  const files = [...detail.files].sort((a, b) => Number(b.path === MAIN_FILE) - Number(a.path === MAIN_FILE) || a.path.localeCompare(b.path, 'en'));
  const failed = (error: unknown): void => void toast({ title: errorText(error), kind: 'bad' });

  const remove = async (path: string, text: boolean): Promise<void> => {
    const kept = text ? (await client.skills.file({ id, path })).text : null;
    onDetail(await client.skills.removeFile({ id, path }));
    keepDraft(id, path, null);
    if (open === path) onOpen(MAIN_FILE);
    toast({
      title: t('files.removed', { path }),
      ...(kept === null ? {} : { action: { label: t('app:action.undo'), run: () => void client.skills.save({ id, path, text: kept, baseHash: null, reason: '' }).then(onDetail, failed) } }),
    });
  };
  const bring = async (given: readonly File[]): Promise<void> => {
    for (const file of given) {
      const text = file.size > MAX_FILE_BYTES ? null : await file.text();
      if (text === null || text.includes('\u0000') || text.includes('\uFFFD')) {
        toast({ title: t(text === null ? 'files.tooLarge' : 'files.notText', { name: file.name }), kind: 'bad' });
        continue;
      }
      const path = `${/\.(py|sh|js|ts|rb|pl|ps1)$/i.test(file.name) ? 'scripts' : 'references'}/${file.name}`;
      if (detail.files.some((f) => f.path === path)) {
        toast({ title: t('files.exists', { path }), kind: 'bad' });
        continue;
      }
      onDetail(await client.skills.save({ id, path, text, baseHash: null, reason: '' }));
      onOpen(path);
    }
  };

  return (
    <div className="grid gap-1 p-2">
      <ul aria-label={t('files.label')}>
        {files.map((file) => (
          <li key={file.path} className={cx('group flex h-[30px] items-center gap-1 rounded-s pr-1', file.path === open ? 'bg-selected' : 'hover:bg-hover')}>
            <button type="button" disabled={!file.text} aria-current={file.path === open || undefined} onClick={() => onOpen(file.path)} className="focus-inset flex h-full min-w-0 flex-1 items-center gap-2 px-2 text-left text-sm disabled:text-fg-3">
              {file.text ? <FileText className="size-3.5 shrink-0 text-fg-3" aria-hidden="true" /> : <FileX2 className="size-3.5 shrink-0 text-fg-3" aria-hidden="true" />}
              <span className="min-w-0 flex-1 truncate font-mono text-xs">{file.path}</span>
              {!file.text && <span className="text-xs">{t('files.binary')}</span>}
              <span className="num text-xs text-fg-3" title={format.exact(file.bytes)}>{format.bytes(file.bytes)}</span>
            </button>
            {!readOnly && file.path !== MAIN_FILE ? (
              <IconButton size="sm" icon={Trash2} label={t('files.remove', { path: file.path })} className="opacity-0 group-hover:opacity-100 focus-visible:opacity-100" onClick={() => void remove(file.path, file.text).catch(failed)} />
            ) : !readOnly && <span className="size-[22px] shrink-0" />}
          </li>
        ))}
      </ul>
      {files.length <= 1 && <p className="px-2 pt-1 text-sm text-fg-3">{t('files.none')}</p>}
      {!readOnly && (
        <div className="flex flex-wrap gap-2 px-2 pt-2">
          <Button icon={Plus} onClick={() => setAdding(true)}>{t('files.new')}</Button>
          <Button icon={FilePlus2} onClick={() => picker.current?.click()}>{t('files.bring')}</Button>
          <input ref={picker} type="file" multiple hidden tabIndex={-1} onChange={(e) => { void bring([...(e.target.files ?? [])]).catch(failed); e.target.value = ''; }} />
        </div>
      )}
      {adding && <NewFile detail={detail} onClose={() => setAdding(false)} onDetail={(made, path) => { onDetail(made); onOpen(path); setAdding(false); }} />}
    </div>
  );
}

function NewFile({ detail, onClose, onDetail }: { detail: SkillDetail; onClose: () => void; onDetail: (detail: SkillDetail, path: string) => void }): ReactNode {
  const { t } = useTranslation(['skills', 'app']);
  const client = useClient();
  const errorText = useErrorText();
  const [path, setPath] = useState('references/');
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const make = (): void => {
    const wanted = path.trim();
    if (detail.files.some((file) => file.path === wanted)) return setError(t('files.exists', { path: wanted }));
    setBusy(true);
    client.skills.save({ id: detail.summary.id, path: wanted, text: '', baseHash: null, reason: '' }).then((made) => onDetail(made, wanted), (refused: unknown) => {
      setBusy(false);
      setError(errorText(refused));
    });
  };
  return (
    <Dialog open onClose={onClose} title={t('files.new')} width="sm" footer={<><Button onClick={onClose}>{t('app:action.cancel')}</Button><Button variant="primary" busy={busy} onClick={make}>{t('files.create')}</Button></>}>
      <Field label={t('files.path')} hint={t('files.pathHint')} error={error}>
        {(props) => <Input {...props} mono value={path} onChange={(e) => { setPath(e.target.value); setError(null); }} onKeyDown={(e) => e.key === 'Enter' && !busy && make()} />}
      </Field>
    </Dialog>
  );
}
