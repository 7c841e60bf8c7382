import { Copy, Save, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import { Button } from '../../../ui/Button.tsx';
import { Chip } from '../../../ui/Chip.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { aboutDistribution } from './about.ts';
import { DrawsPreview } from './DrawsPreview.tsx';
import { type DistributionDraft, readChances } from './edit.ts';

/** One distribution: its chances to edit, or to see when it is built in, beside what draws from it look like. */
export function DistributionEditor({
  draft,
  readOnly,
  toolsets,
  changed,
  busy,
  refused,
  onChange,
  onSave,
  onDuplicate,
  onDelete,
  onUse,
}: {
  draft: DistributionDraft;
  readOnly: boolean;
  /** Names that the table may have. */
  toolsets: readonly { name: string; usable: boolean }[];
  changed: boolean;
  busy: boolean;
  /** What the engine said of the last try to save. */
  refused: { field: string | null; message: string } | null;
  onChange: (draft: DistributionDraft) => void;
  onSave: () => void;
  onDuplicate: () => void;
  onDelete: () => void;
  onUse: () => void;
}): ReactNode {
  const { t } = useTranslation('batch');
  const { toolsets: chances, bad } = readChances(draft.chances);
  // toolsets that nobody knows here stay in sight
  const extra = Object.keys(draft.chances).filter((name) => !toolsets.some((one) => one.name === name));
  const rows = [...toolsets, ...extra.map((name) => ({ name, usable: false }))];
  const none = bad.length === 0 && Object.keys(chances).length === 0;
  const at = (field: string): string | null => (refused?.field === field ? refused.message : null);
  return (
    <div className="grid gap-4 p-4">
      <div className="flex flex-wrap items-center gap-2">
        {readOnly ? (
          <p className="min-w-0 flex-1 text-sm text-fg-2">{t('runForm.dist.readOnly')}</p>
        ) : (
          <p className="min-w-0 flex-1 text-sm text-fg-3">{changed || draft.saved === null ? t('runForm.dist.unsaved') : ' '}</p>
        )}
        {!readOnly && draft.saved !== null && (
          <Button variant="danger" icon={Trash2} onClick={onDelete}>
            {t('runForm.dist.delete')}
          </Button>
        )}
        <Button icon={Copy} onClick={onDuplicate}>
          {t('runForm.dist.duplicate')}
        </Button>
        {!readOnly && (
          <Button variant={changed || draft.saved === null ? 'primary' : 'default'} icon={Save} hotkey="mod+s" busy={busy} disabled={bad.length > 0 || none || !(changed || draft.saved === null)} onClick={onSave}>
            {t('runForm.dist.save')}
          </Button>
        )}
        {!changed && (readOnly || draft.saved !== null) && (
          <Button variant={readOnly ? 'primary' : 'default'} onClick={onUse}>
            {t('runForm.dist.use')}
          </Button>
        )}
      </div>
      {refused && refused.field !== 'name' && refused.field !== 'description' && (
        <p role="alert" className="text-sm text-bad">
          {refused.message}
        </p>
      )}
      {!readOnly && (
        <div className="grid gap-3 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
          <Field label={t('runForm.dist.name')} error={at('name')}>
            {(props) => <Input {...props} mono value={draft.name} maxLength={60} onChange={(e) => onChange({ ...draft, name: e.target.value })} />}
          </Field>
          <Field label={t('runForm.dist.description')} error={at('description')}>
            {(props) => <Input {...props} value={draft.description} maxLength={300} onChange={(e) => onChange({ ...draft, description: e.target.value })} />}
          </Field>
        </div>
      )}
      {readOnly && draft.description && <p className="text-fg-2">{aboutDistribution(draft, readOnly, t)}</p>}
      <div className="grid gap-6 @min-[640px]:grid-cols-2">
        <table className="w-full content-start self-start text-sm">
          <thead>
            <tr className="text-left text-xs text-fg-3">
              <th className="pb-1 font-medium">{t('runForm.dist.toolset')}</th>
              <th className="w-28 pb-1 text-right font-medium">{t('runForm.dist.chance')}</th>
            </tr>
          </thead>
          <tbody>
            {rows
              .filter(({ name }) => !readOnly || draft.chances[name] !== undefined)
              .map(({ name, usable }) => (
                <tr key={name} className="border-t border-line">
                  <td className={cx('py-1 pr-2', !usable && 'text-fg-3')}>
                    <span className="mr-2 font-mono text-xs">{name}</span>
                    {!usable && <Chip>{t('runForm.dist.skipped')}</Chip>}
                  </td>
                  <td className="py-1">
                    {readOnly ? (
                      <span className="num block text-right">{draft.chances[name]} %</span>
                    ) : (
                      <span className="flex items-center justify-end gap-1.5">
                        <Input
                          aria-label={t('runForm.dist.percent', { name })}
                          aria-invalid={bad.includes(name) || undefined}
                          title={bad.includes(name) ? t('runForm.dist.percentBad') : undefined}
                          inputMode="decimal"
                          className="num w-16! text-right"
                          placeholder="0"
                          value={draft.chances[name] ?? ''}
                          onChange={(e) => onChange({ ...draft, chances: { ...draft.chances, [name]: e.target.value } })}
                        />
                        <span className="text-fg-3">%</span>
                      </span>
                    )}
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
        {bad.length > 0 || none ? (
          <p role="status" className="text-sm text-warn">
            {bad.length > 0 ? `${bad.join(', ')}: ${t('runForm.dist.percentBad')}` : t('runForm.dist.noChance')}
          </p>
        ) : (
          <DrawsPreview toolsets={chances} />
        )}
      </div>
    </div>
  );
}
