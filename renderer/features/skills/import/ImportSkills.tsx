import { CircleCheck, Undo2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { FoundSkill, ImportReport, ImportResult } from '#shared/contract/skill-imports.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { navigate } from '../../../lib/hash-location.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Banner, Progress } from '../../../ui/Feedback.tsx';
import { skillPath } from '../address.ts';
import { DiffDialog } from '../dialogs/DiffDialog.tsx';
import { type Choice, chosen, inOrder, problemOf, suggestedChoice } from './choices.ts';
import { FoundRow } from './FoundRow.tsx';
import { SourceForm } from './SourceForm.tsx';
import { type ImportFlow, useImport, type Working } from './use-import.ts';

/** Brings skills in from elsewhere: where from, what is in it and what the guard says, what shall be taken, what was. */
export function ImportSkills({ onClose }: { onClose: () => void }): ReactNode {
  const { t } = useTranslation(['skillImport', 'app']);
  const flow = useImport();
  const { step } = flow;
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const [compared, setCompared] = useState<FoundSkill | null>(null);
  const report = step.kind === 'report' ? step.report : null;
  const wanted = report ? chosen(report.items, choices) : [];
  const open = report?.items.filter((found) => problemOf(found, choices.get(found.key) ?? suggestedChoice(found)) !== null).length ?? 0;
  const footer =
    step.kind === 'working' ? (
      <Button onClick={flow.cancel} disabled={step.work.stage === 'importing' || step.work.stage === 'undoing'}>{t('app:action.cancel')}</Button>
    ) : step.kind === 'report' ? (
      <>
        <Button
          onClick={() => {
            setChoices(new Map());
            flow.again();
          }}
        >
          {t('report.back')}
        </Button>
        <Button variant="primary" disabled={wanted.length === 0 || open > 0} title={open > 0 ? t('report.open', { count: open }) : undefined} onClick={() => flow.take(wanted)}>
          {t('report.import', { count: wanted.length })}
        </Button>
      </>
    ) : step.kind === 'done' ? (
      <DoneButtons step={step} flow={flow} onClose={onClose} />
    ) : (
      <Button onClick={onClose}>{t('app:action.close')}</Button>
    );
  return (
    <>
      <Dialog open onClose={onClose} title={t('title')} description={step.kind === 'source' ? t('text') : undefined} width="lg" footer={footer}>
        {step.kind === 'source' && <SourceForm error={step.error} onLook={flow.look} />}
        {step.kind === 'working' && <WorkingView work={step.work} />}
        {step.kind === 'report' && <ReportView report={step.report} error={step.error} choices={choices} onChoice={(key, choice) => setChoices(new Map(choices).set(key, choice))} onCompare={setCompared} />}
        {step.kind === 'done' && <Done report={step.report} results={step.results} undone={step.undone} error={step.error} />}
      </Dialog>
      {compared && report && <Compare report={report} found={compared} onClose={() => setCompared(null)} />}
    </>
  );
}

function WorkingView({ work }: { work: Working }): ReactNode {
  const { t } = useTranslation('skillImport');
  const f = useFormat();
  const known = work.total > 0;
  const counted = known && (work.stage === 'checking' || work.stage === 'uploading');
  return (
    <div role="status" className="grid min-h-[300px] content-center gap-2 px-10">
      <p className="num flex justify-between gap-4 text-sm">
        <span>{t(`working.${work.stage}`)}</span>
        {counted && work.total < 100_000 && <span className="text-fg-3">{f.exact(work.done)} / {f.exact(work.total)}</span>}
      </p>
      <Progress value={known && work.stage !== 'importing' && work.stage !== 'undoing' ? work.done / work.total : null} label={t(`working.${work.stage}`)} />
      <p className="h-4 truncate font-mono text-xs text-fg-3">{work.text}</p>
    </div>
  );
}

