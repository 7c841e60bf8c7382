import { Download, Ellipsis, FolderInput, Pin, PinOff, Trash2 } from 'lucide-react';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillSummary } from '#shared/contract/skills.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Chip } from '../../ui/Chip.tsx';
import { IconButton } from '../../ui/Button.tsx';
import { Menu, type MenuItem } from '../../ui/Menu.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { skillPath } from './address.ts';

export interface SkillActions {
  enable: (enabled: boolean) => void;
  pin: (pinned: boolean) => void;
  move: () => void;
  remove: () => void;
  exportZip: () => void;
}

/** Which skill it is, what is special about it, and what can be done with it as a whole. */
export function SkillHeader({ skill, actions, more, children }: { skill: SkillSummary; actions: SkillActions; more: readonly MenuItem[]; children?: ReactNode }): ReactNode {
  const { t } = useTranslation('skills');
  const format = useFormat();
  const items: (MenuItem | null)[] = [
    ...more,
    { id: 'export', label: t('menu.export'), icon: Download, run: actions.exportZip },
    ...(skill.readOnly ? [] : [
      { id: 'move', label: t('menu.move'), icon: FolderInput, run: actions.move },
      null,
      { id: 'remove', label: t('menu.remove'), icon: Trash2, danger: true, run: actions.remove },
    ]),
  ];
  return (
    <header className="flex min-h-[46px] min-w-0 shrink-0 items-center gap-2.5 border-b border-line px-3 py-1.5">
      <div className="min-w-0 flex-1">
        <div className="flex min-w-0 items-center gap-1.5">
          <h2 className="min-w-0 truncate font-semibold">{skill.category !== null && <span className="font-normal text-fg-3">{skill.category} / </span>}{skill.name}</h2>
          {skill.verdict === 'dangerous' && <Chip tone="bad" title={t('chip.dangerousHint')}>{t('chip.dangerous')}</Chip>}
          {skill.verdict === 'caution' && <Chip tone="warn" title={t('chip.cautionHint')}>{t('chip.caution')}</Chip>}
          {skill.errors > 0 && <Chip tone="bad">{t('badge.errors', { count: skill.errors })}</Chip>}
          {(skill.author === 'agent' || skill.author === 'review') && <Chip tone="accent">{t(`badge.${skill.author}`)}</Chip>}
          {skill.readOnly && <Chip title={skill.folder}>{t('badge.readOnly')}</Chip>}
        </div>
        <p className="truncate text-xs text-fg-3" title={skill.shadowedBy === null ? (skill.notOffered ?? undefined) : undefined}>
          {skill.shadowedBy !== null ? <a href={`#${skillPath(skill.shadowedBy)}`}>{t('badge.shadowed', { by: skill.shadowedBy })}</a> : skill.offered ? t('offered', { count: skill.uses, shown: format.exact(skill.uses) }) : why(skill, t, format.lang)}
        </p>
      </div>
      {children}
      <label className="flex shrink-0 items-center gap-1.5 text-xs text-fg-2">
        <Switch checked={skill.enabled} label={t('enable')} onChange={actions.enable} />
        <span aria-hidden="true">{skill.enabled ? t('enabled') : t('disabled')}</span>
      </label>
      <IconButton icon={skill.pinned ? PinOff : Pin} label={t(skill.pinned ? 'unpin' : 'pin')} pressed={skill.pinned} onClick={() => actions.pin(!skill.pinned)} />
      <Menu trigger={<IconButton icon={Ellipsis} label={t('menu.label', { name: skill.name })} />} items={items} />
    </header>
  );
}

/** Why no model is offered it. The engine's sentence tells more, and is in English. */
function why(skill: SkillSummary, t: TFunction<'skills'>, lang: string): string {
  if (lang.startsWith('en') && skill.notOffered !== null) return skill.notOffered;
  if (skill.verdict === 'dangerous') return t('chip.dangerousHint');
  if (skill.errors > 0) return t('notOfferedErrors');
  return skill.enabled ? (skill.notOffered ?? t('notOffered')) : t('notOffered');
}
