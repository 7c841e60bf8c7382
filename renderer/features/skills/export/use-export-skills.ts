import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { hostKind } from '../../../lib/transports.ts';
import { useToasts } from '../../../ui/Toasts.tsx';
import { downloadPath } from '../../library/export/request.ts';

/** Writes skills into a zip file of the exports folder, says where it lies, and in a browser lets it be downloaded too. */
export function useExportSkills(): { exportSkills: (ids: readonly string[]) => Promise<void>; busy: boolean } {
  const { t } = useTranslation('skillImport');
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const f = useFormat();
  const [busy, setBusy] = useState(false);
  const exportSkills = useCallback(
    async (ids: readonly string[]): Promise<void> => {
      setBusy(true);
      try {
        const done = await client.skillImports.export({ ids: [...ids] });
        const { path: folder } = await client.exports.folder();
        const link = hostKind(document) === 'browser' ? downloadPath(done.file, folder) : null;
        const left = done.leftOut[0];
        toast({
          title: t('export.done', { count: done.skills, shown: f.exact(done.skills), size: f.bytes(done.bytes) }),
          description: left ? `${done.file} · ${t('export.leftOut', { count: done.leftOut.length, shown: f.exact(done.leftOut.length) })} ${left.message}` : done.file,
          kind: left ? 'info' : 'good',
          action: link === null ? { label: t('export.copyPath'), run: () => void navigator.clipboard.writeText(done.file) } : { label: t('export.download'), run: () => download(link) },
        });
      } catch (error) {
        toast({ title: t('export.failed'), description: errorText(error), kind: 'bad' });
      } finally {
        setBusy(false);
      }
    },
    [client, toast, t, errorText, f],
  );
  return { exportSkills, busy };
}

function download(link: string): void {
  const a = document.createElement('a');
  a.href = link;
  a.download = '';
  a.click();
}
