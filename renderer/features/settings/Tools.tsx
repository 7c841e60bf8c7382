import { TriangleAlert } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ToolInfo, ToolsetInfo } from '#shared/contract/tools.ts';
import { cx } from '../../lib/cx.ts';
import { useClient, useLoad } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { Banner, ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { ToolsSafety } from './ToolsSafety.tsx';
import { ToolsSearch } from './ToolsSearch.tsx';
import { MISSING_TEXTS, TOOLSET_TEXTS, textOf } from './tools-texts.ts';

/** What new chats offer to the agent: toolsets, search service, sandbox, and what was allowed for good. */
export function Tools(): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const list = useLoad((client) => client.tools.list(), []);
  const settings = useLoad((client) => client.tools.settings(), []);
  const error = list.error ?? settings.error;
  return (
    <>
      <section aria-labelledby="tools">
        <h2 id="tools" className="text-lg font-semibold">
          {t('tools.title')}
        </h2>
        <p className="mb-2 text-sm text-fg-2">{t('tools.about')}</p>
        {list.data && list.data.unknown.length > 0 && (
          <div className="mb-2">
            <Banner tone="warn" title={t('tools.unknown', { names: list.data.unknown.join(', ') })} />
          </div>
        )}
        {list.data ? (
          <Toolsets toolsets={list.data.toolsets} onChange={(toolsets) => list.data && list.set({ ...list.data, toolsets })} />
        ) : error ? (
          <ErrorState error={error} onRetry={() => (list.reload(), settings.reload())} />
        ) : (
          <Skeleton className="h-96 rounded-l" />
        )}
      </section>
      {list.data && settings.data && (
        <>
          {/* A search service that is set or lost changes which tools are missing something. */}
          <ToolsSearch settings={settings.data} onChange={(next) => (settings.set(next), list.reload())} />
          <ToolsSafety settings={settings.data} sandboxes={list.data.sandboxes} onChange={settings.set} />
        </>
      )}
    </>
  );
}

function Toolsets({ toolsets, onChange }: { toolsets: readonly ToolsetInfo[]; onChange: (toolsets: ToolsetInfo[]) => void }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const [busy, setBusy] = useState(false);
  const enable = (name: string, enabled: boolean): void => {
    if (busy) return;
    setBusy(true);
    client.tools
      .enable({ name, enabled })
      .then(
        (answer) => onChange(answer.toolsets),
        (error: unknown) => toast({ title: errorText(error), kind: 'bad' }),
      )
      .finally(() => setBusy(false));
  };
  const groups = toolsets.filter((one) => one.parts.length > 0);
  return (
    <div className="rounded-l border border-line bg-raised">
      <ul>
        {toolsets
          .filter((one) => one.parts.length === 0)
          .map((one) => (
            <ToolsetRow key={one.name} toolset={one} onSwitch={(enabled) => enable(one.name, enabled)} />
          ))}
      </ul>
      <div className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1.5 border-t border-line px-3.5 py-2">
        <span className="text-sm text-fg-2">{t('tools.groups')}</span>
        <div className="flex flex-wrap gap-1.5">
          {groups.map(({ name, parts, enabled }) => (
            <button
              key={name}
              type="button"
              aria-pressed={enabled}
              title={parts.join(', ')}
              onClick={() => enable(name, !enabled)}
              className={cx(
                'h-[22px] rounded-full border px-2 font-mono text-xs',
                enabled ? 'border-accent bg-accent-soft text-accent' : 'border-line-strong text-fg-2 hover:bg-hover hover:text-fg',
              )}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
    </div>
  );
}

function ToolsetRow({ toolset: { name, tools, enabled }, onSwitch }: { toolset: ToolsetInfo; onSwitch: (enabled: boolean) => void }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const key = textOf(TOOLSET_TEXTS, name);
  return (
    <li className="flex items-start gap-3 border-line px-3.5 py-2 not-last:border-b">
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-mono text-sm font-medium">{name}</span>
          {key && <span className="text-sm text-fg-2">{t(key)}</span>}
        </div>
        <ul className="mt-0.5 flex flex-wrap gap-x-3 gap-y-0.5">
          {tools.map((tool) => (
            <li key={tool.name} title={tool.description} className={cx('font-mono text-xs', tool.missing === null ? 'text-fg-3' : 'text-fg-3 line-through')}>
              {tool.name}
            </li>
          ))}
        </ul>
        {tools.map((tool) => tool.missing !== null && <Missing key={tool.name} tool={tool} />)}
      </div>
      <span className="pt-0.5">
        <Switch checked={enabled} onChange={onSwitch} label={name} />
      </span>
    </li>
  );
}

/** Why a tool is not offered although its toolset is on. */
function Missing({ tool }: { tool: ToolInfo }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const key = textOf(MISSING_TEXTS, tool.name);
  return (
    <p className="mt-1 flex items-start gap-1.5 text-xs text-fg-2">
      <TriangleAlert className="mt-px size-3.5 shrink-0 text-warn" aria-hidden="true" />
      <span>
        <span className="font-mono">{tool.name}</span> {key ? t(key) : tool.missing}
      </span>
    </p>
  );
}
