import { CircleCheck, CircleDashed, CircleSlash, LoaderCircle, Square, Terminal } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSettings, SessionState, Todo } from '#shared/contract/chats.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { useNow } from '../../batch/use-run.ts';
import { PlainIconButton } from '../../library/view/PlainIconButton.tsx';
import { SessionForm } from '../composer/SessionForm.tsx';
import { useRunningAgents } from '../delegation/RunningAgents.tsx';
import { ContextMeter } from './ContextMeter.tsx';
import { SpendLines } from './SpendLines.tsx';

/** What goes on beside the talk: the agent's list, context, money, processes, and how this chat is set. */
export function SidePanel({ state, onConfigure, onCompress, onRollback, onKill }: { state: SessionState; onConfigure: (change: Partial<SessionSettings>) => Promise<void>; onCompress: () => void; onRollback: () => void; onKill: (processId: string) => void }): ReactNode {
  const { t } = useTranslation(['chat', 'tasks']);
  const format = useFormat();
  const agents = useRunningAgents();
  const now = useNow(state.processes.some((p) => p.running));
  return (
    <aside aria-label={t('side.label')} tabIndex={0} className="focus-inset h-full overflow-y-auto px-3.5 py-3">
      {agents && <Section title={t('tasks:agents.side')}>{agents}</Section>}
      {state.todos.length > 0 && <Section title={t('side.todos')}><Todos todos={state.todos} /></Section>}
      <Section title={t('side.context')}>
        {state.context ? <ContextMeter meter={state.context} compressing={state.compressing} onCompress={onCompress} /> : <p className="text-sm text-fg-3">{t('side.contextNone')}</p>}
      </Section>
      <Section title={t('side.spend')}>
        <SpendLines lines={state.spend} />
        {state.tokensPerSecond !== null && <p className="num mt-1 text-xs text-fg-3">{t('side.rate', { shown: format.compact(Math.round(state.tokensPerSecond)) })}</p>}
      </Section>
      {state.processes.length > 0 && (
        <Section title={t('side.processes')}>
          <ul className="grid gap-1.5">
            {state.processes.map((p) => (
              <li key={p.id} className="flex min-w-0 items-center gap-2 text-sm">
                <Terminal className={cx('size-3.5 shrink-0', p.running ? 'text-accent' : 'text-fg-3')} aria-hidden="true" />
                <code className="min-w-0 flex-1 truncate font-mono text-xs" title={p.command}>{p.command}</code>
                <span className="num shrink-0 text-xs text-fg-3">{p.running ? format.duration(Math.max(1000, now - p.startedAt)) : p.exitCode === null ? t('side.ended') : t('side.exit', { code: p.exitCode })}</span>
                {p.running && <PlainIconButton icon={Square} label={t('side.kill', { command: p.command.slice(0, 60) })} className="-my-1 -mr-1" onClick={() => onKill(p.id)} />}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title={t('side.checkpoints')}>
        {state.checkpoints > 0 ? (
          <Button onClick={onRollback}>{t('side.checkpointCount', { count: state.checkpoints })}</Button>
        ) : (
          <p className="text-sm text-fg-3">{state.checkpointsOff ?? t('side.noCheckpoints')}</p>
        )}
      </Section>
      <Section title={t('side.session')}>
        <SessionForm settings={state.settings} onChange={onConfigure} />
      </Section>
    </aside>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className="mb-5">
      <h2 className="mb-1.5 text-xs font-semibold text-fg-3">{title}</h2>
      {children}
    </section>
  );
}

const TODO_ICONS = { pending: CircleDashed, in_progress: LoaderCircle, completed: CircleCheck, cancelled: CircleSlash };
const TODO_TONES = { pending: 'text-fg-3', in_progress: 'text-accent', completed: 'text-good', cancelled: 'text-fg-3' };

function Todos({ todos }: { todos: readonly Todo[] }): ReactNode {
  const { t } = useTranslation('chat');
  return (
    <ul className="grid gap-1">
      {todos.map((todo) => {
        const Icon = TODO_ICONS[todo.status];
        return (
          <li key={todo.id} className="flex gap-2 text-sm">
            <Icon role="img" aria-label={t(`todo.${todo.status}`)} className={cx('mt-0.5 size-3.5 shrink-0', TODO_TONES[todo.status])} />
            <span className={cx('min-w-0 break-words', todo.status === 'cancelled' && 'text-fg-3 line-through', todo.status === 'completed' && 'text-fg-2')}>{todo.content}</span>
          </li>
        );
      })}
    </ul>
  );
}
