import { Command } from 'cmdk';
import { Check, ChevronDown } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { REASONING_EFFORTS } from '#shared/contract/runs.ts';
import type { SessionSettings } from '#shared/contract/chats.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Select } from '../../../ui/Select.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { allModels, isQuiet, recentModels, rememberModel, type ModelChoice } from './models.ts';
import { FOOT_BUTTON, Popup } from './Popup.tsx';

/** Lines of one provider on screen; typing finds the others. */
const MOST = 60;

/** The model of the chat and how much it thinks. */
export function ModelPicker({ settings, open, onOpenChange, onChange }: { settings: SessionSettings; open: boolean; onOpenChange: (open: boolean) => void; onChange: (change: Partial<SessionSettings>) => void }): ReactNode {
  const { t } = useTranslation('chat');
  const name = settings.model.split('/').at(-1) ?? settings.model;
  return (
    <Popup
      open={open}
      onOpenChange={onOpenChange}
      label={t('model.label')}
      className="flex flex-col overflow-hidden"
      trigger={
        <button type="button" aria-label={t('model.button', { model: settings.model })} title={`${settings.provider} · ${settings.model}`} className={FOOT_BUTTON}>
          <span className="truncate">{settings.reasoningEffort ? `${name} · ${t(`effort.${settings.reasoningEffort}`)}` : name}</span>
          <ChevronDown className="size-3 shrink-0" aria-hidden="true" />
        </button>
      }
    >
      <ModelList
        current={settings}
        onPick={(choice) => {
          rememberModel(choice);
          onChange(choice);
          onOpenChange(false);
        }}
      />
      <label className="flex items-center justify-between gap-3 border-t border-line px-3 py-2 text-sm text-fg-2">
        {t('effort.label')}
        <Select
          label={t('effort.label')}
          value={settings.reasoningEffort ?? ''}
          options={[{ value: '', label: t('effort.default') }, ...REASONING_EFFORTS.map((e) => ({ value: e, label: t(`effort.${e}`) }))]}
          onChange={(value) => onChange({ reasoningEffort: value === '' ? null : value })}
        />
      </label>
    </Popup>
  );
}

/** Every model of every provider that can be used, the recent ones first, and any id that is typed. */
export function ModelList({ current, onPick }: { current: ModelChoice | null; onPick: (choice: ModelChoice) => void }): ReactNode {
  const { t } = useTranslation(['chat', 'app']);
  const errorText = useErrorText();
  const format = useFormat();
  const [text, setText] = useState('');
  const { data, error, loading } = useLoad(allModels, []);
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const fits = (provider: string, model: string): boolean => words.every((word) => `${provider}/${model}`.toLowerCase().includes(word));
  const nameOf = (id: string): string => {
    const provider = data?.find((p) => p.provider.id === id)?.provider;
    return provider?.scripted ? t('app:scripted.provider') : (provider?.name ?? id);
  };
  const quiet = data?.filter((p) => isQuiet(p) && p.provider.id !== current?.provider) ?? [];
  const recent = recentModels().filter((c) => fits(c.provider, c.model));
  const item = (choice: ModelChoice, group: string, aside?: string): ReactNode => (
    <Command.Item
      key={`${group}${choice.provider}/${choice.model}`}
      value={`${group} ${choice.provider}/${choice.model}`}
      onSelect={() => onPick(choice)}
      className="flex min-h-7 cursor-default items-center gap-2 rounded-s px-2 text-sm select-none data-[selected=true]:bg-hover"
    >
      <span className="grid size-3.5 shrink-0 place-items-center">{current?.provider === choice.provider && current.model === choice.model && <Check className="size-3.5 text-accent" aria-hidden="true" />}</span>
      <span className="min-w-0 flex-1 truncate font-mono text-xs">{choice.model}</span>
      {aside && <span className="num shrink-0 text-xs text-fg-3">{aside}</span>}
    </Command.Item>
  );
  const GROUP = '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-0.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-fg-3';
  return (
    <Command label={t('model.label')} shouldFilter={false} loop className="flex min-h-0 flex-1 flex-col">
      <Command.Input autoFocus value={text} onValueChange={setText} placeholder={t('model.search')} className="h-9 shrink-0 border-b border-line bg-transparent px-3 text-sm outline-none" />
      <Command.List label={t('model.label')} className="max-h-72 min-h-24 flex-1 overflow-y-auto p-1">
        {recent.length > 0 && <Command.Group heading={t('model.recent')} className={GROUP}>{recent.map((c) => item(c, 'recent', nameOf(c.provider)))}</Command.Group>}
        {data?.map((one) => {
          if (quiet.includes(one)) return null;
          const { provider, models, error: failed } = one;
          const found = models.filter((m) => fits(provider.id, m.id));
          const own = wanted !== '' && !provider.scripted && !models.some((m) => m.id.toLowerCase() === wanted) && !/\s/.test(wanted);
          if (found.length === 0 && !own && failed === null) return null;
          return (
            <Command.Group key={provider.id} heading={nameOf(provider.id)} className={GROUP}>
              {found.slice(0, MOST).map((m) => item({ provider: provider.id, model: m.id }, 'all', m.contextLength === null ? undefined : t('model.context', { shown: format.compact(m.contextLength) })))}
              {found.length > MOST && <p className="px-2 py-1 text-xs text-fg-3">{t('model.more', { count: found.length - MOST, shown: format.exact(found.length - MOST) })}</p>}
              {failed !== null && <p className="px-2 py-1 text-xs text-fg-3">{t('model.failed', { why: errorText(failed) })}</p>}
              {own && (
                <Command.Item value={`own ${provider.id}`} onSelect={() => onPick({ provider: provider.id, model: text.trim() })} className="flex min-h-7 cursor-default items-center gap-2 rounded-s px-2 text-sm select-none data-[selected=true]:bg-hover">
                  <span className="size-3.5 shrink-0" />
                  {t('model.own', { model: text.trim() })}
                </Command.Item>
              )}
            </Command.Group>
          );
        })}
        {quiet.length > 0 && <p className="px-2 pt-2 pb-1 text-xs text-fg-3">{t('model.quiet', { names: quiet.map((p) => p.provider.name).join(', ') })}</p>}
        {loading && !data && <p className="flex items-center gap-2 p-3 text-sm text-fg-3"><Spinner /> {t('model.loading')}</p>}
        {error !== null && error !== undefined && !data && <p role="alert" className="p-3 text-sm text-bad">{errorText(error)}</p>}
        <Command.Empty className="p-3 text-sm text-fg-3">{data ? t('model.none') : ''}</Command.Empty>
      </Command.List>
      <a href="#/settings" className="border-t border-line px-3 py-1.5 text-xs text-fg-3 hover:text-fg">{t('model.settings')}</a>
    </Command>
  );
}
