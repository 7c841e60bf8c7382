import { Folder } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSettings } from '#shared/contract/chats.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { Field } from '../../../ui/Field.tsx';
import { Input, NumberInput } from '../../../ui/Input.tsx';
import { Segmented } from '../../../ui/Select.tsx';
import { FOOT_BUTTON, Popup } from './Popup.tsx';

type Configure = (change: Partial<SessionSettings>) => Promise<void>;

/** Where the agent of this chat works: at the foot of the composer. */
export function WorkspaceButton({ settings, home, onChange }: { settings: SessionSettings; home: string; onChange: Configure }): ReactNode {
  const { t } = useTranslation('chat');
  const [open, setOpen] = useState(false);
  return (
    <Popup
      open={open}
      onOpenChange={setOpen}
      label={t('session.label')}
      className="overflow-y-auto p-3"
      trigger={
        <button type="button" title={settings.workspace} className={FOOT_BUTTON}>
          <span className="sr-only">{t('session.workspaceButton', { path: settings.workspace })} </span>
          <Folder className="size-3 shrink-0" aria-hidden="true" />
          <span className="truncate">{isOwnFolder(settings.workspace, home) ? t('session.own') : shortPath(settings.workspace)}</span>
        </button>
      }
    >
      <SessionForm settings={settings} onChange={onChange} />
    </Popup>
  );
}

/** Whether it is the folder that a chat gets when none was chosen. */
function isOwnFolder(path: string, home: string): boolean {
  const plain = path.replaceAll('\\', '/');
  return home !== '' && plain.startsWith(home.replaceAll('\\', '/')) && plain.includes('/chats/');
}

/** The last two folders of a path. */
export function shortPath(path: string): string {
  const parts = path.replaceAll('\\', '/').split('/').filter(Boolean);
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join('/')}`;
}

/** Workspace, sandbox and limits of one chat. Each is saved when it is left; what is refused stays with the reason. */
export function SessionForm({ settings, onChange }: { settings: SessionSettings; onChange: Configure }): ReactNode {
  const { t } = useTranslation('chat');
  const errorText = useErrorText();
  const [workspace, setWorkspace] = useState<string | null>(null);
  const [turns, setTurns] = useState<string | null>(null);
  const [problem, setProblem] = useState<{ field: 'workspace' | 'maxTurns' | 'sandbox'; text: string } | null>(null);
  const { data } = useLoad((client, signal) => client.tools.list(undefined, { signal }), []);
  const save = (field: 'workspace' | 'maxTurns' | 'sandbox', change: Partial<SessionSettings>, done: () => void): void =>
    void onChange(change).then(
      () => {
        setProblem(null);
        done();
      },
      (error: unknown) => setProblem({ field, text: errorText(error) }),
    );
  const saveWorkspace = (): void => {
    if (workspace === null || workspace.trim() === settings.workspace) setWorkspace(null);
    else save('workspace', { workspace: workspace.trim() }, () => setWorkspace(null));
  };
  const saveTurns = (): void => {
    const n = Number(turns);
    if (turns === null || n === settings.maxTurns) setTurns(null);
    else if (n < 1 || n > 1000) setProblem({ field: 'maxTurns', text: t('session.maxTurnsRange') });
    else save('maxTurns', { maxTurns: n }, () => setTurns(null));
  };
  const errorOf = (field: string): string | null => (problem?.field === field ? problem.text : null);
  const missing = data?.sandboxes.find((s) => s.kind === 'bubblewrap')?.missing ?? null;
  return (
    <div className="grid gap-3">
      <Field label={t('session.workspace')} hint={t('session.workspaceHint')} error={errorOf('workspace')}>
        {(props) => (
          <Input {...props} mono value={workspace ?? settings.workspace} onChange={(e) => setWorkspace(e.target.value)} onBlur={saveWorkspace} onKeyDown={(e) => e.key === 'Enter' && !e.nativeEvent.isComposing && saveWorkspace()} />
        )}
      </Field>
      <div className="grid gap-1">
        <span className="text-sm font-medium text-fg-2">{t('session.sandbox')}</span>
        <Segmented
          label={t('session.sandbox')}
          value={settings.sandbox}
          options={[{ value: 'host', label: t('session.host') }, { value: 'bubblewrap', label: t('session.bubblewrap') }]}
          onChange={(sandbox) => save('sandbox', { sandbox }, () => undefined)}
        />
        {(errorOf('sandbox') ?? missing) && <p className={problem?.field === 'sandbox' ? 'text-xs text-bad' : 'text-xs text-fg-3'}>{errorOf('sandbox') ?? t('session.bubblewrapMissing', { why: missing })}</p>}
      </div>
      <Field label={t('session.maxTurns')} hint={t('session.maxTurnsHint')} error={errorOf('maxTurns')}>
        {(props) => <NumberInput {...props} value={turns ?? String(settings.maxTurns)} onChange={setTurns} onBlur={saveTurns} onKeyDown={(e) => e.key === 'Enter' && saveTurns()} className="w-24!" />}
      </Field>
    </div>
  );
}
