import { Plus, X } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { FILTER_KINDS } from '#shared/filters.ts';
import { SCORE_KINDS } from '#shared/scoring.ts';
import { expressionFault } from '#shared/run-values.ts';
import { Button } from '../../../ui/Button.tsx';
import { Field } from '../../../ui/Field.tsx';
import { SuggestInput } from '../../../ui/Select.tsx';

const KINDS = { filters: FILTER_KINDS, scoring: SCORE_KINDS } as const;
/** Kinds that say nothing without an argument, with an example of one. */
const EXAMPLES: Readonly<Record<string, string>> = { too_short: 'too_short:200', regex: 'regex:/answer/', tests: 'tests' };

/** Filters or scoring rules as chips, and a field for more that says at once when an expression cannot be read. */
export function ExpressionList({
  name,
  items,
  onChange,
  error,
  suggestions = [],
}: {
  name: 'filters' | 'scoring';
  items: readonly string[];
  onChange: (items: string[]) => void;
  error: string | null;
  /** Offered below as one press each. */
  suggestions?: readonly string[];
}): ReactNode {
  const { t } = useTranslation('batch');
  const [text, setText] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const wanted = text.trim();
  const fault = wanted === '' ? null : items.includes(wanted) ? t('runForm.expr.twice') : expressionFault(name, wanted);
  // Half a word that may still become a filter is no mistake yet.
  const begun = KINDS[name].some((kind) => kind.startsWith(wanted) || (EXAMPLES[kind] ?? kind).startsWith(wanted));
  const add = (expression: string): void => {
    if (expression === '' || items.includes(expression) || expressionFault(name, expression) !== null) return;
    onChange([...items, expression]);
    setText('');
    toField();
  };
  // the field is a new one then, so that its list is closed
  const toField = (): void => void requestAnimationFrame(() => box.current?.querySelector('input')?.focus());
  const remove = (at: number): void => {
    onChange(items.filter((_, i) => i !== at));
    // the focus stays in the list, or goes to the field when it is empty
    requestAnimationFrame(() => {
      const buttons = box.current?.querySelectorAll<HTMLElement>('ul button');
      (buttons?.[Math.min(at, buttons.length - 1)] ?? box.current?.querySelector('input'))?.focus();
    });
  };
  const offered = suggestions.filter((one) => !items.includes(one));
  return (
    <Field label={t(`runForm.label.${name}`)} error={error ?? (begun ? null : fault)}>
      {(props) => (
        <div ref={box} className="grid gap-1.5">
          <ul aria-label={t(`runForm.label.${name}`)} className="flex min-h-6 flex-wrap items-center gap-1">
            {items.map((item, at) => (
              <li key={item} className="flex max-w-full min-w-0 items-center rounded-m border border-line bg-sunken pl-2">
                <code className="truncate font-mono text-xs" title={item}>
                  {item}
                </code>
                <button
                  type="button"
                  aria-label={t('runForm.expr.remove', { text: item })}
                  onClick={() => remove(at)}
                  onKeyDown={(e) => (e.key === 'Delete' || e.key === 'Backspace') && remove(at)}
                  className="grid size-6 shrink-0 place-items-center rounded-m text-fg-3 hover:text-fg"
                >
                  <X className="size-3" aria-hidden="true" />
                </button>
              </li>
            ))}
            {items.length === 0 && <li className="text-xs text-fg-3">{t(name === 'filters' ? 'runForm.expr.noFilters' : 'runForm.expr.noScores')}</li>}
          </ul>
          <form
            className="flex gap-1.5"
            onSubmit={(e) => {
              e.preventDefault();
              add(wanted);
            }}
          >
            <div className="min-w-0 flex-1">
              <SuggestInput
                key={items.length}
                {...props}
                value={text}
                suggestions={KINDS[name].map((kind) => EXAMPLES[kind] ?? kind).filter((kind) => !items.includes(kind))}
                placeholder={t(name === 'filters' ? 'runForm.expr.filterPlaceholder' : 'runForm.expr.scorePlaceholder')}
                onChange={setText}
              />
            </div>
            <Button type="submit" icon={Plus} className="h-7!" disabled={wanted === '' || fault !== null}>
              {t('runForm.expr.add')}
            </Button>
          </form>
          {offered.length > 0 && (
            <p className="flex flex-wrap items-center gap-1 text-xs text-fg-3">
              {t('runForm.expr.suggest')}
              {offered.map((one) => (
                <button key={one} type="button" onClick={() => add(one)} className="rounded-m border border-dashed border-line-strong px-1.5 py-0.5 font-mono text-fg-2 hover:bg-hover hover:text-fg">
                  + {one}
                </button>
              ))}
            </p>
          )}
        </div>
      )}
    </Field>
  );
}