function ReportView({ report, error, choices, onChoice, onCompare }: {
  report: ImportReport; error: unknown; choices: ReadonlyMap<string, Choice>; onChoice: (key: string, choice: Choice) => void; onCompare: (found: FoundSkill) => void;
}): ReactNode {
  const { t } = useTranslation('skillImport');
  const errorText = useErrorText();
  const f = useFormat();
  const count = (of: (found: FoundSkill) => boolean): number => report.items.filter(of).length;
  const facts = [
    ['new', count((s) => s.state === 'new' && s.refused === null)],
    ['differs', count((s) => s.state === 'differs' && s.refused === null)],
    ['same', count((s) => s.state === 'same' && s.refused === null)],
    ['refused', count((s) => s.refused !== null)],
  ] as const;
  return (
    <div className="grid gap-3">
      {error !== null && <Banner tone="bad" live title={errorText(error)} />}
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1 text-sm">
        <p className="min-w-0 truncate font-mono text-xs text-fg-2" title={report.source}>{report.source}</p>
        <p className="num text-fg-2">{facts.flatMap(([name, n]) => (n > 0 ? [t(`report.${name}`, { count: n, shown: f.exact(n) })] : [])).join(' · ')}</p>
      </div>
      <ul aria-label={t('report.list')} className="rounded-m border border-line bg-bg">
        {inOrder(report.items).map((found) => (
          <FoundRow key={found.key} found={found} choice={choices.get(found.key) ?? suggestedChoice(found)} onChange={(choice) => onChoice(found.key, choice)} onCompare={() => onCompare(found)} />
        ))}
      </ul>
      {report.problems.length > 0 && (
        <details className="text-sm text-fg-2">
          <summary className="w-fit rounded-s hover:text-fg">{t('report.problems', { count: report.problems.length, shown: f.exact(report.problems.length) })}</summary>
          <ul className="mt-1 grid gap-0.5 pl-4 text-xs">
            {report.problems.map(({ path, message }, i) => (
              <li key={`${path} ${i}`} className="wrap-anywhere">{message}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Compare({ report, found, onClose }: { report: ImportReport; found: FoundSkill; onClose: () => void }): ReactNode {
  const { t } = useTranslation('skillImport');
  const { data } = useLoad((client, signal) => client.skillImports.diff({ id: report.id, key: found.key }, { signal }), [report.id, found.key]);
  return <DiffDialog title={found.name} files={data?.files ?? null} labels={[t('compare.here'), t('compare.import')]} onClose={onClose} />;
}

function Done({ report, results, undone, error }: { report: ImportReport; results: readonly ImportResult[]; undone: boolean; error: unknown }): ReactNode {
  const { t } = useTranslation('skillImport');
  const errorText = useErrorText();
  const f = useFormat();
  const nameOf = (key: string): string => report.items.find((found) => found.key === key)?.name ?? key;
  const count = (outcome: ImportResult['outcome']): number => results.filter((result) => result.outcome === outcome).length;
  const failed = results.filter((result) => result.outcome === 'failed');
  const said = (['added', 'replaced', 'same'] as const).flatMap((outcome) => (count(outcome) > 0 ? [t(`done.${outcome}`, { count: count(outcome), shown: f.exact(count(outcome)) })] : []));
  return (
    <div className="grid min-h-[140px] content-start gap-3">
      {error !== null && <Banner tone="bad" live title={errorText(error)} />}
      <p role="status" className="flex items-center gap-2">
        {undone ? <Undo2 className="size-4 shrink-0 text-fg-3" aria-hidden="true" /> : said.length > 0 && <CircleCheck className="size-4 shrink-0 text-good" aria-hidden="true" />}
        {undone ? t('done.undone') : said.length > 0 ? said.join(' · ') : t('done.nothing')}
      </p>
      {!undone && results.some(({ id }) => id !== null) && (
        <ul className="flex flex-wrap gap-1.5">
          {results.flatMap(({ id }) => (id === null ? [] : [<li key={id}><a href={`#${skillPath(id)}`} className="inline-flex h-6 items-center rounded-m border border-line px-2 font-mono text-xs hover:bg-hover">{id.replace(/^own\//, '')}</a></li>]))}
        </ul>
      )}
      {failed.length > 0 && (
        <Banner tone="warn" title={t('done.failed', { count: failed.length, shown: f.exact(failed.length) })}>
          <ul className="grid gap-0.5">
            {failed.map((result) => (
              <li key={result.key}>
                <span className="font-mono">{nameOf(result.key)}</span>: {result.error}
              </li>
            ))}
          </ul>
        </Banner>
      )}
    </div>
  );
}

function DoneButtons({ step, flow, onClose }: { step: Extract<ImportFlow['step'], { kind: 'done' }>; flow: ImportFlow; onClose: () => void }): ReactNode {
  const { t } = useTranslation(['skillImport', 'app']);
  const one = step.results.filter(({ id }) => id !== null);
  const canUndo = !step.undone && step.results.some(({ versionId }) => versionId !== null);
  return (
    <>
      <Button onClick={flow.again}>{t('done.another')}</Button>
      {canUndo && <Button icon={Undo2} onClick={flow.undo}>{t('app:action.undo')}</Button>}
      <Button
        variant="primary"
        onClick={() => {
          onClose();
          if (!step.undone && one.length === 1 && one[0]?.id) navigate(skillPath(one[0].id));
        }}
      >
        {t(!step.undone && one.length === 1 ? 'done.show' : 'app:action.close')}
      </Button>
    </>
  );
}
