import { electronSupportRule } from './electron-support.ts';
import { folderRule, lengthRule } from './folders.ts';
import { packageRule, rawHtmlRule, settingsRule, singlePlaceRule } from './security.ts';
import { isCode, parse } from './source.ts';
import type { Finding, Source } from './source.ts';
import { testModifierRule } from './tests.ts';

/**
 * All structure rules over the files of a repository. Import directions are not among them: dependency-cruiser checks those.
 * @param files every tracked or new file; binary ones may have an empty text
 * @param today decides whether Electron is still supported
 * @returns what does not hold, by file
 */
export function checkStructure(files: readonly Source[], today: Date): Finding[] {
  const manifest = files.find((file) => file.path === 'package.json');
  const code = files.filter((file) => isCode(file.path)).map(parse);
  const findings = [
    ...folderRule(files),
    ...lengthRule(files),
    ...singlePlaceRule(code),
    ...settingsRule(code),
    ...packageRule(code, manifest),
    ...rawHtmlRule(code),
    ...testModifierRule(code),
    ...(manifest ? electronSupportRule(electronVersion(manifest), today) : []),
  ];
  return findings.sort((a, b) => a.path.localeCompare(b.path) || (a.line ?? 0) - (b.line ?? 0));
}

function electronVersion(manifest: Source): string | undefined {
  const { devDependencies } = JSON.parse(manifest.text) as { devDependencies?: Record<string, string> };
  return devDependencies?.electron;
}
