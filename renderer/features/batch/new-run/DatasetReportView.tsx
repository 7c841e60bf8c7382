import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { DatasetReport } from '#shared/contract/datasets.ts';
import { DATASET_SHAPES, type DatasetShape } from '#shared/contract/run-spec.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Chip } from '../../../ui/Chip.tsx';
import { Select } from '../../../ui/Select.tsx';
import { Tabs } from '../../../ui/Tabs.tsx';
import { DatasetColumns } from './DatasetColumns.tsx';
import type { Mapping } from './mapping.ts';
import { refusalText } from './refusal.ts';

/** What the engine found in the file: the rows, what is made of its columns, and every row that was refused with its number and reason. */
export function DatasetReportView({
  report,
  busy,
  isDemo,
  mapping,
  onMapping,
  onChange,
}: {
  report: DatasetReport;
  /** It is read again with another mapping. */
  busy: boolean;
  isDemo: boolean;
  mapping: Mapping;
  onMapping: (mapping: Mapping) => void;
  onChange: () => void;
}): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const [tab, setTab] = useState<'rows' | 'columns' | 'rejected'>(report.rows > 0 ? 'rows' : report.problem !== null ? 'columns' : 'rejected');
  // what is to be mended must be in sight
  const wrong = report.problem !== null;
  useEffect(() => {
    if (wrong) setTab('columns');
  }, [wrong]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 items-start gap-3 px-4 pt-3 pb-2">
        <div className="min-w-0 flex-1">
          <div className="flex items-center gap-2">
            <h2 title={report.path} className="truncate text-lg font-semibold">
              {report.name}
            </h2>
            {isDemo && <Chip tone="info">{t('dataset.demoChip')}</Chip>}
          </div>
          <p className="num flex flex-wrap gap-x-3 text-xs text-fg-3">
            <span>{f.bytes(report.bytes)}</span>
            <span>
              {t(`format.${report.format}`)}
              {report.compression !== 'none' && ` · ${report.compression}`}
            </span>
            {report.encoding !== null && <span>{t(`encoding.${report.encoding}`)}</span>}
            {report.duplicates > 0 && (
              <span title={t('dataset.duplicatesHint')}>
                {t('dataset.duplicates', { count: report.duplicates, shown: f.exact(report.duplicates) })}
              </span>
            )}
            {report.duplicateIds > 0 && (
              <span title={t('dataset.duplicateIdsHint', { id: report.duplicateId ?? '' })} className="text-warn">
                {t('dataset.duplicateIds', { count: report.duplicateIds, shown: f.exact(report.duplicateIds) })}
              </span>
            )}
            {report.blankLines > 0 && <span>{t('dataset.blank', { count: report.blankLines, shown: f.exact(report.blankLines) })}</span>}
          </p>
        </div>
        <ShapeSelect report={report} mapping={mapping} onMapping={onMapping} />
        <Button onClick={onChange}>{t('dataset.other')}</Button>
      </div>
      <p role="status" className="sr-only">
        {busy ? t('dataset.reading') : ''}
      </p>
      <Tabs
        label={t('dataset.found')}
        value={tab}
        onChange={setTab}
        items={[
          {
            value: 'rows',
            label: <span className="num">{t('dataset.rows', { shown: f.exact(report.rows) })}</span>,
            content: <Rows report={report} />,
          },
          {
            value: 'columns',
            label: <span className={wrong ? 'num text-bad' : 'num'}>{t('dataset.columns', { shown: f.exact(report.columns.length) })}</span>,
            content: <DatasetColumns report={report} mapping={mapping} onMapping={onMapping} />,
          },
          {
            value: 'rejected',
            label: (
              <span className={report.rejectedCount > 0 ? 'num text-bad' : 'num'}>
                {t('dataset.rejected', { shown: f.exact(report.rejectedCount) })}
              </span>
            ),
            content: <Rejected report={report} />,
          },
        ]}
      />
    </div>
  );
}

