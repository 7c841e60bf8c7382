import type { ThemeRegistrationRaw } from 'shiki/core';

/** A piece of a line, and what it is: an index into TOKEN_KINDS, 0 for plain. */
export type Token = readonly [text: string, kind: number];

export interface HighlightRequest {
  id: number;
  code: string;
  lang: string;
}

/** `lines` null: the language is not known, so the code stays plain. */
export interface HighlightAnswer {
  id: number;
  lines: Token[][] | null;
}

/** Class of a token is `tok-KIND`; its colours are in markdown.css. */
export const TOKEN_KINDS = ['plain', 'comment', 'keyword', 'string', 'number', 'function', 'type', 'added', 'removed'] as const;

const SCOPES: Record<Exclude<(typeof TOKEN_KINDS)[number], 'plain'>, string[]> = {
  comment: ['comment', 'punctuation.definition.comment', 'meta.diff.header', 'meta.diff.range'],
  keyword: ['keyword', 'storage', 'storage.type', 'variable.language', 'entity.name.tag', 'punctuation.definition.heading.markdown', 'keyword.operator.new', 'keyword.operator.expression'],
  string: ['string', 'punctuation.definition.string', 'markup.inline.raw', 'constant.other.symbol'],
  number: ['constant.numeric', 'constant.language', 'constant.character', 'constant.other', 'support.constant'],
  function: ['entity.name.function', 'support.function', 'entity.name.section', 'support.type.property-name', 'meta.object-literal.key', 'entity.name.command'],
  type: ['entity.name.type', 'entity.name.class', 'entity.other.attribute-name', 'support.type', 'support.class', 'entity.other.inherited-class'],
  added: ['markup.inserted'],
  removed: ['markup.deleted'],
};

const colorOf = (kind: number): string => `#0000${kind.toString(16).padStart(2, '0')}`;

/** Not a theme to look at: its colours are the numbers of the kinds, so that light and dark need no second pass. */
export const TOKEN_THEME: ThemeRegistrationRaw = {
  name: 'talaria',
  type: 'light',
  colors: { 'editor.foreground': colorOf(0), 'editor.background': '#ffffff' },
  settings: [
    { settings: { foreground: colorOf(0), background: '#ffffff' } },
    ...Object.entries(SCOPES).map(([kind, scope]) => ({ scope, settings: { foreground: colorOf(TOKEN_KINDS.indexOf(kind as (typeof TOKEN_KINDS)[number])) } })),
    { scope: ['keyword.operator', 'storage.type.function.arrow'], settings: { foreground: colorOf(0) } },
  ],
};

/** The kind that a colour of TOKEN_THEME stands for; 0 for any other. */
export function tokenKind(color: string | undefined): number {
  const kind = color === undefined ? 0 : Number.parseInt(color.slice(1), 16);
  return kind > 0 && kind < TOKEN_KINDS.length ? kind : 0;
}
