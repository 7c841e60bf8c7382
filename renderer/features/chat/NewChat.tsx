import { ArrowRight, FolderOpen } from 'lucide-react';
import { useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSettings, SessionState } from '#shared/contract/chats.ts';
import { useLoad } from '../../lib/engine-context.tsx';
import { readRemembered, remember } from '../../lib/remembered.ts';
import { Banner } from '../../ui/Feedback.tsx';
import { LinkButton } from '../../ui/Button.tsx';
import { Logo } from '../../ui/Logo.tsx';
import { isUsable } from './composer/models.ts';
import { shortPath } from './composer/SessionForm.tsx';

const RECENT = 'chat.workspaces';
const KEPT = 4;

function recentWorkspaces(): string[] {
  try {
    const list: unknown = JSON.parse(readRemembered(RECENT) ?? '[]');
    return Array.isArray(list) ? list.filter((path): path is string => typeof path === 'string') : [];
  } catch {
    return [];
  }
}

/** Keeps a folder that the person chose, to offer it for the next chat. */
export function rememberWorkspace(path: string): void {
  remember(RECENT, JSON.stringify([path, ...recentWorkspaces().filter((p) => p !== path)].slice(0, KEPT)));
}

/** A chat before its first message: what one can do here, in which folder, with which model. */
export function NewChat({ state, onText, onConfigure }: { state: SessionState; onText: (text: string) => void; onConfigure: (change: Partial<SessionSettings>) => void }): ReactNode {
  const { t } = useTranslation('chat');
  const settings = useLoad((client, signal) => client.settings.get(undefined, { signal }), []);
  const current = settings.data?.providers.find((p) => p.id === state.settings.provider);
  const onlyDemo = settings.data ? !settings.data.providers.some((p) => !p.scripted && p.key !== 'none') : false;
  const unusable = current !== undefined && !isUsable(current);
  const folders = useMemo(() => recentWorkspaces().filter((path) => path !== state.settings.workspace), [state.settings.workspace]);
  const scripted = state.settings.provider === 'offline';
  // the demo can do no others
  const ideas = scripted ? [t('new.demoIdea.first'), t('new.demoIdea.second'), t('new.demoIdea.third')] : [t('new.idea.look'), t('new.idea.script'), t('new.idea.find')];
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto grid min-h-full max-w-[600px] content-center gap-5 px-4 py-8">
        <div className="grid justify-items-center gap-2 text-center">
          <Logo className="size-9 text-accent" />
          <h2 className="text-xl font-semibold">{t('new.heading')}</h2>
          <p className="max-w-[52ch] text-fg-2">{t('new.text')}</p>
        </div>
        {unusable && current && (
          <Banner tone="warn" title={t('new.noKey', { provider: current.name })} action={<LinkButton to="/settings">{t('new.settings')}</LinkButton>}>{t('new.noKeyText')}</Banner>
        )}
        {!unusable && scripted && onlyDemo && (
          <Banner tone="info" title={t('new.demo')} action={<LinkButton to="/settings">{t('new.settings')}</LinkButton>}>{t('new.demoText')}</Banner>
        )}
        <ul aria-label={t('new.ideas')} className="grid gap-1.5">
          {ideas.map((idea) => (
            <li key={idea}>
              <button type="button" onClick={() => onText(idea)} className="flex min-h-9 w-full items-center gap-3 rounded-m border border-line bg-raised px-3 py-1.5 text-left text-fg-2 hover:border-line-strong hover:text-fg">
                <span className="line-clamp-2 min-w-0 flex-1">{idea}</span>
                <ArrowRight className="size-3.5 shrink-0 text-fg-3" aria-hidden="true" />
              </button>
            </li>
          ))}
        </ul>
        {folders.length > 0 && (
          <div>
            <h3 className="mb-1 text-xs font-semibold text-fg-3">{t('new.recent')}</h3>
            <div className="flex flex-wrap gap-1.5">
              {folders.map((path) => (
                <button key={path} type="button" title={path} onClick={() => onConfigure({ workspace: path })} className="inline-flex h-[26px] items-center gap-1.5 rounded-m border border-line bg-raised px-2 text-sm text-fg-2 hover:text-fg">
                  <FolderOpen className="size-3.5" aria-hidden="true" />
                  {shortPath(path)}
                </button>
              ))}
            </div>
          </div>
        )}
      </div>
    </div>
  );
}
