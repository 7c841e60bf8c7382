import type { TFunction } from 'i18next';
import type { RejectedLine } from '#shared/contract/datasets.ts';

const KINDS = ['null', 'list', 'string', 'number', 'boolean', 'object'] as const;
const WANTED = ['text', 'texts', 'names', 'tests', 'id', 'identifier'] as const;

/** Why a row was refused, in the page's language; the engine's own sentence where there is no word for it. */
export function refusalText({ code, params = {}, reason }: RejectedLine, t: TFunction<['batch', 'app']>): string {
  if (!code) return reason;
  const kind = KINDS.find((k) => k === params.kind);
  const wanted = WANTED.find((w) => w === params.wanted);
  if (code === 'column_type' && !wanted) return reason;
  const words = { column: 'prompt', ...params, reason, ...(kind ? { kind: t(`refusal.kind.${kind}`) } : {}), ...(wanted ? { wanted: t(`refusal.wanted.${wanted}`) } : {}) };
  if (code === 'not_json' && params.column === undefined) return t('refusal.not_json_anywhere', words);
  if (code === 'no_prompt' && params.columns === '') return t('refusal.no_prompt_empty', words);
  return t(`refusal.${code}`, words);
}