/** What the rows are like: as found, or as the person says. */
function ShapeSelect({ report, mapping, onMapping }: { report: DatasetReport; mapping: Mapping; onMapping: (mapping: Mapping) => void }): ReactNode {
  const { t } = useTranslation('batch');
  const auto = mapping.datasetShape === 'auto';
  return (
    <Select<DatasetShape>
      label={t('shape.label')}
      className="max-w-44"
      value={mapping.datasetShape}
      options={DATASET_SHAPES.map((shape) => ({
        value: shape,
        label: shape !== 'auto' ? t(`shape.${shape}`) : auto ? t('shape.found', { name: t(`shape.${report.shape}`) }) : t('shape.auto'),
        hint: t(`shape.about.${shape}`),
      }))}
      onChange={(datasetShape) => onMapping({ ...mapping, datasetShape })}
    />
  );
}

const ROW_PX = 30;
const REJECTED_PX = 44;

function VirtualRows({
  count,
  height,
  row,
  footer,
  empty,
}: {
  count: number;
  height: number;
  row: (i: number) => ReactNode;
  footer: string | null;
  empty: string;
}): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count, getScrollElement: () => scroller.current, estimateSize: () => height, overscan: 8 });
  if (count === 0) return <p className="p-4 text-sm text-fg-3">{empty}</p>;
  return (
    <div ref={scroller} data-preview="" tabIndex={0} className="focus-inset h-full overflow-y-auto">
      <ul style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map((r) => (
          <li
            key={r.key}
            style={{ position: 'absolute', top: 0, left: 0, right: 0, height, transform: `translateY(${r.start}px)` }}
            className="flex items-center gap-3 border-b border-line px-4"
          >
            {row(r.index)}
          </li>
        ))}
      </ul>
      {footer && <p className="p-3 text-center text-xs text-fg-3">{footer}</p>}
    </div>
  );
}

function Rows({ report }: { report: DatasetReport }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const more = report.rows - report.preview.length;
  return (
    <VirtualRows
      count={report.preview.length}
      height={ROW_PX}
      empty={t('dataset.noRows')}
      footer={more > 0 ? t('dataset.moreRows', { count: more, shown: f.exact(more) }) : null}
      row={(i) => {
        const item = report.preview[i];
        return (
          <>
            <span className="num w-12 shrink-0 text-right text-xs text-fg-3" title={t(`dataset.${report.unit}`, { line: item?.line })}>
              {f.exact(item?.line ?? 0)}
            </span>
            <span className="min-w-0 flex-1 truncate text-sm" title={item?.prompt}>
              {item?.prompt}
            </span>
            {item?.row.answer !== undefined && (
              <span className="max-w-[30%] shrink-0 truncate font-mono text-xs text-fg-3" title={item.row.answer}>
                {item.row.answer}
              </span>
            )}
          </>
        );
      }}
    />
  );
}

function Rejected({ report }: { report: DatasetReport }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const more = report.rejectedCount - report.rejected.length;
  return (
    <VirtualRows
      count={report.rejected.length}
      height={REJECTED_PX}
      empty={t('dataset.noneRejected')}
      footer={more > 0 ? t('dataset.moreRejected', { count: more, shown: f.exact(more) }) : null}
      row={(i) => {
        const item = report.rejected[i];
        const why = item ? refusalText(item, t) : '';
        return (
          <>
            <span className="num w-12 shrink-0 text-right text-xs text-fg-3" title={t(`dataset.${report.unit}`, { line: item?.line })}>
              {f.exact(item?.line ?? 0)}
            </span>
            <span className="min-w-0">
              <span className="block truncate text-sm text-bad" title={why}>
                {why}
              </span>
              <code className="block truncate font-mono text-xs text-fg-3">{item?.excerpt}</code>
            </span>
          </>
        );
      }}
    />
  );
}
