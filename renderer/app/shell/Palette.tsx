import { Command } from 'cmdk';
import { BookOpenText, Brain, Dices, Inbox, Languages, LibraryBig, ListChecks, MessageSquare, Plus, Settings, SunMoon, type LucideIcon } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { LANGUAGES, THEMES } from '#shared/contract/settings.ts';
import { useCommandLayers } from '../../lib/commands.tsx';
import { useLoad } from '../../lib/engine-context.tsx';
import { navigate } from '../../lib/hash-location.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { Kbd } from '../../ui/Kbd.tsx';
import { usePrefs } from '../prefs-context.tsx';

/** Reaches everything by typing: screens, runs, what the visible screen can do, theme, language. */
export function Palette({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const { t } = useTranslation('app');
  return (
    <Dialog open={open} onClose={onClose} title={t('palette.title')} bare>
      <PaletteList onClose={onClose} />
    </Dialog>
  );
}

const GROUP =
  '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:text-fg-3';

function PaletteList({ onClose }: { onClose: () => void }): ReactNode {
  const { t } = useTranslation('app');
  const [prefs, setPrefs] = usePrefs();
  const [text, setText] = useState('');
  const layers = useCommandLayers();
  const chats = useLoad((client, signal) => client.chats.list({ limit: 100 }, { signal }), []);
  const runs = useLoad((client) => client.runs.list(), []);
  // After the popup is gone: the command may open a dialog or move the focus itself.
  const then = (run: () => void) => (): void => {
    onClose();
    setTimeout(run, 0);
  };
  const everywhere = t('keys.everywhere');
  const actions = layers
    .toReversed()
    // what the screen offers goes before what is offered on every screen
    .toSorted((a, b) => Number(a.title === everywhere) - Number(b.title === everywhere))
    .flatMap((layer) =>
      layer.commands.filter((c) => !c.keysOnly && !c.disabled && !c.inDialog && c.label).map((c) => ({ ...c, layer: layer.id })),
    );
  return (
    <Command label={t('palette.title')} loop className="flex max-h-[60vh] min-h-0 flex-col">
      <Command.Input
        autoFocus
        value={text}
        onValueChange={setText}
        placeholder={t('palette.placeholder')}
        className="h-11 shrink-0 border-b border-line bg-transparent px-4 text-lg outline-none"
      />
      <Command.List label={t('palette.title')} className="min-h-0 flex-1 overflow-y-auto p-1.5">
        <Command.Empty className="p-6 text-center text-fg-3">{t('palette.empty')}</Command.Empty>
        {actions.length > 0 && (
          <Command.Group heading={t('keys.screen')} className={GROUP}>
            {actions.map((c) => (
              <Item key={`${c.layer}${c.id}`} value={`${c.layer}${c.id}`} label={c.label} keys={c.keys} onSelect={then(c.run)} />
            ))}
          </Command.Group>
        )}
        <Command.Group heading={t('palette.screens')} className={GROUP}>
          <Item value="go-chat" icon={MessageSquare} label={t('nav.chat')} keys="g c" onSelect={then(() => navigate('/chat'))} />
          <Item value="go-library" icon={LibraryBig} label={t('nav.library')} keys="g l" onSelect={then(() => navigate('/library'))} />
          <Item value="go-batch" icon={ListChecks} label={t('nav.batch')} keys="g b" onSelect={then(() => navigate('/batch'))} />
          <Item value="go-skills" icon={BookOpenText} label={t('nav.skills')} keys="g k" onSelect={then(() => navigate('/skills'))} />
          <Item value="go-memory" icon={Brain} label={t('nav.memory')} keys="g m" onSelect={then(() => navigate('/memory'))} />
          <Item value="go-reviews" icon={Inbox} label={t('nav.reviews')} keys="g r" onSelect={then(() => navigate('/reviews'))} />
          <Item value="go-new" icon={Plus} label={t('palette.newRun')} onSelect={then(() => navigate('/batch/new'))} />
          <Item value="go-distributions" icon={Dices} label={t('palette.distributions')} onSelect={then(() => navigate('/batch/distributions'))} />
          <Item value="go-settings" icon={Settings} label={t('nav.settings')} keys="g s" onSelect={then(() => navigate('/settings'))} />
        </Command.Group>
        {chats.data && chats.data.items.length > 0 && (
          <Command.Group heading={t('palette.chats')} className={GROUP}>
            {chats.data.items.filter((c) => c.title !== '').map((c) => (
              <Item key={c.id} value={`chat-${c.id}`} icon={MessageSquare} label={c.title} onSelect={then(() => navigate(`/chat/${c.id}`))} />
            ))}
          </Command.Group>
        )}
        {runs.data && runs.data.items.length > 0 && (
          <Command.Group heading={t('palette.runs')} className={GROUP}>
            {runs.data.items.slice(0, 50).map((r) => (
              <Item
                key={r.id}
                value={`run-${r.id}`}
                icon={ListChecks}
                label={r.name}
                aside={t(`runState.${r.state}`)}
                onSelect={then(() => navigate(`/batch/${r.id}`))}
              />
            ))}
          </Command.Group>
        )}
        <Command.Group heading={t('palette.theme')} className={GROUP}>
          {THEMES.map((theme) => (
            <Item
              key={theme}
              value={`theme-${theme}`}
              icon={SunMoon}
              label={`${t('palette.theme')}: ${t(`theme.${theme}`)}`}
              current={prefs.theme === theme}
              onSelect={then(() => setPrefs({ theme }))}
            />
          ))}
        </Command.Group>
        <Command.Group heading={t('palette.language')} className={GROUP}>
          {LANGUAGES.map((language) => (
            <Item
              key={language}
              value={`language-${language}`}
              icon={Languages}
              label={`${t('palette.language')}: ${t(`language.${language}`)}`}
              current={prefs.language === language}
              onSelect={then(() => setPrefs({ language }))}
            />
          ))}
        </Command.Group>
      </Command.List>
    </Command>
  );
}

function Item({
  value,
  label,
  icon: Icon,
  keys,
  aside,
  current = false,
  onSelect,
}: {
  value: string;
  label: string;
  icon?: LucideIcon;
  keys?: string | undefined;
  aside?: string;
  current?: boolean;
  onSelect: () => void;
}): ReactNode {
  return (
    <Command.Item
      value={value}
      keywords={[label]}
      onSelect={onSelect}
      className="flex h-8 cursor-default items-center gap-2.5 rounded-s px-2 text-md select-none data-[selected=true]:bg-hover"
    >
      {Icon ? <Icon className="size-3.5 shrink-0 text-fg-3" aria-hidden="true" /> : <span className="size-3.5 shrink-0" />}
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {aside && <span className="text-xs text-fg-3">{aside}</span>}
      {current && <span aria-hidden="true" className="size-1.5 rounded-full bg-accent" />}
      {keys && <Kbd keys={keys} />}
    </Command.Item>
  );
}
