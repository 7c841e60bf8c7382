import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ImportChoice, ImportEvent, ImportReport, ImportResult, ImportSource } from '#shared/contract/skill-imports.ts';
import { ConfigFile } from '../../store/config.ts';
import { ensureHome, type HomePaths } from '../../store/home.ts';
import { openStore, type Store } from '../../store/store.ts';
import { READER, RESOURCES } from '../../trajectories/testing.ts';
import { SkillLibrary } from '../library.ts';
import { SkillImportService } from './service.ts';

export interface ImportGround {
  dir: string;
  home: HomePaths;
  store: Store;
  library: SkillLibrary;
  service: SkillImportService;
  /** Writes files below the folder of the test and answers with their folder. */
  files(folder: string, files: Readonly<Record<string, string | Buffer>>): string;
  scan(source: ImportSource): Promise<ImportReport>;
  apply(report: ImportReport, choices?: readonly Partial<ImportChoice>[]): Promise<ImportResult[]>;
}

/** A real store, library and import service, in folders that are gone afterwards. The person's home is `<dir>/person`. */
export async function withImports(test: (ground: ImportGround) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'talaria-import-'));
  const home = ensureHome(join(dir, 'home'));
  const store = openStore(home.root, { resources: RESOURCES, reader: READER });
  const log = { info: () => undefined, error: () => undefined };
  const library = new SkillLibrary({ db: store.db, home, config: new ConfigFile(home.config), now: Date.now, log });
  const service = new SkillImportService({ db: store.db, library, quarantine: join(home.root, 'quarantine'), exportsFolder: home.exports, env: {}, userHome: join(dir, 'person'), log });
  try {
    await test({
      dir,
      home,
      store,
      library,
      service,
      files(folder, files) {
        const root = join(dir, folder);
        mkdirSync(root, { recursive: true });
        for (const [path, content] of Object.entries(files)) {
          mkdirSync(dirname(join(root, path)), { recursive: true });
          writeFileSync(join(root, path), content);
        }
        return root;
      },
      async scan(source) {
        const events: ImportEvent[] = [];
        for await (const event of service.scan(source)) events.push(event);
        const last = events.at(-1);
        if (last?.type !== 'done') throw new Error('The scan ended without a report');
        return last.report;
      },
      async apply(report, choices = report.items.map(({ key, suggested }) => ({ key, action: suggested }))) {
        const full = choices.map((choice) => ({ key: '', action: 'add' as const, acceptCaution: false, ...choice }));
        return (await service.apply({ id: report.id, choices: full })).results;
      },
    });
  } finally {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

export function skillText(name: string, body = 'Do the thing step by step, and check the result.', description = `Use it when ${name} is needed by the person.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
}

/** An entry of a zip file as no honest program would write it. */
export interface RawEntry {
  name: string | Buffer;
  content?: Buffer | string;
  /** Unix mode with the type of file; a plain file when left out. */
  mode?: number;
  /** What the directory says of the size, whatever `content` has. */
  says?: number;
  flags?: number;
  method?: number;
}

/** A zip file byte for byte (PKWARE APPNOTE 4.3), stored unless `method` says otherwise. */
export function rawZip(entries: readonly RawEntry[], says = entries.length): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content = '', mode = 0o100644, says: size, flags = 0x800, method = 0 } of entries) {
    const data = Buffer.from(content as string);
    const bytes = Buffer.from(name as string);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(flags, 2);
    facts.writeUInt16LE(method, 4);
    facts.writeUInt32LE(crc32(data), 10);
    facts.writeUInt32LE(data.length, 14);
    facts.writeUInt32LE(size ?? data.length, 18);
    facts.writeUInt16LE(bytes.length, 22);
    locals.push(Buffer.from('PK\x03\x04', 'latin1'), facts, bytes, data);
    const entry = Buffer.alloc(42);
    entry.writeUInt16LE((3 << 8) | 20, 0);
    facts.copy(entry, 2);
    entry.writeUInt32LE((mode << 16) >>> 0, 34);
    entry.writeUInt32LE(offset, 38);
    central.push(Buffer.from('PK\x01\x02', 'latin1'), entry, bytes);
    offset += 30 + bytes.length + data.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(says, 4);
  end.writeUInt16LE(says, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
