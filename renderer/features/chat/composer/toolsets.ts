import type { ToolsetInfo } from '#shared/contract/tools.ts';

/** The plain toolsets behind a choice that may name composites. Names that nobody knows stay, so that a change does not lose them. */
export function plainToolsets(chosen: readonly string[], all: readonly Pick<ToolsetInfo, 'name' | 'parts'>[]): string[] {
  const found = new Set<string>();
  const add = (name: string, depth: number): void => {
    const parts = all.find((t) => t.name === name)?.parts ?? [];
    if (parts.length === 0 || depth > 4) found.add(name);
    else parts.forEach((part) => add(part, depth + 1));
  };
  chosen.forEach((name) => add(name, 0));
  return [...found];
}

/** The choice with one toolset switched. */
export function switched(chosen: readonly string[], name: string, on: boolean, all: readonly Pick<ToolsetInfo, 'name' | 'parts'>[]): string[] {
  const plain = new Set(plainToolsets(chosen, all));
  for (const part of plainToolsets([name], all)) {
    if (on) plain.add(part);
    else plain.delete(part);
  }
  return [...plain];
}
