import type { ImportChoice, ImportResult } from '#shared/contract/skill-imports.ts';
import { withName } from '../frontmatter.ts';
import type { SkillLibrary } from '../library.ts';
import { MAIN_FILE, nameProblem } from '../names.ts';
import type { SkillFileBytes } from '../types.ts';
import { SkillImportError } from './errors.ts';
import type { Held } from './report.ts';
import { readSkillFolder, sameTree, treeOf } from './tree.ts';

/** Where the skills of an import go. */
export type Takes = Pick<SkillLibrary, 'adopt'>;

/**
 * Takes one skill as it was chosen, whole and as one version, or not at all.
 * @param source named in the version's reason
 */
export async function take(held: Held, choice: ImportChoice, library: Takes, source: string): Promise<ImportResult> {
  const { found } = held;
  const result = (outcome: ImportResult['outcome'], more: Partial<ImportResult> = {}): ImportResult => ({ key: found.key, outcome, id: null, versionId: null, error: null, ...more });
  if (choice.action === 'skip') return result('skipped');
  if (found.state === 'same' && choice.action === 'replace') return result('same', { id: found.existing?.id ?? null });
  try {
    const files = await checked(held, choice);
    const { name, category, replace, content } = placed(held, choice, files);
    const done = await library.adopt({ name, category, files: content, replace }, { author: 'import', trajectoryId: null, reviewId: null, reason: `Imported from ${source}`.slice(0, 300), consent: true });
    return result(replace ? 'replaced' : 'added', { id: done.id, versionId: done.versionId });
  } catch (error) {
    if (!isExpected(error)) throw error;
    return result('failed', { error: error.message });
  }
}

async function checked({ found, folder, tree, executables }: Held, choice: ImportChoice): Promise<SkillFileBytes[]> {
  if (found.refused !== null || found.verdict === 'dangerous') throw new SkillImportError('invalid', found.refused ?? 'It is dangerous, and is not let in.');
  if (found.verdict === 'caution' && !choice.acceptCaution) throw new SkillImportError('invalid', 'It has findings of high severity: read them, and say that it should be imported all the same.');
  const files = folder === null ? [] : await readSkillFolder(folder);
  // what is let in is what was looked at
  if (!sameTree(treeOf(files), tree)) throw new SkillImportError('conflict', 'Its files changed since they were looked at. Begin the import again.');
  return files.map((file) => ({ ...file, executable: executables.has(file.path) }));
}

function placed({ found }: Held, choice: ImportChoice, files: SkillFileBytes[]): { name: string; category: string | null; replace: boolean; content: SkillFileBytes[] } {
  const { existing } = found;
  if (choice.action === 'replace') {
    if (existing === null) throw new SkillImportError('conflict', `There is no skill "${found.name}" to be replaced. Add it instead.`);
    const [name = found.name, category = null] = existing.id.split('/').slice(1).reverse();
    return { name, category, replace: true, content: files };
  }
  if (choice.action === 'add') {
    if (existing !== null) throw new SkillImportError('conflict', `There is a skill "${found.name}" already. Replace it, or keep both under another name.`);
    return { name: found.name, category: found.category, replace: false, content: files };
  }
  const name = choice.name ?? found.freeName;
  const bad = nameProblem(name);
  if (bad !== null) throw new SkillImportError('invalid', bad, { field: 'name' });
  const content = files.map((file) => (file.path === MAIN_FILE ? { ...file, bytes: Buffer.from(withName(file.bytes.toString('utf8'), name)) } : file));
  return { name, category: found.category, replace: false, content };
}

/** Expected failures of skills and files; a defect is somebody else's to tell. */
function isExpected(error: unknown): error is Error {
  return error instanceof Error && typeof (error as { code?: unknown }).code === 'string';
}
