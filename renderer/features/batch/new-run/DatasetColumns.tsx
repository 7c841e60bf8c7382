import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ROW_COLUMNS, type DatasetReport, type RowColumn } from '#shared/contract/datasets.ts';
import { cx } from '../../../lib/cx.ts';
import { Banner } from '../../../ui/Feedback.tsx';
import { Select } from '../../../ui/Select.tsx';
import { type Mapping, mappingProblem } from './mapping.ts';

/** Always in sight; the others when they have a source, or on demand. */
const MAIN: readonly RowColumn[] = ['prompt', 'answer', 'tests', 'system'];
const AS_FOUND = 'found';
const COLUMN = 'column:';

/** Which of the file's columns becomes which of ours, with an example, and what the first row is then. */
export function DatasetColumns({
  report,
  mapping,
  onMapping,
}: {
  report: DatasetReport;
  mapping: Mapping;
  onMapping: (mapping: Mapping) => void;
}): ReactNode {
  const { t } = useTranslation('batch');
  const [all, setAll] = useState(false);
  const shown = ROW_COLUMNS.filter((c) => all || MAIN.includes(c) || report.mapping[c] !== undefined || Object.hasOwn(mapping.columns, c));
  const carried = report.columns.filter((c) => c.to.length === 0);
  const choose = (ours: RowColumn, value: string): void => {
    const { [ours]: _, ...others } = mapping.columns;
    onMapping({ ...mapping, columns: value === AS_FOUND ? others : { ...others, [ours]: value.slice(COLUMN.length) } });
  };
  return (
    <div className="grid gap-4 p-4">
      {report.problem !== null && <Banner tone="bad" live title={mappingProblem(report.problem, t)} />}
      <table className="w-full table-fixed text-sm">
        <thead className="text-left text-xs text-fg-3">
          <tr className="border-b border-line">
            <th className="w-28 pb-1.5 font-medium">{t('mapping.ours')}</th>
            <th className="w-[38%] pb-1.5 font-medium">{t('mapping.theirs')}</th>
            <th className="pb-1.5 pl-3 font-medium">{t('mapping.example')}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((ours) => (
            <MappingRow key={ours} ours={ours} report={report} mapping={mapping} onChoose={(value) => choose(ours, value)} />
          ))}
        </tbody>
      </table>
      {!all && shown.length < ROW_COLUMNS.length && (
        <button type="button" onClick={() => setAll(true)} className="w-fit rounded-s text-sm text-fg-2 underline hover:text-fg">
          {t('mapping.more', { names: ROW_COLUMNS.filter((c) => !shown.includes(c)).slice(0, 3).join(', ') })}
        </button>
      )}
      {carried.length > 0 && (
        <p className="text-xs text-fg-3">
          {t('mapping.carried')} <span className="font-mono text-fg-2">{carried.map((c) => c.name).join(', ')}</span>
        </p>
      )}
      <FirstRow report={report} />
    </div>
  );
}

function MappingRow({
  ours,
  report,
  mapping,
  onChoose,
}: {
  ours: RowColumn;
  report: DatasetReport;
  mapping: Mapping;
  onChoose: (value: string) => void;
}): ReactNode {
  const { t } = useTranslation('batch');
  const said = Object.hasOwn(mapping.columns, ours) ? mapping.columns[ours] : undefined;
  const from = report.mapping[ours] ?? [];
  const found = said !== undefined ? t('mapping.byShape') : from.length > 0 ? t('mapping.found', { names: from.join(' + ') }) : t('mapping.none');
  const source = report.columns.find((c) => c.name === (said ?? from[0]));
  const missing = ours === 'prompt' && said === undefined && from.length === 0 && report.mapping.prompts === undefined;
  return (
    <tr className="border-b border-line last:border-b-0">
      <th scope="row" className="py-1 pr-2 text-left font-normal" title={t(`mapping.about.${ours}`)}>
        <span className="font-mono text-sm text-fg">{ours}</span>
        {ours === 'prompt' && <span className="ml-1.5 text-xs text-fg-3">{t('mapping.required')}</span>}
      </th>
      <td className="py-1">
        <Select
          label={t('mapping.of', { ours })}
          className={cx('w-full', said !== undefined && 'border-accent', from.length === 0 && said === undefined && 'text-fg-3')}
          aria-invalid={missing ? true : undefined}
          value={said === undefined ? AS_FOUND : `${COLUMN}${said}`}
          placeholder={said}
          options={[
            { value: AS_FOUND, label: found },
            ...report.columns.map((c) => ({ value: `${COLUMN}${c.name}`, label: c.name, ...(c.example === null ? {} : { hint: c.example.slice(0, 80) }) })),
          ]}
          onChange={onChoose}
        />
      </td>
      <td className="truncate py-1 pl-3 text-xs text-fg-2" title={source?.example ?? undefined}>
        {source?.example ?? ''}
      </td>
    </tr>
  );
}

function FirstRow({ report }: { report: DatasetReport }): ReactNode {
  const { t } = useTranslation('batch');
  const first = report.preview[0];
  if (!first) return null;
  return (
    <section aria-label={t('mapping.preview')} className="grid gap-2">
      <h3 className="text-xs text-fg-3">{t('mapping.preview')}</h3>
      <div className="rounded-m border border-line bg-raised">
        <p className="max-h-40 overflow-y-auto p-3 text-sm whitespace-pre-wrap" tabIndex={0}>
          {first.prompt}
        </p>
        {Object.keys(first.row).length > 0 && (
          <dl className="grid grid-cols-[8rem_minmax(0,1fr)] gap-x-3 gap-y-1 border-t border-line p-3 text-xs">
            {Object.entries(first.row).map(([column, value]) => (
              <div key={column} className="contents">
                <dt className="truncate font-mono text-fg-3" title={column}>
                  {column}
                </dt>
                <dd className="truncate font-mono text-fg-2" title={value}>
                  {value}
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
    </section>
  );
}
