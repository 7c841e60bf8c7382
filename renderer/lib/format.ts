/** Short and exact ways to write numbers, times and sizes. Pure: the language is given, the clock is given. */

const NBSP = '\u00a0';

const exactFormats = new Map<string, Intl.NumberFormat>();

// Making a format is slow, and lists write one per row.
const dateTimeFormats = new Map<string, Intl.DateTimeFormat>();

function exactFormat(lang: string): Intl.NumberFormat {
  let format = exactFormats.get(lang);
  if (!format) {
    format = new Intl.NumberFormat(lang, { maximumFractionDigits: 2 });
    exactFormats.set(lang, format);
  }
  return format;
}

/** The whole number with group separators: 18,204. */
export function exact(n: number, lang: string): string {
  return exactFormat(lang).format(n);
}

/** Short for tables: 18.2k, 48.1M. Below 1,000 exact; the unit letters are those of the field in every language. */
export function compact(n: number): string {
  const abs = Math.abs(n);
  if (abs < 1000) return String(Number.isInteger(n) ? n : Number(n.toFixed(1)));
  for (const [size, unit] of [
    [1e3, 'k'],
    [1e6, 'M'],
    [1e9, 'G'],
  ] as const) {
    // 999,950 would round to "1000.0k": it belongs to the next unit.
    if (abs < size * 999.95 || unit === 'G') {
      const value = n / size;
      return `${Math.abs(value) < 99.95 ? trimZero(value.toFixed(1)) : value.toFixed(0)}${unit}`;
    }
  }
  return String(n);
}

function trimZero(text: string): string {
  return text.endsWith('.0') ? text.slice(0, -2) : text;
}

/**
 * A share of 1 as a percentage with at most `digits` decimals. Never rounds to 100 % or 0 % what is not quite all or nothing.
 * @param share 0…1
 */
export function percent(share: number, digits = 0): string {
  if (!Number.isFinite(share)) return '–';
  const step = 10 ** -digits;
  let value = Number((share * 100).toFixed(digits));
  if (share < 1 && value >= 100) value = 100 - step;
  if (share > 0 && value <= 0) value = step;
  return `${value.toFixed(digits).replace(/\.0+$/, '')}%`;
}

const UNITS: Record<'en' | 'zh', { ms: string; s: string; m: string; h: string; d: string }> = {
  en: { ms: 'ms', s: 's', m: 'm', h: 'h', d: 'd' },
  zh: { ms: '毫秒', s: '秒', m: '分', h: '小时', d: '天' },
};

/** A length of time in its two largest units: 240 ms, 4.2 s, 31 s, 2 m 04 s, 3 h 05 m, 2 d 3 h. @param ms milliseconds */
export function duration(ms: number, lang: string): string {
  const u = UNITS[lang.startsWith('zh') ? 'zh' : 'en'];
  const part = (value: number | string, unit: string): string => `${value}${NBSP}${unit}`;
  const safe = Math.max(0, ms);
  if (safe < 1000) return part(Math.round(safe), u.ms);
  if (safe < 9950) return part(trimZero((safe / 1000).toFixed(1)), u.s);
  const s = Math.round(safe / 1000);
  if (s < 60) return part(s, u.s);
  if (s < 3600) return `${part(Math.floor(s / 60), u.m)}${NBSP}${part(String(s % 60).padStart(2, '0'), u.s)}`;
  const m = Math.round(s / 60);
  if (m < 1440) return `${part(Math.floor(m / 60), u.h)}${NBSP}${part(String(m % 60).padStart(2, '0'), u.m)}`;
  const h = Math.round(m / 60);
  return `${part(Math.floor(h / 24), u.d)}${NBSP}${part(h % 24, u.h)}`;
}

/** A countdown: 0:21, 12:04, 3:00:07. @param ms milliseconds */
export function clock(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  const two = (n: number): string => String(n).padStart(2, '0');
  const head = s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor((s % 3600) / 60))}` : String(Math.floor(s / 60));
  return `${head}:${two(s % 60)}`;
}

/** A size in bytes with binary steps: 812 B, 4.2 KB, 268 MB. */
export function bytes(n: number): string {
  if (n < 1024) return `${n}${NBSP}B`;
  let value = n;
  for (const unit of ['KB', 'MB', 'GB', 'TB']) {
    value /= 1024;
    if (value < 1023.5 || unit === 'TB') return `${value < 99.95 ? trimZero(value.toFixed(1)) : value.toFixed(0)}${NBSP}${unit}`;
  }
  return String(n);
}

/** Dollars: $56.20; below a cent as many digits as it takes to say something. */
export function money(usd: number): string {
  if (usd === 0) return '$0';
  if (Math.abs(usd) < 0.01) return `$${usd.toPrecision(2)}`;
  return `$${usd.toFixed(usd < 1 ? 3 : 2)}`;
}

/** How long ago, in words: "2 min. ago", "3天前". @param then epoch ms @param now epoch ms */
export function ago(then: number, now: number, lang: string): string {
  const s = Math.round((then - now) / 1000);
  const format = new Intl.RelativeTimeFormat(lang, { numeric: 'auto', style: 'narrow' });
  const abs = Math.abs(s);
  if (abs < 60) return format.format(Math.abs(s) < 5 ? 0 : s, 'second');
  if (abs < 3600) return format.format(Math.trunc(s / 60), 'minute');
  if (abs < 86_400) return format.format(Math.trunc(s / 3600), 'hour');
  if (abs < 30 * 86_400) return format.format(Math.trunc(s / 86_400), 'day');
  return new Intl.DateTimeFormat(lang, { dateStyle: 'medium' }).format(then);
}

/** Date and time in full, for hovers. @param at epoch ms */
export function dateTime(at: number, lang: string): string {
  let format = dateTimeFormats.get(lang);
  if (!format) {
    format = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'medium' });
    dateTimeFormats.set(lang, format);
  }
  return format.format(at);
}
