import { useTranslation } from 'react-i18next';
import type { Author } from '#shared/contract/skills.ts';

/** Findings of the scan as the engine words them, by the key of their translation. */
const SIGNS = {
  'asks to ignore earlier instructions': 'signs.ignore',
  'asks to hide things from the person': 'signs.hide',
  'claims a new role or a new system prompt': 'signs.role',
  'holds control tokens of chat templates': 'signs.tokens',
  'sends secrets away': 'signs.send',
  'reads credentials': 'signs.read',
  'runs what it hides': 'signs.run',
  'gives orders in an HTML comment': 'signs.comment',
  'hides text': 'signs.hidden',
  'holds invisible characters': 'signs.invisible',
  'imitates the frame of the memory in the prompt': 'signs.frame',
  'mentions files that hold keys': 'signs.keys',
  'seems to hold a key or password': 'signs.secret',
} as const;

/** A finding in the page's language; one that nobody translated yet as the engine says it. */
export function useSign(): (sign: string) => string {
  const { t } = useTranslation('memory');
  return (sign) => (Object.hasOwn(SIGNS, sign) ? t(SIGNS[sign as keyof typeof SIGNS]) : sign);
}

/** Who wrote it; null: by hand, in the file. */
export function useAuthor(): (author: Author | null) => string {
  const { t } = useTranslation('memory');
  return (author) => t(`author.${author ?? 'file'}`);
}
