import { FileUp, X } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { MAX_TRIAL_PROMPTS } from '#shared/contract/trials.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Field } from '../../../ui/Field.tsx';
import { uploadFile } from '../../batch/new-run/upload.ts';
import { promptsOf, type TrialForm } from './form.ts';
import { RowExtras } from './RowExtras.tsx';

/** The prompts of a trial: typed, one a line, or the first rows of a dataset file. */
export function PromptField({ form, onChange, error }: { form: TrialForm; onChange: (change: Partial<TrialForm>) => void; error: string | null }): ReactNode {
  const { t } = useTranslation('skillTrial');
  const f = useFormat();
  const client = useClient();
  const errorText = useErrorText();
  const picker = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const take = async (file: File): Promise<void> => {
    setBusy(true);
    setFailed(null);
    try {
      const path = await uploadFile(client.datasets, file, () => undefined, new AbortController().signal);
      const { prompts, rows, suggestedScoring } = await client.trials.prompts({ path });
      onChange({ file: { name: file.name, prompts, rows }, ...(form.scoring.trim() === '' ? { scoring: suggestedScoring.join('\n') } : {}) });
    } catch (thrown) {
      setFailed(thrown);
    } finally {
      setBusy(false);
    }
  };
  const count = promptsOf(form).length;
  const shown = failed ? errorText(failed) : error;
  return (
    <div className="grid min-w-0 gap-1.5">
      {form.file ? (
        <div className="grid min-w-0 gap-1">
          <span className="text-sm font-medium text-fg-2">{t('prompts.label')}</span>
          <div className="min-w-0 rounded-m border border-line bg-bg">
            <p className="flex items-center gap-2 border-b border-line py-1 pr-1 pl-2.5 text-sm">
              <span className="min-w-0 flex-1 truncate">{t('prompts.fromFile', { count: form.file.prompts.length, shown: f.exact(form.file.prompts.length), rows: f.exact(form.file.rows), name: form.file.name })}</span>
              <Button variant="ghost" icon={X} onClick={() => onChange({ file: null })}>{t('prompts.typeInstead')}</Button>
            </p>
            <ol className="max-h-28 overflow-y-auto px-2.5 py-1 text-sm text-fg-2" tabIndex={0} aria-label={t('prompts.label')}>
              {form.file.prompts.map(({ prompt, row }, i) => (
                <li key={i} className="flex items-baseline gap-2">
                  <span className="min-w-0 flex-1 truncate">{prompt}</span>
                  <RowExtras row={row} />
                </li>
              ))}
            </ol>
          </div>
          {shown && <p role="alert" className="text-xs text-bad">{shown}</p>}
        </div>
      ) : (
        <Field label={t('prompts.label')} error={shown} hint={t('prompts.hint', { most: MAX_TRIAL_PROMPTS })} aside={count > 0 ? t('prompts.count', { count, shown: f.exact(count) }) : undefined}>
          {(props) => (
            <textarea
              {...props}
              rows={5}
              spellCheck={false}
              value={form.text}
              placeholder={t('prompts.placeholder')}
              onChange={(e) => onChange({ text: e.target.value })}
              className="w-full min-w-0 resize-y rounded-m border border-line-strong bg-raised px-2 py-1.5 text-sm text-fg aria-invalid:border-bad"
            />
          )}
        </Field>
      )}
      {!form.file && (
        <div>
          <Button icon={FileUp} busy={busy} onClick={() => picker.current?.click()}>{t('prompts.pick')}</Button>
        </div>
      )}
      <input
        ref={picker}
        type="file"
        data-pick="prompts"
        accept=".jsonl,.ndjson,.json,.csv,.tsv,.parquet,.gz,.zst"
        tabIndex={-1}
        aria-hidden="true"
        className="hidden"
        onChange={(e) => {
          const file = e.target.files?.[0];
          e.target.value = '';
          if (file) void take(file);
        }}
      />
    </div>
  );
}
