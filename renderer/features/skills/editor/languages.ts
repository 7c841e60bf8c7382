import { markdown, markdownLanguage } from '@codemirror/lang-markdown';
import { yaml, yamlFrontmatter } from '@codemirror/lang-yaml';
import type { Extension } from '@codemirror/state';

/** Colours by the ending of a file's name; nothing for those that are not worth a grammar. */
export function languageOf(path: string): Extension {
  if (/\.(md|markdown)$/i.test(path)) return yamlFrontmatter({ content: markdown({ base: markdownLanguage, completeHTMLTags: false, pasteURLAsLink: false }) });
  return /\.ya?ml$/i.test(path) ? yaml() : [];
}
