import { createContext, use, useEffect, type ReactNode } from 'react';
import { ErrorBoundary } from './ErrorBoundary.tsx';

/** How many things wait for the person: stands before the document's title. */
export const TitleMark = createContext(0);

/** One screen: its bar (title at the left, what `bar` gives after it), its content, its document title, its own error boundary. */
export function Screen({
  title,
  crumb,
  documentTitle,
  bar,
  children,
}: {
  /** Plain text or nodes; `documentTitle` is needed when it is not plain. */
  title: ReactNode;
  /** Where this screen lies, before the title ("Batch /"). */
  crumb?: ReactNode;
  documentTitle?: string;
  bar?: ReactNode;
  children: ReactNode;
}): ReactNode {
  const name = documentTitle ?? (typeof title === 'string' ? title : '');
  const waiting = use(TitleMark);
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${name ? `${name} · Talaria` : 'Talaria'}`;
  }, [name, waiting]);
  return (
    <main tabIndex={-1} className="grid h-full min-h-0 grid-rows-[var(--bar)_minmax(0,1fr)] outline-none">
      <header className="flex min-w-0 items-center gap-2.5 border-b border-line bg-bg px-3">
        {crumb && <span className="shrink-0 text-fg-3">{crumb}</span>}
        <h1 className="min-w-0 shrink truncate font-semibold">{title}</h1>
        {bar}
      </header>
      <div className="min-h-0">
        <ErrorBoundary>{children}</ErrorBoundary>
      </div>
    </main>
  );
}
