import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Price } from '#shared/contract/spend.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { amountText, parseAmount } from './amount.ts';

const PARTS = ['input', 'cached', 'output'] as const;

/** The price of a model, or of all that begin alike. */
export function PriceDialog({ initial, onClose, onSaved }: { initial: { model: string; price: Price | null; known: boolean }; onClose: () => void; onSaved: () => void }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const client = useClient();
  const errorText = useErrorText();
  const [model, setModel] = useState(initial.model);
  const [texts, setTexts] = useState({ input: amountText(initial.price?.input), cached: amountText(initial.price?.cached), output: amountText(initial.price?.output) });
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const amounts = { input: parseAmount(texts.input), cached: parseAmount(texts.cached), output: parseAmount(texts.output) };
  const problem = (part: (typeof PARTS)[number]): string | null => {
    if (amounts[part] === undefined || (amounts[part] === null && part !== 'cached')) return t('spend.wrongAmount');
    return null;
  };
  const save = (): void => {
    setTried(true);
    const { input, cached, output } = amounts;
    if (model.trim() === '' || typeof input !== 'number' || typeof output !== 'number' || cached === undefined) return;
    setBusy(true);
    client.spend.setPrice({ model: model.trim(), price: { input, output, ...(cached === null ? {} : { cached }) } }).then(
      () => {
        onSaved();
        onClose();
      },
      (error: unknown) => {
        setFailed(errorText(error));
        setBusy(false);
      },
    );
  };
  return (
    <Dialog
      open
      onClose={onClose}
      width="sm"
      title={t(initial.known ? 'spend.editTitle' : 'spend.addPrice')}
      description={t('spend.perMillion')}
      footer={
        <>
          <Button onClick={onClose}>{t('app:action.cancel')}</Button>
          <Button variant="primary" hotkey="mod+enter" busy={busy} onClick={save}>{t('app:action.save')}</Button>
        </>
      }
    >
      <div className="grid gap-3">
        <Field label={t('spend.column.model')} hint={t('spend.modelHint')} error={tried && model.trim() === '' ? t('spend.modelMissing') : null}>
          {(props) => <Input {...props} mono value={model} disabled={initial.known} onChange={(e) => setModel(e.target.value)} />}
        </Field>
        <div className="grid grid-cols-3 gap-3">
          {PARTS.map((part) => (
            <Field key={part} label={t(`spend.column.${part}`)} error={tried ? problem(part) : null}>
              {(props) => (
                <Input
                  {...props}
                  inputMode="decimal"
                  className="num"
                  placeholder={part === 'cached' ? t('spend.asInput') : ''}
                  value={texts[part]}
                  onChange={(e) => setTexts({ ...texts, [part]: e.target.value })}
                  onKeyDown={(e) => e.key === 'Enter' && save()}
                />
              )}
            </Field>
          ))}
        </div>
        {failed && <p role="alert" className="text-sm text-bad">{failed}</p>}
      </div>
    </Dialog>
  );
}
