import type { ReactNode } from 'react';

export function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section aria-label={title} className="pt-5">
      <h3 className="mb-2 break-after-avoid text-md font-semibold">{title}</h3>
      {children}
    </section>
  );
}

export type Fact = [name: string, value: string];

/** Names and values in columns. */
export function Facts({ rows, columns }: { rows: readonly Fact[]; columns: 2 | 3 }): ReactNode {
  return (
    <dl className={`num mt-2 grid gap-x-8 gap-y-1 text-sm ${columns === 3 ? 'grid-cols-3' : 'grid-cols-2'}`}>
      {rows.map(([name, value]) => (
        <div key={name} className="flex break-inside-avoid justify-between gap-3 border-b border-line py-0.5">
          <dt className="text-fg-2">{name}</dt>
          <dd className="text-right break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The options as a run file: what starts the same run again. */
export function Definition({ text }: { text: string }): ReactNode {
  return <pre className="overflow-x-auto rounded-m border border-line bg-code px-3 py-2 font-mono text-xs leading-[1.6] whitespace-pre-wrap [overflow-wrap:anywhere]">{text.trimEnd()}</pre>;
}

/** A plain table whose numbers are at the right. @param right from this column on, from 0 */
export function Table({ head, rows, right }: { head: readonly string[]; rows: readonly (readonly ReactNode[])[]; right: number }): ReactNode {
  const side = (i: number): string => (i >= right ? 'text-right whitespace-nowrap' : 'text-left');
  return (
    <table className="num w-full border-collapse text-sm">
      <thead>
        <tr className="border-b border-line-strong text-xs text-fg-3">
          {head.map((name, i) => (
            <th key={name} scope="col" className={`py-1 pr-3 font-normal last:pr-0 ${side(i)}`}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, r) => (
          <tr key={r} className="break-inside-avoid border-b border-line align-top">
            {row.map((cell, i) => (
              <td key={i} className={`py-1 pr-3 break-words last:pr-0 ${side(i)}`}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
