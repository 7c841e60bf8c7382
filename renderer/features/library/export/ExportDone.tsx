import { CircleCheck, Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ExportSummary } from '#shared/contract/exports.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { hostKind } from '../../../lib/transports.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { CopyButton } from '../../../ui/Feedback.tsx';
import { downloadPath } from './request.ts';
import { Tally } from './Tally.tsx';

/** What was written, where it lies, and what was left out. */
export function ExportDone({ summary, folder, onAgain, onClose }: { summary: ExportSummary; folder: string | null; onAgain: () => void; onClose: () => void }): ReactNode {
  const { t } = useTranslation('library');
  const app = useTranslation('app').t;
  const format = useFormat();
  const nothing = summary.file === '';
  const lines = summary.groups ? summary.groups.written : summary.written;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t(nothing ? 'export.nothingDoneTitle' : 'export.doneTitle')}
      footer={
        <>
          <Button onClick={onAgain}>{t('export.another')}</Button>
          <Button variant="primary" onClick={onClose}>{app('action.close')}</Button>
        </>
      }
    >
      <div className="grid gap-4">
        {nothing ? (
          <p role="status">{t('export.nothingDone')}</p>
        ) : (
          <>
            <p role="status" className="flex items-center gap-2">
              <CircleCheck className="size-4 shrink-0 text-good" aria-hidden="true" />
              {t(summary.groups ? 'export.groups.doneText' : 'export.doneText', { count: lines, shown: format.exact(lines), size: format.bytes(summary.bytes), time: format.duration(summary.durationMs) })}
            </p>
            {[summary.file, ...summary.companions].map((file) => (
              <FileLine key={file} file={file} folder={folder} />
            ))}
          </>
        )}
        <Tally summary={summary} onLeave={onClose} />
      </div>
    </Dialog>
  );
}

function FileLine({ file, folder }: { file: string; folder: string | null }): ReactNode {
  const { t } = useTranslation('library');
  const link = hostKind(document) === 'browser' && folder !== null ? downloadPath(file, folder) : null;
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-m border border-line bg-code px-2.5 py-1.5">
      <code className="min-w-0 flex-1 font-mono text-xs wrap-anywhere">{file}</code>
      <CopyButton text={() => file} label={t('export.copyPath')} />
      {link && (
        <a href={link} download className="inline-flex h-[26px] items-center gap-1.5 rounded-m border border-line-strong bg-raised px-2.5 text-sm font-medium hover:bg-hover">
          <Download className="size-3.5" aria-hidden="true" />
          {t('export.download')}
        </a>
      )}
    </div>
  );
}
