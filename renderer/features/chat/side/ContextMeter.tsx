import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ContextMeter as Meter_ } from '#shared/contract/chats.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Meter } from '../../../ui/Feedback.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';

/** How full the model's context is, with what, and where older messages begin to be summed up. */
export function ContextMeter({ meter, compressing, onCompress }: { meter: Meter_; compressing: boolean; onCompress?: () => void }): ReactNode {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const { system, tools, messages, total, limit, compressAt } = meter;
  const about = meter.measured ? '' : '≈ ';
  const shown = about + (limit === null ? t('context.tokens', { shown: format.compact(total) }) : t('context.of', { shown: format.compact(total), limit: format.compact(limit) }));
  const parts = t('context.parts', { system: format.compact(system), tools: format.compact(tools), talk: format.compact(messages) });
  // What the provider counted beyond our estimate of the parts belongs to none of them.
  const sum = Math.max(1, system + tools + messages);
  const scale = total / sum;
  return (
    <div className="grid gap-1">
      <p className="num text-sm" title={format.exact(total)}>{shown}</p>
      <div className="relative">
        <Meter
          label={`${shown}, ${parts}`}
          total={limit ?? total}
          parts={[
            { key: 'system', value: system * scale, color: 'var(--role-think)' },
            { key: 'tools', value: tools * scale, color: 'var(--role-tool)' },
            { key: 'talk', value: messages * scale, color: 'var(--role-agent)' },
          ]}
          className="h-1.5!"
        />
        {compressAt !== null && limit !== null && <i aria-hidden="true" className="absolute -top-0.5 h-2.5 w-px bg-fg-2" style={{ left: `${Math.min(100, (compressAt / limit) * 100)}%` }} />}
      </div>
      <p className="num flex flex-wrap gap-x-2 text-xs text-fg-3">
        <Key color="bg-role-think">{t('context.system', { shown: format.compact(system) })}</Key>
        <Key color="bg-role-tool">{t('context.tools', { shown: format.compact(tools) })}</Key>
        <Key color="bg-role-agent">{t('context.talk', { shown: format.compact(messages) })}</Key>
      </p>
      {compressAt !== null && <p className="num text-xs text-fg-3">{t('context.compressAt', { shown: format.compact(compressAt) })}</p>}
      {compressing ? (
        <p role="status" className="flex items-center gap-1.5 text-xs text-accent"><Spinner className="size-3" /> {t('context.compressing')}</p>
      ) : (
        onCompress && <span><Button variant="ghost" className="-ml-2.5" onClick={onCompress}>{t('context.compress')}</Button></span>
      )}
    </div>
  );
}

function Key({ color, children }: { color: string; children: ReactNode }): ReactNode {
  return (
    <span className="inline-flex items-center gap-1">
      <i aria-hidden="true" className={`inline-block size-1.5 rounded-full ${color}`} />
      {children}
    </span>
  );
}
