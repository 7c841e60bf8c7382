import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ToolCall } from '#shared/trajectory.ts';
import { useFold } from '../view/context.tsx';
import { CutText } from './CutText.tsx';
import { fieldsOf } from './result-view.ts';

/** The arguments of a call as fields: short values beside their name, long ones below it. What the head of the card says whole is left out. */
export function Fields({ call, part, told }: { call: ToolCall; part: string; told: string }): ReactNode {
  const { t } = useTranslation('library');
  const [raw, turnRaw] = useFold(`${part}:as-sent`, false);
  const fields = fieldsOf(call);
  if (fields === null) {
    return (
      <div className="border-t border-line">
        <p className="px-2.5 py-1.5 text-sm text-bad">{t('call.badArguments')}</p>
        <CutText text={call.arguments} part={`${part}:raw`} label={t('call.arguments')} />
      </div>
    );
  }
  return (
    <div className="border-t border-line">
      {raw ? (
        <div className="[&>pre]:border-t-0">
          <CutText text={call.arguments} part={`${part}:raw`} label={t('call.arguments')} />
        </div>
      ) : (
        <dl className="grid grid-cols-[minmax(72px,auto)_minmax(0,1fr)] gap-x-3 py-1 text-sm">
          {fields.filter(([, value]) => value !== told || fields.length === 1).map(([name, value]) => {
            const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
            const long = text.includes('\n') || text.length > 160;
            return long ? (
              <div key={name} className="col-span-2">
                <dt className="px-2.5 py-0.5 font-mono text-xs text-fg-3">{name}</dt>
                <dd className="[&>pre]:border-t-0">
                  <CutText text={text} part={`${part}:${name}`} label={name} />
                </dd>
              </div>
            ) : (
              <div key={name} className="col-span-2 grid grid-cols-subgrid px-2.5 py-0.5">
                <dt className="font-mono text-xs text-fg-3">{name}</dt>
                <dd className="min-w-0 font-mono text-xs wrap-anywhere text-fg-2">{text === '' ? '""' : text}</dd>
              </div>
            );
          })}
        </dl>
      )}
      <button type="button" onClick={turnRaw} className="focus-inset flex h-6 w-full items-center px-2.5 text-xs text-fg-3 hover:text-fg">{t(raw ? 'call.asFields' : 'call.asWritten')}</button>
    </div>
  );
}
