import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { openNewChat } from '../../features/chat/new-chat.ts';
import { useCommands } from '../../lib/commands.tsx';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { navigate } from '../../lib/hash-location.ts';
import { useToasts } from '../../ui/Toasts.tsx';

interface Toggle {
  open: boolean;
  show: () => void;
  hide: () => void;
}

function useToggle(): Toggle {
  const [open, setOpen] = useState(false);
  return useMemo(() => ({ open, show: () => setOpen(true), hide: () => setOpen(false) }), [open]);
}

/** The keys that work on every screen, and what they open. */
export function useShellCommands(): { palette: Toggle; sheet: Toggle } {
  const { t } = useTranslation('app');
  const palette = useToggle();
  const sheet = useToggle();
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const newChat = (): void => void openNewChat(client).catch((error: unknown) => toast({ title: errorText(error), kind: 'bad' }));
  useCommands(t('keys.everywhere'), [
    { id: 'palette', label: t('palette.open'), keys: 'mod+k', whileTyping: true, keysOnly: true, run: palette.show },
    { id: 'keys', label: t('keys.show'), keys: '?', run: sheet.show },
    { id: 'new-chat', label: t('palette.newChat'), keys: 'mod+shift+o', whileTyping: true, run: newChat },
    { id: 'chat', label: t('nav.chat'), keys: 'g c', keysOnly: true, run: () => navigate('/chat') },
    { id: 'library', label: t('nav.library'), keys: 'g l', keysOnly: true, run: () => navigate('/library') },
    { id: 'batch', label: t('nav.batch'), keys: 'g b', keysOnly: true, run: () => navigate('/batch') },
    { id: 'skills', label: t('nav.skills'), keys: 'g k', keysOnly: true, run: () => navigate('/skills') },
    { id: 'memory', label: t('nav.memory'), keys: 'g m', keysOnly: true, run: () => navigate('/memory') },
    { id: 'reviews', label: t('nav.reviews'), keys: 'g r', keysOnly: true, run: () => navigate('/reviews') },
    {
      id: 'settings',
      label: t('nav.settings'),
      keys: 'g s',
      also: ['mod+,'],
      whileTyping: false,
      keysOnly: true,
      run: () => navigate('/settings'),
    },
  ]);
  return { palette, sheet };
}
