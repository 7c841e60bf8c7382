import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { createStore } from 'zustand/vanilla';
import { cx } from '../../../lib/cx.ts';
import { useClient, useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { DiffView } from '../../library/results/DiffView.tsx';
import { ViewProvider, type ViewContextValue } from '../../library/view/context.tsx';
import { createFolds } from '../../library/view/folds.ts';

/** /rollback: the files as they were before a change, what going back would do, and the way back from that. */
export function RollbackDialog({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const { t } = useTranslation(['chat', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const format = useFormat();
  const list = useLoad((c, signal) => c.chats.checkpoints({ id }, { signal }), [id]);
  const [chosen, setChosen] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const items = list.data?.items ?? [];
  const current = items.find((c) => c.id === chosen) ?? items[0] ?? null;
  const failed = (error: unknown): void => {
    setBusy(false);
    toast({ title: errorText(error), kind: 'bad' });
  };
  const goBack = (checkpointId: string, undoing = false): void => {
    setBusy(true);
    client.chats.rollback({ id, checkpointId }).then(({ undoId, files }) => {
      toast({
        title: t(undoing ? 'rollback.undone' : 'rollback.done', { count: files, shown: format.exact(files) }),
        kind: 'good',
        ...(undoing ? {} : { action: { label: t('app:action.undo'), run: () => goBack(undoId, true) } }),
      });
      onClose();
    }, failed);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('rollback.title')}
      description={t('rollback.text')}
      width="lg"
      footer={
        <>
          <Button onClick={onClose}>{t('app:action.cancel')}</Button>
          <Button variant="primary" disabled={!current} busy={busy} onClick={() => current && goBack(current.id)}>{t('rollback.button')}</Button>
        </>
      }
    >
      {list.error ? (
        <ErrorState error={list.error} onRetry={list.reload} />
      ) : !list.data ? (
        <Skeleton className="h-64" />
      ) : items.length === 0 ? (
        <p className="py-8 text-center text-fg-3">{t('side.noCheckpoints')}</p>
      ) : (
        <div className="grid min-h-72 gap-4 sm:grid-cols-[240px_minmax(0,1fr)]">
          <div role="radiogroup" aria-label={t('rollback.list')} className="max-h-[55vh] overflow-y-auto">
            {items.map((c) => (
              <label key={c.id} className={cx('grid cursor-default rounded-m px-2 py-1.5 text-sm has-focus-visible:outline-2 has-focus-visible:outline-accent', c.id === current?.id ? 'bg-hover' : 'hover:bg-hover')}>
                <input type="radio" name="checkpoint" className="sr-only" checked={c.id === current?.id} onChange={() => setChosen(c.id)} />
                <span className="truncate" title={c.reason}>{c.reason}</span>
                <span className="num text-xs text-fg-3" title={format.dateTime(c.createdAt)}>{format.ago(c.createdAt)} · {t('rollback.files', { count: c.files, shown: format.exact(c.files) })}</span>
              </label>
            ))}
          </div>
          {current && <Change key={current.id} id={id} checkpointId={current.id} />}
        </div>
      )}
    </Dialog>
  );
}

function Change({ id, checkpointId }: { id: string; checkpointId: string }): ReactNode {
  const { t } = useTranslation('chat');
  const diff = useLoad((c, signal) => c.chats.checkpointDiff({ id, checkpointId }, { signal }), [id, checkpointId]);
  // A diff folds as it does in a trajectory; here there are no calls and no cut contents.
  const [view] = useState<ViewContextValue>(() => ({ folds: createFolds(null), loadContent: () => Promise.resolve(''), live: createStore(() => ({ runs: new Map() })) }));
  if (diff.error) return <ErrorState error={diff.error} onRetry={diff.reload} />;
  if (!diff.data) return <Skeleton className="h-64" />;
  const { files, diff: text, truncated } = diff.data;
  if (files.length === 0) return <p className="text-fg-3">{t('rollback.nothing')}</p>;
  return (
    <div className="min-w-0">
      <ul className="mb-2 grid gap-0.5">
        {files.map((f) => (
          <li key={f.path} className="flex gap-2 text-sm"><span className="w-20 shrink-0 text-fg-3">{t(`rollback.change.${f.change}`)}</span><code className="min-w-0 truncate font-mono text-xs" title={f.path}>{f.path}</code></li>
        ))}
      </ul>
      <div className="max-h-[45vh] overflow-y-auto rounded-m border border-line">
        <ViewProvider value={view}><DiffView text={text} part="rollback" label={t('rollback.diff')} /></ViewProvider>
      </div>
      {truncated && <p className="mt-1 text-xs text-fg-3">{t('rollback.truncated')}</p>}
    </div>
  );
}
