import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCommands } from '../../lib/commands.tsx';
import { navigate } from '../../lib/hash-location.ts';

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
  useCommands(t('keys.everywhere'), [
    { id: 'palette', label: t('palette.open'), keys: 'mod+k', whileTyping: true, keysOnly: true, run: palette.show },
    { id: 'keys', label: t('keys.show'), keys: '?', run: sheet.show },
    { id: 'library', label: t('nav.library'), keys: 'g l', keysOnly: true, run: () => navigate('/library') },
    { id: 'batch', label: t('nav.batch'), keys: 'g b', keysOnly: true, run: () => navigate('/batch') },
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
