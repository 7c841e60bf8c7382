import type { ReactNode } from 'react';

/** One line of a settings card: what it is, what it means, and its control. */
export function SettingRow({ label, hint, children }: { label: ReactNode; hint?: ReactNode; children: ReactNode }): ReactNode {
  return (
    <div className="flex min-h-11 flex-wrap items-center justify-between gap-x-6 gap-y-1 border-line px-3.5 py-2 not-last:border-b">
      <span className="min-w-0">
        <span className="block text-fg-2">{label}</span>
        {hint && <span className="block text-xs text-fg-3">{hint}</span>}
      </span>
      {children}
    </div>
  );
}

/** A titled card of the settings screen. */
export function SettingsSection({ id, title, about, action, children }: { id: string; title: string; about?: ReactNode; action?: ReactNode; children: ReactNode }): ReactNode {
  return (
    <section aria-labelledby={id}>
      <header className="mb-2 flex items-end justify-between gap-4">
        <div>
          <h2 id={id} className="text-lg font-semibold">{title}</h2>
          {about && <p className="text-sm text-fg-2">{about}</p>}
        </div>
        {action}
      </header>
      {children}
    </section>
  );
}
