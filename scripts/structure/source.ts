import ts from 'typescript';

/** One file of the repository, as the rules see it. */
export interface Source {
  /** From the repository's root, with `/`. */
  path: string;
  text: string;
}

/** A rule that does not hold: where, which, and what to do. */
export interface Finding {
  path: string;
  /** Counted from 1; absent when the whole file or folder is meant. */
  line?: number;
  rule: string;
  message: string;
}

/** A source with its syntax tree. */
export interface Parsed extends Source {
  tree: ts.SourceFile;
}

const CODE = /\.(ts|tsx|mts|cts|js|jsx|mjs|cjs)$/;
const TEST = /\.(test|spec)\.tsx?$/;

/** Whether a path holds TypeScript or JavaScript. */
export function isCode(path: string): boolean {
  return CODE.test(path);
}

/** Whether a path is a test of a unit or an end-to-end spec. */
export function isTest(path: string): boolean {
  return TEST.test(path);
}

/** Reads a source into its syntax tree. Broken code still gives a tree; the type check reports it. */
export function parse(source: Source): Parsed {
  const kind = /\.(tsx|jsx)$/.test(source.path) ? ts.ScriptKind.TSX : /\.(m|c)?js$/.test(source.path) ? ts.ScriptKind.JS : ts.ScriptKind.TS;
  return { ...source, tree: ts.createSourceFile(source.path, source.text, ts.ScriptTarget.Latest, true, kind) };
}

/** Calls `visitor` for every node of the tree, parents first. */
export function walk(file: Parsed, visitor: (node: ts.Node) => void): void {
  const visit = (node: ts.Node): void => {
    visitor(node);
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
}

/** A finding at a node. */
export function at(file: Parsed, node: ts.Node, rule: string, message: string): Finding {
  const { line } = file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree));
  return { path: file.path, line: line + 1, rule, message };
}

/** Every module that a file names: static and dynamic imports, re-exports and `require`. */
export function importedModules(file: Parsed): { node: ts.Node; name: string }[] {
  const found: { node: ts.Node; name: string }[] = [];
  walk(file, (node) => {
    let specifier: ts.Node | undefined;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) specifier = node.moduleSpecifier;
    else if (ts.isCallExpression(node) && isImportCall(node)) specifier = node.arguments[0];
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) specifier = node.argument.literal;
    if (specifier && ts.isStringLiteralLike(specifier)) found.push({ node, name: specifier.text });
  });
  return found;
}

function isImportCall(node: ts.CallExpression): boolean {
  return node.expression.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(node.expression) && node.expression.text === 'require');
}

/** The name of a property in an object literal, an assignment or a JSX attribute; undefined when it is computed. */
export function propertyName(name: ts.Node): string | undefined {
  if (ts.isIdentifier(name) || ts.isStringLiteralLike(name) || ts.isPrivateIdentifier(name)) return name.text;
  if (ts.isComputedPropertyName(name) && ts.isStringLiteralLike(name.expression)) return name.expression.text;
  return undefined;
}

/** The member that `a.b` or `a['b']` names. */
export function memberName(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) return node.argumentExpression.text;
  return undefined;
}

/** An expression without parentheses, casts and `!`. */
export function unwrapped(expression: ts.Expression): ts.Expression {
  let bare = expression;
  while (ts.isParenthesizedExpression(bare) || ts.isAsExpression(bare) || ts.isSatisfiesExpression(bare) || ts.isNonNullExpression(bare)) {
    bare = bare.expression;
  }
  return bare;
}
