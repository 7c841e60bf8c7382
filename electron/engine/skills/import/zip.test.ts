import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawZip, type RawEntry } from './testing.ts';
import { openZip } from './zip.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'talaria-zip-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function zipOf(entries: readonly RawEntry[], says?: number): string {
  const file = join(dir, 'x.zip');
  writeFileSync(file, rawZip(entries, says));
  return file;
}

const good: RawEntry = { name: 'a/SKILL.md', content: 'hello' };
const zeros = Buffer.alloc(20 * 1024 * 1024);

describe('zip files from strangers', () => {
  // Bug: an entry lands outside of quarantine, a link shows files of this machine, a second entry of one name replaces what was looked at, a
  // bomb fills the disk; or the person is not told which entry is at fault.
  const cases: [what: string, entry: RawEntry, says: RegExp][] = [
    ['up and out', { name: '../evil.md' }, /evil\.md.*"\.\."/],
    ['up and out, deep', { name: 'a/../../evil.md' }, /evil\.md.*"\.\."/],
    ['absolute', { name: '/etc/evil' }, /\/etc\/evil.*is absolute/],
    ['a drive', { name: 'C:/evil' }, /C:\/evil.*is absolute/],
    ['backslashes', { name: 'a\\..\\evil' }, /evil.*backslash/],
    ['a NUL', { name: 'a/evil\0.md' }, /evil.*control characters/],
    ['an empty part', { name: 'a//evil.md' }, /evil.*empty part/],
    ['a stream of Windows', { name: 'a/evil.md:ads' }, /evil\.md:ads.*every system/],
    ['a device', { name: 'a/nul.txt' }, /nul\.txt.*every system/],
    ['a link', { name: 'a/evil', content: '/etc/passwd', mode: 0o120777 }, /"a\/evil" is a symbolic link/],
    ['a pipe', { name: 'a/evil', mode: 0o010644 }, /"a\/evil" is neither a file nor a folder/],
    ['the same name again', { name: 'a/SKILL.md', content: 'other' }, /"a\/SKILL\.md" is there twice/],
    ['the same name in capitals', { name: 'A/skill.MD', content: 'other' }, /"A\/skill\.MD" is there twice \(also as "a\/SKILL\.md"\)/],
    ['encrypted', { name: 'a/evil', content: 'x'.repeat(13), says: 1, flags: 0x801 }, /"a\/evil" is encrypted/],
    ['an unknown compression', { name: 'a/evil', content: 'x', method: 99 }, /"a\/evil" is packed in a way/],
    ['a bomb', { name: 'a/evil', content: deflateRawSync(zeros), method: 8, says: zeros.length }, /"a\/evil" would unpack from [\d,]+ to 20,971,520 bytes/],
  ];
  it.each(cases)('%s: the file is refused, and the entry named', async (_, entry, says) => {
    await expect(openZip(zipOf([good, entry]))).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(says) as string });
  });

  // Bug: a directory of entries that says a million of them is read for minutes.
  it('an absurd number of entries is refused before they are read', async () => {
    const many = rawZip(Array.from({ length: 60_000 }, (_, i) => ({ name: `a/${i}` })), 60_000);
    const file = join(dir, 'many.zip');
    writeFileSync(file, many);
    await expect(openZip(file)).rejects.toThrow(/60,000 entries/);
  });

  // Bug: an entry that says 5 bytes and gives a million is read to its end, or cut and taken.
  it('an entry with more in it than it says is damaged', async () => {
    const source = await openZip(zipOf([{ name: 'a/SKILL.md', content: deflateRawSync(zeros), method: 8, says: 5 }]));
    await expect(source.entries[0]!.read()).rejects.toThrow(/"a\/SKILL\.md" is damaged/);
    await source.close();
  });

  // Bug: what systems leave in zip files counts as files of a skill.
  it('litter is passed over, folders are no files', async () => {
    const source = await openZip(zipOf([{ name: 'a/', mode: 0o040755 }, good, { name: '__MACOSX/a/._SKILL.md' }, { name: 'a/.DS_Store' }]));
    expect(source.entries.map(({ path }) => path)).toEqual(['a/SKILL.md']);
    expect((await source.entries[0]!.read()).toString()).toBe('hello');
    await source.close();
  });

  // Bug: something that is no zip file is an unexpected error.
  it('says when it is no zip file, and when it is not there', async () => {
    writeFileSync(join(dir, 'no.zip'), 'hello '.repeat(100));
    await expect(openZip(join(dir, 'no.zip'))).rejects.toThrow(/no zip file/);
    await expect(openZip(join(dir, 'gone.zip'))).rejects.toThrow(/There is no file/);
  });
});
