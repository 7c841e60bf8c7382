import { Fragment, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Group, Panel, Separator, useDefaultLayout } from 'react-resizable-panels';
import { readRemembered, remember } from '../lib/remembered.ts';

export interface Pane {
  id: string;
  /** e.g. "218px" or "40%"; panes without one share the rest. */
  defaultSize?: string;
  minSize?: string;
  maxSize?: string;
  /** Keeps its width in pixels while the window changes (side panes). */
  fixed?: boolean;
  children: ReactNode;
}

const storage = { getItem: readRemembered, setItem: remember };

/** Side by side panes with borders that can be dragged (or moved by arrow keys) and are remembered under `id`. */
export function Panes({ id, panes }: { id: string; panes: readonly Pane[] }): ReactNode {
  const { t } = useTranslation('app');
  const layout = useDefaultLayout({ id: `panes.${id}`, panelIds: panes.map((p) => p.id), storage });
  return (
    <Group id={id} disableCursor={false} className="h-full min-h-0" {...layout}>
      {panes.map((pane, i) => (
        <Fragment key={pane.id}>
          {i > 0 && (
            <Separator
              aria-label={t('panes.border')}
              className="relative w-px shrink-0 bg-line outline-none before:absolute before:inset-y-0 before:-left-1 before:w-[9px] hover:bg-line-strong focus-visible:bg-accent focus-visible:shadow-[0_0_0_1px_var(--accent)] data-[separator=active]:bg-accent"
            />
          )}
          <Panel
            id={pane.id}
            {...(pane.defaultSize ? { defaultSize: pane.defaultSize } : {})}
            {...(pane.minSize ? { minSize: pane.minSize } : {})}
            {...(pane.maxSize ? { maxSize: pane.maxSize } : {})}
            groupResizeBehavior={pane.fixed ? 'preserve-pixel-size' : 'preserve-relative-size'}
            className="min-h-0"
            style={{ overflow: 'hidden' }}
          >
            {pane.children}
          </Panel>
        </Fragment>
      ))}
    </Group>
  );
}
