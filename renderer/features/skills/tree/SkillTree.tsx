import { useVirtualizer } from '@tanstack/react-virtual';
import { useImperativeHandle, useRef, type MouseEvent, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import { Skeleton } from '../../../ui/Feedback.tsx';
import type { TreeRow } from './rows.ts';
import { GROUP_PX, rowDomId, SKILL_PX, SkillRow } from './SkillRow.tsx';

export interface TreeHandle {
  focus: () => void;
  reveal: (key: string) => void;
}

/** The tree of skills, of which only lines on screen exist. @param props.rows null while they are on their way */
export function SkillTree({ rows, openId, cursor, unsaved, onPress, ref }: { rows: readonly TreeRow[] | null; openId: string | null; cursor: string | null; unsaved: ReadonlySet<string>; onPress: (row: TreeRow) => void; ref: Ref<TreeHandle> }): ReactNode {
  const { t } = useTranslation('skills');
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows?.length ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => (rows?.[i]?.kind === 'skill' ? SKILL_PX : GROUP_PX),
    getItemKey: (i) => rows?.[i]?.key ?? i,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  useImperativeHandle(ref, () => ({
    focus: () => scroller.current?.focus({ preventScroll: true }),
    reveal: (key) => {
      const at = rows?.findIndex((row) => row.key === key) ?? -1;
      if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
    },
  }), [virtual, rows]);
  const onClick = (event: MouseEvent): void => {
    const at = (event.target as Element).closest<HTMLElement>('[data-index]')?.dataset.index;
    const row = at === undefined ? undefined : rows?.[Number(at)];
    if (row) onPress(row);
  };
  const active = rows !== null && items.some((item) => rows[item.index]?.key === cursor) ? cursor : null;
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={t('tree.label')}
      aria-busy={rows === null}
      aria-activedescendant={active === null ? undefined : rowDomId(active)}
      tabIndex={0}
      onClick={onClick}
      className="focus-inset isolate h-full overflow-y-auto select-none [overflow-anchor:none]"
    >
      {rows === null ? (
        <div className="grid gap-4 p-3">{Array.from({ length: 8 }, (_, i) => <div key={i} className="grid gap-1.5"><Skeleton className="h-3 w-2/5" /><Skeleton className="h-2.5 w-4/5" /></div>)}</div>
      ) : (
        <div role="presentation" className="relative -z-1" style={{ height: virtual.getTotalSize() }}>
          <div role="presentation" className="absolute inset-x-0 top-0" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map((item) => {
              const row = rows[item.index];
              return row && <SkillRow key={item.key} row={row} index={item.index} open={row.key === openId} cursor={row.key === cursor} unsaved={unsaved.has(row.key)} />;
            })}
          </div>
        </div>
      )}
    </div>
  );
}
