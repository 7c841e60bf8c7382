import ts from 'typescript';
import { at, isTest, memberName, walk } from './source.ts';
import type { Finding, Parsed } from './source.ts';

const RUNNERS = new Set(['it', 'test', 'describe', 'suite', 'bench']);
const MODIFIERS = new Set(['skip', 'only', 'todo', 'fixme', 'fails', 'fail']);
const OLD_NAMES = new Set(['xit', 'xtest', 'xdescribe', 'fit', 'fdescribe']);

/**
 * No test is switched off or alone. `it.skipIf(…)` and Playwright's `test.skip(condition, 'why')` stay allowed: they
 * depend on the machine and are counted.
 */
export function testModifierRule(files: readonly Parsed[]): Finding[] {
  const findings: Finding[] = [];
  for (const file of files.filter(({ path }) => isTest(path))) {
    walk(file, (node) => {
      const name = memberName(node);
      if (name && MODIFIERS.has(name) && startsWithRunner(node) && !isConditional(node)) {
        findings.push(at(file, node, 'no-switched-off-tests', `"${node.getText(file.tree)}" leaves tests out; mend or remove them.`));
      }
      if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && OLD_NAMES.has(node.expression.text)) {
        findings.push(at(file, node, 'no-switched-off-tests', `"${node.expression.text}" leaves tests out; mend or remove them.`));
      }
    });
  }
  return findings;
}

function startsWithRunner(node: ts.Node): boolean {
  let base: ts.Node = node;
  while (ts.isPropertyAccessExpression(base) || ts.isElementAccessExpression(base)) base = base.expression;
  return base !== node && ts.isIdentifier(base) && RUNNERS.has(base.text);
}

/** `test.skip(condition, 'why')`: a condition that is worked out, and a reason. */
function isConditional(node: ts.Node): boolean {
  const call = node.parent;
  if (!ts.isCallExpression(call) || call.expression !== node || call.arguments.length !== 2) return false;
  const [condition, reason] = call.arguments;
  if (!condition || !reason || !(ts.isStringLiteralLike(reason) || ts.isTemplateExpression(reason))) return false;
  return !(ts.isStringLiteralLike(condition) || ts.isTemplateExpression(condition) || condition.kind === ts.SyntaxKind.TrueKeyword);
}
