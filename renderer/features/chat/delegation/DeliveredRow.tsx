import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { StoredMessage } from '#shared/trajectory.ts';
import { useFold } from '../../library/view/context.tsx';
import { FoldLine } from '../../library/view/TurnBlock.tsx';
import { ChildRow } from './ChildRow.tsx';
import { useDelegations } from './delegations.tsx';

const SHOWN_CHARS = 20_000;

/** The results of sub-agents in the background, as they came to the model: a line that unfolds to those they are from. */
export function DeliveredRow({ message }: { message: StoredMessage }): ReactNode {
  const { t } = useTranslation(['tasks', 'chat']);
  const [open, toggle] = useFold(`${message.seq}:note`, false);
  const named = new Set(message.content.slice(0, SHOWN_CHARS).match(/\(delegation [\w-]{1,64}\)/g)?.map((text) => text.slice('(delegation '.length, -1)));
  const children = useDelegations().filter(({ id }) => named.has(id)).flatMap((delegation) => delegation.children);
  return (
    <div className="border-l-2 border-dashed border-line-strong pl-2.5">
      <FoldLine open={open} onToggle={toggle}>{children.length > 0 ? t('agents.goTo', { count: children.length }) : t('chat:conversation.note.delegation')}</FoldLine>
      {open && (children.length > 0 ? (
        <ul className="-ml-2.5 py-1">
          {children.map((child) => <ChildRow key={child.id} child={child}>{null}</ChildRow>)}
        </ul>
      ) : (
        <div className="pb-1 text-sm wrap-anywhere whitespace-pre-wrap text-fg-2">{message.content.slice(0, SHOWN_CHARS)}</div>
      ))}
    </div>
  );
}
