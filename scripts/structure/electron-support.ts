import type { Finding } from './source.ts';

/**
 * Stable releases of Electron. A major is supported until the third one after it comes out (electronjs.org, "Electron
 * Releases"). Dates marked as planned follow from the eight-week cadence; correct them when the release is there.
 */
const STABLE_RELEASES: readonly { major: number; date: string; planned?: true }[] = [
  { major: 43, date: '2026-07-01' },
  { major: 44, date: '2026-08-25' },
  { major: 45, date: '2026-10-21' },
  { major: 46, date: '2026-12-15', planned: true },
  { major: 47, date: '2027-02-09', planned: true },
  { major: 48, date: '2027-04-06', planned: true },
];
const SUPPORTED_MAJORS = 3;

/**
 * The Electron of package.json is one that still gets security fixes.
 * @param version as in package.json, for example `45.5.0`
 */
export function electronSupportRule(version: string | undefined, today: Date): Finding[] {
  const finding = (message: string): Finding[] => [{ path: 'package.json', rule: 'electron-supported', message }];
  const major = Number(/^\d+/.exec(version ?? '')?.[0] ?? Number.NaN);
  if (!Number.isInteger(major)) return finding('names no exact version of electron.');
  if (!STABLE_RELEASES.some((release) => release.major === major)) {
    return finding(`uses electron ${major}, which the table in scripts/structure/electron-support.ts does not know.`);
  }
  const end = STABLE_RELEASES.find((release) => release.major === major + SUPPORTED_MAJORS);
  if (!end || today < new Date(`${end.date}T00:00:00Z`)) return [];
  const planned = end.planned ? ' (planned date)' : '';
  return finding(`uses electron ${major}, without security fixes since electron ${end.major} came out on ${end.date}${planned}.`);
}
