import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { SLASH_COMMANDS } from '../commands/slash.ts';

/** /help: every command with what it takes. */
export function HelpDialog({ onClose }: { onClose: () => void }): ReactNode {
  const { t } = useTranslation(['chat', 'app']);
  return (
    <Dialog open onClose={onClose} title={t('help.title')} description={t('help.text')} footer={<Button variant="primary" onClick={onClose}>{t('app:action.close')}</Button>}>
      <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
        {SLASH_COMMANDS.map((c) => (
          <div key={c.name} className="contents">
            <dt className="font-mono text-xs leading-[1.7]">
              <code className="text-role-tool">/{c.name}</code> {c.args !== 'none' && <span className="text-fg-3">{t(`slash.args.${c.name as 'new' | 'background' | 'model' | 'tools' | 'compress' | 'retry' | 'export' | 'title'}`)}</span>}
            </dt>
            <dd className="text-fg-2">
              {t(`slash.about.${c.name}`)} {c.aliases.length > 0 && <code className="font-mono text-xs text-fg-3">{c.aliases.map((a) => `/${a}`).join(' ')}</code>}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
