import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';

/** CodeMirror's own words in the page's language, by what they are in English. */
export function usePhrases(): Record<string, string> {
  const { t } = useTranslation('skills');
  return useMemo(
    () => ({
      Find: t('editor.find'),
      Replace: t('editor.replaceWith'),
      next: t('editor.next'),
      previous: t('editor.previous'),
      all: t('editor.all'),
      'match case': t('editor.matchCase'),
      regexp: t('editor.regexp'),
      'by word': t('editor.byWord'),
      replace: t('editor.replace'),
      'replace all': t('editor.replaceAll'),
      close: t('editor.close'),
      'current match': t('editor.currentMatch'),
      'on line': t('editor.onLine'),
      'replaced $ matches': t('editor.replaced'),
      'Go to line': t('editor.goToLine'),
      go: t('editor.go'),
      'No diagnostics': t('editor.noNotes'),
      Diagnostics: t('editor.notes'),
      '$ unchanged lines': t('editor.unchanged'),
    }),
    [t],
  );
}
