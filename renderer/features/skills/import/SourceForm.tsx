import { FileArchive, FolderOpen, FolderUp, GitBranch, PackageOpen } from 'lucide-react';
import { useRef, useState, type DragEvent, type ReactNode, type SubmitEvent } from 'react';
import { useTranslation } from 'react-i18next';
import type { ImportSource } from '#shared/contract/skill-imports.ts';
import { cx } from '../../../lib/cx.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { errorField, useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Banner, Skeleton } from '../../../ui/Feedback.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { Segmented } from '../../../ui/Select.tsx';
import { type Dropped, droppedFrom, droppedOf } from './dropped.ts';

const WAYS = ['files', 'path', 'git', 'peer'] as const;
type Way = (typeof WAYS)[number];

/** Where the skills come from. */
export function SourceForm({ error, onLook }: { error: unknown; onLook: (source: ImportSource | Dropped) => void }): ReactNode {
  const { t } = useTranslation('skillImport');
  const errorText = useErrorText();
  const [way, setWay] = useState<Way>('files');
  const [nothing, setNothing] = useState(false);
  const { data: sources } = useLoad((client, signal) => client.skillImports.sources(undefined, { signal }), []);
  const shown = WAYS.filter((one) => one !== 'peer' || (sources?.peers.length ?? 0) > 0);
  const take = (dropped: Dropped | null): void => {
    setNothing(dropped === null);
    if (dropped) onLook(dropped);
  };
  const field = errorField(error);
  const problem = nothing ? t('source.nothingDropped') : error ? errorText(error) : null;
  return (
    <div className="grid gap-3">
      <Segmented label={t('source.label')} value={way} onChange={setWay} options={shown.map((value) => ({ value, label: t(`source.way.${value}`) }))} />
      {problem !== null && <Banner tone="bad" live title={problem} />}
      <div className="grid min-h-[212px] content-start">
        {way === 'files' && <DropPlace onDropped={take} />}
        {way === 'path' && <PathForm wrong={field === 'path'} onLook={onLook} />}
        {way === 'git' && (sources === undefined ? <Skeleton className="h-40" /> : sources.git ? <GitForm wrong={field} onLook={onLook} /> : <Banner tone="warn" title={t('git.missing')}>{t('git.missingHint')}</Banner>)}
        {way === 'peer' && <Peers peers={sources?.peers ?? []} onLook={onLook} />}
      </div>
      <p className="text-xs text-fg-3">{t('source.quarantine')}</p>
    </div>
  );
}

function DropPlace({ onDropped }: { onDropped: (dropped: Dropped | null) => void }): ReactNode {
  const { t } = useTranslation('skillImport');
  const [over, setOver] = useState(false);
  const zip = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void droppedFrom(event.dataTransfer).then(onDropped, () => onDropped(null));
  };
  const picked = (input: HTMLInputElement): void => {
    const files = [...(input.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
    input.value = '';
    if (files.length > 0) onDropped(droppedOf(files));
  };
  return (
    <div
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={cx('grid justify-items-center gap-2 rounded-l border border-dashed px-6 py-8 text-center transition-colors', over ? 'border-accent bg-accent-soft' : 'border-line-strong bg-bg')}
    >
      <PackageOpen className="size-7 text-fg-3" strokeWidth={1.5} aria-hidden="true" />
      <p className="text-lg font-semibold">{t('drop.title')}</p>
      <p className="max-w-[52ch] text-sm text-fg-2">{t('drop.text')}</p>
      <div className="mt-1 flex flex-wrap justify-center gap-2">
        <Button icon={FolderUp} onClick={() => folder.current?.click()}>{t('drop.folder')}</Button>
        <Button icon={FileArchive} onClick={() => zip.current?.click()}>{t('drop.zip')}</Button>
      </div>
      <input ref={zip} type="file" accept=".zip,.skill" data-pick="zip" tabIndex={-1} aria-hidden="true" className="hidden" onChange={(e) => picked(e.target)} />
      <input ref={folder} type="file" {...{ webkitdirectory: '' }} data-pick="folder" tabIndex={-1} aria-hidden="true" className="hidden" onChange={(e) => picked(e.target)} />
    </div>
  );
}

function PathForm({ wrong, onLook }: { wrong: boolean; onLook: (source: ImportSource) => void }): ReactNode {
  const { t } = useTranslation('skillImport');
  const [path, setPath] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const wanted = path.trim();
    if (wanted !== '') onLook({ kind: /\.(?:zip|skill)$/i.test(wanted) ? 'zip' : 'folder', path: wanted });
  };
  return (
    <form onSubmit={submit} className="grid gap-3">
      <Field label={t('path.label')} hint={t('path.hint')}>
        {(props) => <Input {...props} aria-invalid={wrong || undefined} mono value={path} placeholder="/home/me/skills" onChange={(e) => setPath(e.target.value)} />}
      </Field>
      <div>
        <Button type="submit" icon={FolderOpen} disabled={path.trim() === ''}>{t('source.look')}</Button>
      </div>
    </form>
  );
}

function GitForm({ wrong, onLook }: { wrong: string | null; onLook: (source: ImportSource) => void }): ReactNode {
  const { t } = useTranslation('skillImport');
  const [url, setUrl] = useState('');
  const [ref, setRef] = useState('');
  const [folder, setFolder] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (url.trim() !== '') onLook({ kind: 'git', url: url.trim(), ref: ref.trim(), folder: folder.trim() });
  };
  return (
    <form onSubmit={submit} className="grid gap-3">
      <Field label={t('git.url')} hint={t('git.urlHint')}>
        {(props) => <Input {...props} aria-invalid={wrong === 'url' || undefined} mono value={url} placeholder="https://github.com/owner/skills" onChange={(e) => setUrl(e.target.value)} />}
      </Field>
      <div className="grid grid-cols-2 gap-3">
        <Field label={t('git.ref')} aside={t('git.optional')}>
          {(props) => <Input {...props} aria-invalid={wrong === 'ref' || undefined} mono value={ref} placeholder="main" onChange={(e) => setRef(e.target.value)} />}
        </Field>
        <Field label={t('git.folder')} aside={t('git.optional')}>
          {(props) => <Input {...props} aria-invalid={wrong === 'folder' || undefined} mono value={folder} placeholder="skills" onChange={(e) => setFolder(e.target.value)} />}
        </Field>
      </div>
      <div>
        <Button type="submit" icon={GitBranch} disabled={url.trim() === ''}>{t('source.look')}</Button>
      </div>
    </form>
  );
}

function Peers({ peers, onLook }: { peers: readonly { peer: 'hermes' | 'openclaw' | 'claude'; folders: string[]; skills: number }[]; onLook: (source: ImportSource) => void }): ReactNode {
  const { t } = useTranslation('skillImport');
  const f = useFormat();
  return (
    <ul className="grid gap-2">
      {peers.map(({ peer, folders, skills }) => (
        <li key={peer} className="flex items-center gap-3 rounded-m border border-line bg-bg px-3 py-2">
          <div className="min-w-0 flex-1">
            <p className="font-medium">
              {t(`peer.${peer}`)} <span className="num text-sm font-normal text-fg-3">{t('peer.skills', { count: skills, shown: f.exact(skills) })}</span>
            </p>
            <p className="truncate font-mono text-xs text-fg-3" title={folders.join('\n')}>{folders.join(', ')}</p>
          </div>
          <Button onClick={() => onLook({ kind: 'peer', peer })} aria-label={t('peer.lookAt', { name: t(`peer.${peer}`) })}>{t('source.look')}</Button>
        </li>
      ))}
    </ul>
  );
}
