import type { ToolSpec } from '#shared/trajectory.ts';
import { isRecord, parseJson } from './json.ts';

/** The tools of a request, as far as calls that came as text need to know them. */
export interface OfferedTools {
  readonly any: boolean;
  isExact(name: string): boolean;
  /**
   * The name that is meant: an offered one when `name` differs by case, `-`, `_` or a `functions.` in front; `name` itself when it
   * is a few letters away from one (the loop says what to do with it); null when it has nothing to do with any.
   */
  meant(name: string): string | null;
  /** Arguments given one by one as text, as JSON: by the tool's schema a string stays a string, the rest is read as JSON where it is some. */
  asJson(name: string, parameters: readonly (readonly [key: string, value: string])[]): string;
}

export function offeredTools(tools: readonly ToolSpec[]): OfferedTools {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const byPlain = new Map(tools.map((tool) => [plain(tool.name), tool.name]));

  function typeOf(name: string, key: string): unknown {
    const parameters: unknown = byName.get(name)?.parameters;
    const properties = isRecord(parameters) && isRecord(parameters.properties) ? parameters.properties : {};
    const property = properties[key];
    return isRecord(property) ? property.type : undefined;
  }

  return {
    any: tools.length > 0,
    isExact: (name) => byName.has(name),
    meant(name) {
      if (byName.has(name)) return name;
      const bare = name.replace(/^functions?\./, '').replace(/:\d+$/, '');
      const same = byPlain.get(plain(bare));
      if (same !== undefined) return same;
      const key = plain(bare);
      if (key.length < 4) return null;
      const near = [...byPlain.keys()].some((other) => distance(key, other, 3) <= Math.min(3, Math.floor(key.length / 4)));
      return near ? bare : null;
    },
    asJson(name, parameters) {
      const entries = parameters.map(([key, value]) => {
        const type = typeOf(name, key);
        if (type === 'string' || (Array.isArray(type) && type.includes('string') && parseJson(value) !== null)) return [key, value] as const;
        const parsed = parseJson(value.trim());
        return [key, parsed === undefined ? pythonValue(value) : parsed] as const;
      });
      return JSON.stringify(Object.fromEntries(entries));
    },
  };
}

/** Models trained on Python write its words for true, false and null. */
function pythonValue(value: string): unknown {
  return { True: true, False: false, None: null }[value.trim()] ?? value;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s.]/g, '');
}

/** Levenshtein distance, or a number above `most` as soon as it must be. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? most + 1;
}
