import { useState, type ReactNode } from 'react';
import { cx } from '../../lib/cx.ts';
import { Input, NumberInput } from '../../ui/Input.tsx';

const WIDTHS = { text: 'w-80 max-w-full', digits: 'w-24', amount: 'w-28' };

/**
 * A field of the settings that saves when one leaves it or presses Enter; Esc takes the typing back.
 * @param props.kind `digits`: nothing else can be typed, and an empty field is not saved; `amount`: a number of US dollars, as typed
 */
export function SavedText({ label, value, onSave, placeholder, kind = 'text', width = WIDTHS[kind] }: {
  label: string;
  value: string;
  onSave: (text: string) => void;
  placeholder?: string;
  kind?: keyof typeof WIDTHS;
  width?: string;
}): ReactNode {
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? value;
  const save = (): void => {
    setTyped(null);
    const wanted = text.trim();
    if (wanted !== value && (kind !== 'digits' || wanted !== '')) onSave(wanted);
  };
  const shared = {
    'aria-label': label,
    value: text,
    placeholder,
    onBlur: save,
    onKeyDown: (e: { key: string }) => {
      if (e.key === 'Enter') save();
      if (e.key === 'Escape') setTyped(null);
    },
  };
  const typing = (e: { target: { value: string } }): void => setTyped(e.target.value);
  return (
    <span className={cx('flex items-center gap-1.5 text-sm text-fg-3', width)}>
      {kind === 'amount' && '$'}
      {kind === 'digits' ? <NumberInput {...shared} onChange={setTyped} className="text-right" /> : kind === 'amount' ? <Input {...shared} inputMode="decimal" className="num text-right" onChange={typing} /> : <Input {...shared} mono onChange={typing} />}
    </span>
  );
}
