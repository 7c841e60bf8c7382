import { ChevronRight } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { FoundSkill } from '#shared/contract/skill-imports.ts';
import type { Finding, Verdict } from '#shared/contract/skills.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Checkbox } from '../../../ui/Checkbox.tsx';
import { Chip, type Tone } from '../../../ui/Chip.tsx';
import { Input } from '../../../ui/Input.tsx';
import { Select } from '../../../ui/Select.tsx';
import { findingText, lintText } from '../notes.ts';
import { actionsFor, type Choice, problemOf } from './choices.ts';

const VERDICT_TONES: Record<Verdict, Tone> = { safe: 'good', caution: 'warn', dangerous: 'bad' };
const SEVERITY_TONES: Record<Finding['severity'], Tone> = { low: 'neutral', medium: 'neutral', high: 'warn', critical: 'bad' };
/** Of one skill on screen; the first are the worst. */
const SHOWN = 30;

/** A found skill: what it is, what the guard says of it, how it stands to what is here, and what shall become of it. */
export function FoundRow({ found, choice, onChange, onCompare }: { found: FoundSkill; choice: Choice; onChange: (choice: Choice) => void; onCompare: () => void }): ReactNode {
  const { t } = useTranslation('skillImport');
  const f = useFormat();
  const notes = found.findings.length + found.lint.length;
  const [open, setOpen] = useState(found.verdict === 'caution' && found.refused === null);
  const problem = problemOf(found, choice);
  const actions = actionsFor(found);
  return (
    <li className="border-b border-line last:border-b-0 [contain-intrinsic-size:auto_56px] [content-visibility:auto]">
      <div className="flex items-start gap-3 px-3 py-2">
        <button type="button" aria-expanded={open} aria-label={t('found.details', { name: found.name })} onClick={() => setOpen(!open)} className="mt-0.5 grid size-5 shrink-0 place-items-center rounded-s text-fg-3 hover:bg-hover hover:text-fg">
          <ChevronRight className={cx('size-3.5 transition-transform', open && 'rotate-90')} aria-hidden="true" />
        </button>
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <span className="font-mono text-sm font-medium">
              {found.category !== null && <span className="font-normal text-fg-3">{found.category}/</span>}
              {found.name || '–'}
            </span>
            <Chip tone={VERDICT_TONES[found.verdict]}>{t(`verdict.${found.verdict}`)}</Chip>
            {found.state !== 'new' && <Chip tone={found.state === 'differs' ? 'info' : 'neutral'}>{t(found.state === 'differs' && found.existing?.edited ? 'state.edited' : `state.${found.state}`)}</Chip>}
            <span className="num text-xs text-fg-3">{t('found.size', { count: found.files, shown: f.exact(found.files), size: f.bytes(found.bytes) })}</span>
          </div>
          <p className={cx('mt-0.5 text-sm', found.refused === null ? 'truncate text-fg-2' : 'text-bad')}>{found.refused === null ? found.description || t('found.noDescription') : f.lang.startsWith('en') ? found.refused : t(found.verdict === 'dangerous' ? 'found.dangerous' : 'found.unusable')}</p>
        </div>
        {found.refused === null ? (
          <Select
            label={t('found.action', { name: found.name })}
            className="w-[118px] shrink-0"
            value={choice.action}
            options={actions.map((value) => ({ value, label: t(`action.${value}`) }))}
            onChange={(action) => {
              onChange({ ...choice, action });
              if (action !== 'skip' && found.verdict === 'caution') setOpen(true);
            }}
          />
        ) : (
          <span className="shrink-0 py-1 text-sm text-fg-3">{t('found.notTaken')}</span>
        )}
      </div>
      {(open || problem !== null || choice.action === 'keep_both') && (
        <div className="grid gap-2 pr-3 pb-3 pl-11">
          {choice.action === 'keep_both' && (
            <label className="flex items-center gap-2 text-sm text-fg-2">
              {t('found.newName')}
              <Input mono className="max-w-64" aria-invalid={problem === 'name' || undefined} value={choice.name} onChange={(e) => onChange({ ...choice, name: e.target.value })} />
              {problem === 'name' && <span role="alert" className="text-xs text-bad">{t('found.badName')}</span>}
            </label>
          )}
          {open && <Notes found={found} />}
          {open && notes === 0 && <p className="text-sm text-fg-3">{t('found.nothing')}</p>}
          <div className="flex flex-wrap items-center gap-3">
            {found.refused === null && found.verdict === 'caution' && choice.action !== 'skip' && <Checkbox checked={choice.acceptCaution} onChange={(acceptCaution) => onChange({ ...choice, acceptCaution })} label={t('found.accept')} />}
            {open && found.refused === null && <Button variant="ghost" className="-ml-2.5" onClick={onCompare}>{t(found.existing === null ? 'found.read' : 'found.compare')}</Button>}
          </div>
        </div>
      )}
    </li>
  );
}

function Notes({ found }: { found: FoundSkill }): ReactNode {
  const { t } = useTranslation('skillImport');
  const { t: ofSkills } = useTranslation('skills');
  const f = useFormat();
  const worst = ['critical', 'high', 'medium', 'low'];
  const findings = found.findings.toSorted((a, b) => worst.indexOf(a.severity) - worst.indexOf(b.severity));
  const lint = found.lint.filter(({ severity }) => severity !== 'hint');
  const hidden = Math.max(0, findings.length - SHOWN);
  return (
    <ul className="grid gap-2">
      {findings.slice(0, SHOWN).map((finding, i) => (
        <li key={i} className="grid gap-1">
          <div className="flex flex-wrap items-baseline gap-x-2">
            <Chip tone={SEVERITY_TONES[finding.severity]}>{t(`severity.${finding.severity}`)}</Chip>
            <span className="min-w-0 text-sm wrap-anywhere">{findingText(finding, ofSkills, f.lang)}</span>
            {finding.file !== '' && <code className="font-mono text-xs text-fg-3">{finding.line === null ? finding.file : `${finding.file}:${finding.line}`}</code>}
          </div>
          {finding.excerpt !== '' && <code className="block rounded-s bg-code px-2 py-1 font-mono text-xs wrap-anywhere whitespace-pre-wrap text-fg-2">{finding.excerpt}</code>}
        </li>
      ))}
      {hidden > 0 && <li className="text-xs text-fg-3">{t('found.more', { count: hidden, shown: f.exact(hidden) })}</li>}
      {lint.map((one, i) => (
        <li key={`lint ${i}`} className="flex flex-wrap items-baseline gap-x-2">
          <Chip tone={one.severity === 'error' ? 'bad' : 'neutral'}>{t(one.severity === 'error' ? 'lint.error' : 'lint.warning')}</Chip>
          <span className="min-w-0 text-sm text-fg-2 wrap-anywhere">{lintText(one, ofSkills, f.lang)}</span>
          <code className="font-mono text-xs text-fg-3">{one.line === null ? 'SKILL.md' : `SKILL.md:${one.line}`}</code>
        </li>
      ))}
    </ul>
  );
}
