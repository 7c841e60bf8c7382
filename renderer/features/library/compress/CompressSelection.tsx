import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { CompressorSource } from '#shared/contract/compressor.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import type { ExportScope } from '../export/ExportDialog.tsx';
import { filterOfSelection, MAX_IDS } from '../export/request.ts';
import { CompressDialog } from './CompressDialog.tsx';

/** Compresses what is selected in the Library; the rows are those that an export of it would write, partial and scripted ones too. */
export function CompressSelection({ scope: { filter, selection, count }, onClose }: { scope: ExportScope; onClose: () => void }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const client = useClient();
  const errorText = useErrorText();
  const [found, setFound] = useState<{ source: CompressorSource | null; tooMany: boolean; error: unknown }>({ source: null, tooMany: false, error: null });
  useEffect(() => {
    const abort = new AbortController();
    filterOfSelection(client.trajectories.list, filter, selection, abort.signal).then(
      (meant) => !abort.signal.aborted && setFound({ source: meant && { kind: 'selection', filter: meant, includePartial: true, includeScripted: true }, tooMany: meant === null, error: null }),
      (error: unknown) => !abort.signal.aborted && setFound({ source: null, tooMany: false, error }),
    );
    return () => abort.abort();
  }, [client, filter, selection]);
  const problem = found.tooMany ? t('export.tooMany', { max: format.exact(MAX_IDS) }) : found.error === null ? null : errorText(found.error);
  return <CompressDialog name={t('compress.selection', { count, shown: format.exact(count) })} source={found.source} problem={problem} onClose={onClose} />;
}
