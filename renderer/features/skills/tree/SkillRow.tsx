import { ChevronRight, CircleX, EyeOff, Layers, Lock, Pin, ShieldAlert, ShieldQuestion, type LucideIcon } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillSummary } from '#shared/contract/skills.ts';
import { cx } from '../../../lib/cx.ts';
import { AUTHOR_ICONS } from '../side/authors.tsx';
import type { TreeRow } from './rows.ts';

export const SKILL_PX = 44;
export const GROUP_PX = 26;

/** Ids of the document may hold no spaces; keys of lines may. */
export const rowDomId = (key: string): string => `skill-${encodeURIComponent(key)}`;

const INDENT_PX = 14;

/** A line of the tree. Clicks are handled by the tree. */
export const SkillRow = memo(function SkillRow({ row, index, open, cursor, unsaved }: { row: TreeRow; index: number; open: boolean; cursor: boolean; unsaved: boolean }): ReactNode {
  const { t } = useTranslation('skills');
  const common = { id: rowDomId(row.key), role: 'treeitem', 'aria-level': row.level, 'data-index': index } as const;
  const style = { paddingLeft: 10 + (row.level - 1) * INDENT_PX };
  if (row.kind !== 'skill') {
    const name = row.kind === 'root' ? t(`root.${row.root}`) : row.name;
    return (
      <div
        {...common}
        aria-expanded={row.open}
        aria-selected={false}
        title={row.kind === 'root' ? row.folder : undefined}
        style={style}
        className={cx('flex h-[26px] items-center gap-1.5 pr-3 text-xs hover:bg-hover', cursor && 'bg-hover', row.kind === 'root' ? 'font-semibold text-fg-2' : 'text-fg-2')}
      >
        <ChevronRight aria-hidden="true" className={cx('size-3 shrink-0 text-fg-3 transition-transform', row.open && 'rotate-90')} />
        <span className="shrink-0">{name}</span>
        {row.kind === 'root' && row.root !== 'own' && <span className="min-w-0 truncate font-normal text-fg-3">{shortPath(row.folder)}</span>}
        <span className="num flex-1 text-right font-normal text-fg-3">{row.count}</span>
      </div>
    );
  }
  const { skill } = row;
  return (
    <div
      {...common}
      aria-selected={open}
      style={style}
      className={cx('flex h-11 items-center gap-2 border-b border-line pr-3 text-sm', open ? 'bg-selected shadow-[inset_2px_0_var(--accent)]' : cursor ? 'bg-hover' : 'hover:bg-hover')}
    >
      <span className="min-w-0 flex-1">
        <span className="flex min-w-0 items-center gap-1.5">
          <span className={cx('min-w-0 truncate', skill.enabled && skill.shadowedBy === null ? 'text-fg' : 'text-fg-3')}>{skill.name}</span>
          {unsaved && <span role="img" aria-label={t('badge.unsaved')} title={t('badge.unsaved')} className="size-1.5 shrink-0 rounded-full bg-accent" />}
        </span>
        <span className="block truncate text-xs text-fg-3" title={skill.description}>{skill.description || t('tree.noDescription')}</span>
      </span>
      <Badges skill={skill} />
    </div>
  );
});

/** Only what is worth a look: most skills have none. */
function Badges({ skill }: { skill: SkillSummary }): ReactNode {
  const { t } = useTranslation('skills');
  const made = skill.author === 'agent' || skill.author === 'review' ? skill.author : null;
  return (
    <span className="flex shrink-0 items-center gap-1">
      {skill.verdict === 'dangerous' && <Badge icon={ShieldAlert} label={t('badge.dangerous')} tone="text-bad" />}
      {skill.verdict === 'caution' && <Badge icon={ShieldQuestion} label={t('badge.caution')} tone="text-warn" />}
      {skill.errors > 0 && <Badge icon={CircleX} label={t('badge.errors', { count: skill.errors })} tone="text-bad" />}
      {!skill.enabled && <Badge icon={EyeOff} label={t('badge.disabled')} />}
      {skill.shadowedBy !== null && <Badge icon={Layers} label={t('badge.shadowed', { by: skill.shadowedBy })} />}
      {skill.pinned && <Badge icon={Pin} label={t('badge.pinned')} />}
      {made && <Badge icon={AUTHOR_ICONS[made]} label={t(`badge.${made}`)} tone="text-role-agent" />}
      {skill.readOnly && <Badge icon={Lock} label={t('badge.readOnly')} />}
    </span>
  );
}

function Badge({ icon: Icon, label, tone = 'text-fg-3' }: { icon: LucideIcon; label: string; tone?: string }): ReactNode {
  return (
    <span role="img" aria-label={label} title={label} className={tone}>
      <Icon className="size-3.5" strokeWidth={1.75} aria-hidden="true" />
    </span>
  );
}

/** The end of a path, which tells folders of one name apart. */
function shortPath(folder: string): string {
  const parts = folder.split(/[/\\]/).filter(Boolean);
  return parts.length <= 2 ? folder : `…/${parts.slice(-2).join('/')}`;
}
