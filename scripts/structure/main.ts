/** `npm run check -- structure`: folders, sizes and security rules over the working tree. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { checkStructure } from './rules.ts';
import type { Source } from './source.ts';

const TEXT = /\.(ts|tsx|mts|cts|js|jsx|mjs|cjs|css|html|sql|sh|py|json)$/;

/** What git tracks or would track, so that build output and a person's own ignored files do not count. */
function sources(): Source[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return [...new Set(listed.split('\0'))]
    .filter((path) => path !== '' && existsSync(path) && lstatSync(path).isFile())
    .map((path) => ({ path, text: TEXT.test(path) ? readFileSync(path, 'utf8') : '' }));
}

const findings = checkStructure(sources(), new Date());
for (const { path, line, rule, message } of findings) {
  process.stdout.write(`${path}${line === undefined ? '' : `:${line}`}  ${rule}: ${message}\n`);
}
process.exitCode = findings.length === 0 ? 0 : 1;
