import { ClipboardCopy, FileDown, FileText, FileUp } from 'lucide-react';
import { useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSpec } from '#shared/contract/runs.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { Button } from '../../../ui/Button.tsx';
import { Menu } from '../../../ui/Menu.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { draftOfValues, type RunDraft } from './draft.ts';

const MAX_CHARS = 1024 * 1024;

/** The form as a run file and back: what the command line takes as `--run_file`. */
export function RunFileMenu({ spec, onLoad }: { spec: RunSpec | null; onLoad: (draft: RunDraft) => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const picker = useRef<HTMLInputElement>(null);
  const fail = (error: unknown): string => toast({ title: t('runForm.file.failed'), description: errorText(error), kind: 'bad' });
  const save = (): void => {
    if (!spec) return;
    client.plans.runFile({ spec }).then(({ text }) => {
      offerFile(`${spec.runName}.yaml`, text);
      toast({ title: t('runForm.file.saved'), kind: 'good', timeout: 2_000 });
    }, fail);
  };
  const copy = (): void => {
    if (!spec) return;
    client.plans
      .runFile({ spec })
      .then(({ text }) => navigator.clipboard.writeText(text))
      .then(() => toast({ title: t('runForm.file.copied'), kind: 'good', timeout: 2_000 }), fail);
  };
  const load = async (file: File): Promise<void> => {
    try {
      // one that is too large is read as far as the engine needs to say so
      const text = await file.slice(0, MAX_CHARS).text();
      const { values } = await client.plans.readRunFile({ text, name: file.name.slice(0, 255) });
      onLoad(draftOfValues(values));
      toast({ title: t('runForm.file.loaded', { name: file.name }), kind: 'good', timeout: 2_000 });
    } catch (error) {
      fail(error);
    }
  };
  return (
    <>
      <Menu
        trigger={<Button icon={FileText}>{t('runForm.file.menu')}</Button>}
        items={[
          { id: 'load', label: t('runForm.file.load'), icon: FileUp, run: () => picker.current?.click() },
          null,
          { id: 'save', label: t('runForm.file.save'), icon: FileDown, disabled: spec === null, run: save },
          { id: 'copy', label: t('runForm.file.copy'), icon: ClipboardCopy, disabled: spec === null, run: copy },
        ]}
      />
      <input
        ref={picker}
        type="file"
        accept=".yaml,.yml"
        tabIndex={-1}
        aria-hidden="true"
        className="hidden"
        onChange={(e) => {
          const file = e.target.files?.[0];
          e.target.value = '';
          if (file) void load(file);
        }}
      />
    </>
  );
}

/** Lets the person save a text as a file. */
function offerFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
