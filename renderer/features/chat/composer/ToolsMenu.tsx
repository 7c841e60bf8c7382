import { ChevronDown, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSettings } from '#shared/contract/chats.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { Checkbox } from '../../../ui/Checkbox.tsx';
import { ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { FOOT_BUTTON, Popup } from './Popup.tsx';
import { plainToolsets, switched } from './toolsets.ts';

/** Tools whose missing need is said in the page's language; for others the engine's sentence is shown. */
const WHY = { web_search: 'tools.why.web_search', vision_analyze: 'tools.why.vision_analyze' } as const;

/** Which toolsets the agent of this chat has, and why a tool is missing. */
export function ToolsMenu({ settings, open, onOpenChange, onChange }: { settings: SessionSettings; open: boolean; onOpenChange: (open: boolean) => void; onChange: (change: Partial<SessionSettings>) => void }): ReactNode {
  const { t } = useTranslation('chat');
  return (
    <Popup
      open={open}
      onOpenChange={onOpenChange}
      label={t('tools.label')}
      className="overflow-y-auto p-2.5"
      trigger={
        <button type="button" title={settings.toolsets.join(', ')} className={FOOT_BUTTON}>
          <span className="sr-only">{t('tools.button', { names: settings.toolsets.join(', ') || t('tools.none') })} </span>
          <Wrench className="size-3 shrink-0" aria-hidden="true" />
          <span className="truncate">{t('tools.short', { count: settings.toolsets.length })}</span>
          <ChevronDown className="size-3 shrink-0" aria-hidden="true" />
        </button>
      }
    >
      <ToolsetList settings={settings} onChange={onChange} />
    </Popup>
  );
}

function ToolsetList({ settings, onChange }: { settings: SessionSettings; onChange: (change: Partial<SessionSettings>) => void }): ReactNode {
  const { t } = useTranslation('chat');
  const { data, error, reload } = useLoad((client, signal) => client.tools.list(undefined, { signal }), []);
  if (!data) return error ? <ErrorState error={error} onRetry={reload} /> : <div className="grid gap-2">{Array.from({ length: 5 }, (_, i) => <Skeleton key={i} className="h-6" />)}</div>;
  const on = plainToolsets(settings.toolsets, data.toolsets);
  return (
    <div className="grid gap-1">
      <h2 className="pb-1 text-xs font-semibold text-fg-3">{t('tools.label')}</h2>
      {data.toolsets.filter((set) => set.parts.length === 0 && set.tools.length > 0).map((set) => {
        const missing = set.tools.filter((tool) => tool.missing !== null);
        const reasons = [...new Set(missing.map(({ name, missing: why }) => (name in WHY ? t(WHY[name as keyof typeof WHY]) : why)))].join(' ');
        return (
          <Checkbox
            key={set.name}
            checked={on.includes(set.name)}
            onChange={(checked) => onChange({ toolsets: switched(settings.toolsets, set.name, checked, data.toolsets) })}
            label={<span className="font-mono text-xs">{set.name}</span>}
            hint={missing.length === 0 ? set.tools.map((tool) => tool.name).join(', ') : <span className="text-warn">{t('tools.missing', { names: missing.map((tool) => tool.name).join(', '), why: reasons })}</span>}
          />
        );
      })}
      <p className="pt-1.5 text-xs text-fg-3">{t('tools.hint')}</p>
    </div>
  );
}
