import { Pencil } from 'lucide-react';
import { useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillSummary } from '#shared/contract/skills.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Checkbox } from '../../../ui/Checkbox.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { readFields, type Fields } from './frontmatter.ts';

const MAX_DESCRIPTION = 1_024;
/** How much of a description the list that models get shows; less where there are very many skills. */
const INDEX_CHARS = 200;
const PLATFORMS = ['linux', 'macos', 'windows'] as const;

/** The frontmatter as a form. Every change is one in the text itself, and can be undone there. */
export function Properties({ text, skill, onChange, onMove }: { text: string; skill: SkillSummary; onChange: (field: keyof Fields, value: string | string[]) => void; onMove: () => void }): ReactNode {
  const { t } = useTranslation('skills');
  const format = useFormat();
  const fields = useMemo(() => readFields(text), [text]);
  const tools = useLoad((client, signal) => client.tools.list(undefined, { signal }), []);
  if (!fields) return <p className="p-4 text-fg-2">{t('properties.unreadable')}</p>;
  const { readOnly } = skill;
  const length = [...fields.description].length;
  const toolsets = [...new Set([...(tools.data?.toolsets.filter((set) => set.parts.length === 0).map((set) => set.name) ?? []), ...fields.requiresToolsets])];
  const platforms = [...new Set([...PLATFORMS, ...fields.platforms])];
  const toggled = (list: readonly string[], name: string, on: boolean): string[] => (on ? [...list, name] : list.filter((other) => other !== name));
  return (
    <fieldset disabled={readOnly} aria-label={t('properties.label')} className="grid gap-3.5 p-4">
      <div className="flex flex-wrap items-end gap-x-6 gap-y-2">
        <Fact label={t('properties.name')} value={fields.name || '–'} />
        <Fact label={t('properties.category')} value={skill.category ?? t('properties.noCategory')} />
        {!readOnly && <Button icon={Pencil} className="ml-auto" onClick={onMove}>{t('properties.move')}</Button>}
      </div>
      <Field
        label={t('properties.description')}
        hint={t('properties.descriptionHint', { count: INDEX_CHARS })}
        aside={<span className={length > MAX_DESCRIPTION ? 'num text-bad' : 'num'}>{format.exact(length)} / {format.exact(MAX_DESCRIPTION)}</span>}
      >
        {(props) => (
          <textarea
            {...props}
            rows={3}
            value={fields.description}
            onChange={(e) => onChange('description', e.target.value)}
            className="w-full resize-y rounded-m border border-line-strong bg-raised px-2 py-1 text-sm"
          />
        )}
      </Field>
      <div className="grid grid-cols-[minmax(0,1fr)_96px] gap-3">
        <Tags key={skill.id} label={t('properties.tags')} hint={t('properties.tagsHint')} value={fields.tags} onChange={(tags) => onChange('tags', tags)} />
        <Field label={t('properties.version')}>
          {(props) => <Input {...props} mono value={fields.version} onChange={(e) => onChange('version', e.target.value)} />}
        </Field>
      </div>
      <Group label={t('properties.platforms')} hint={t('properties.platformsHint')}>
        {platforms.map((name) => <Checkbox key={name} checked={fields.platforms.includes(name)} disabled={readOnly} label={PLATFORM_NAMES[name] ?? name} onChange={(on) => onChange('platforms', toggled(fields.platforms, name, on))} />)}
      </Group>
      <Group label={t('properties.toolsets')} hint={t('properties.toolsetsHint')}>
        {toolsets.map((name) => <Checkbox key={name} checked={fields.requiresToolsets.includes(name)} disabled={readOnly} label={name} onChange={(on) => onChange('requiresToolsets', toggled(fields.requiresToolsets, name, on))} />)}
      </Group>
    </fieldset>
  );
}

const PLATFORM_NAMES: Record<string, string> = { linux: 'Linux', macos: 'macOS', windows: 'Windows' };

function Fact({ label, value }: { label: string; value: string }): ReactNode {
  return (
    <div className="min-w-0">
      <p className="text-sm font-medium text-fg-2">{label}</p>
      <p className="truncate font-mono text-sm" title={value}>{value}</p>
    </div>
  );
}

function Group({ label, hint, children }: { label: string; hint: string; children: ReactNode }): ReactNode {
  return (
    <div role="group" aria-label={label} className="grid gap-1">
      <p className="text-sm font-medium text-fg-2">{label}</p>
      <div className="grid grid-cols-[repeat(auto-fill,minmax(110px,1fr))] gap-x-3">{children}</div>
      <p className="text-xs text-fg-3">{hint}</p>
    </div>
  );
}

/** Words with commas in between; what is typed stays as it is while it means the same. */
function Tags({ label, hint, value, onChange }: { label: string; hint: string; value: readonly string[]; onChange: (tags: string[]) => void }): ReactNode {
  const [typed, setTyped] = useState(value.join(', '));
  const read = (text: string): string[] => [...new Set(text.split(/[,，]/).map((tag) => tag.trim()).filter(Boolean))];
  const shown = read(typed).join('\n') === value.join('\n') ? typed : value.join(', ');
  return (
    <Field label={label} hint={hint}>
      {(props) => (
        <Input
          {...props}
          value={shown}
          onChange={(e) => {
            setTyped(e.target.value);
            onChange(read(e.target.value));
          }}
        />
      )}
    </Field>
  );
}
