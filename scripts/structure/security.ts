import ts from 'typescript';
import { at, importedModules, isTest, memberName, propertyName, unwrapped, walk } from './source.ts';
import type { Finding, Parsed, Source } from './source.ts';

/** Classes of Electron that show web content: each new one would need all the guards again. */
const WINDOW_CLASSES = new Set(['BrowserWindow', 'BaseWindow', 'BrowserView', 'WebContentsView']);

/** Local names of what a file takes from `electron`, so that a rename hides nothing. */
function electronNames(file: Parsed): Map<string, string> {
  const names = new Map<string, string>();
  walk(file, (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier) && node.moduleSpecifier.text.split('/')[0] === 'electron') {
      const bindings = node.importClause?.namedBindings;
      if (bindings && ts.isNamedImports(bindings)) {
        for (const element of bindings.elements) names.set(element.name.text, (element.propertyName ?? element.name).text);
      }
    }
    if (ts.isBindingElement(node) && node.propertyName && ts.isIdentifier(node.name)) {
      const original = propertyName(node.propertyName);
      if (original && (WINDOW_CLASSES.has(original) || original === 'shell' || original === 'ipcMain')) names.set(node.name.text, original);
    }
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) {
      const original = memberName(node.initializer) ?? (ts.isIdentifier(node.initializer) ? names.get(node.initializer.text) : undefined);
      if (original && (WINDOW_CLASSES.has(original) || original === 'shell' || original === 'ipcMain')) names.set(node.name.text, original);
    }
  });
  return names;
}

/** The name in Electron that an expression stands for: `BW`, `electron.BrowserWindow`, `this.shell`. */
function electronName(expression: ts.Expression, names: Map<string, string>): string | undefined {
  const bare = unwrapped(expression);
  return ts.isIdentifier(bare) ? (names.get(bare.text) ?? bare.text) : memberName(bare);
}

const SINGLE_PLACES = [
  {
    rule: 'one-window-place',
    what: 'Windows and views are made',
    finds: (node: ts.Node, names: Map<string, string>) =>
      ts.isNewExpression(node) && WINDOW_CLASSES.has(electronName(node.expression, names) ?? ''),
  },
  {
    rule: 'one-open-external',
    what: 'shell.openExternal is called',
    finds: (node: ts.Node) => memberName(node) === 'openExternal' || (ts.isBindingElement(node) && bindingOf(node) === 'openExternal'),
  },
  {
    rule: 'one-ipc-place',
    what: 'ipcMain is used',
    finds: (node: ts.Node, names: Map<string, string>) =>
      (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) && electronName(node.expression, names) === 'ipcMain',
  },
] as const;

function bindingOf(node: ts.BindingElement): string | undefined {
  return propertyName(node.propertyName ?? node.name);
}

/** What must happen in one file only, so that its guards cannot be gone round. */
export function singlePlaceRule(files: readonly Parsed[]): Finding[] {
  const app = files.filter((file) => file.path.startsWith('electron/') && !isTest(file.path));
  return SINGLE_PLACES.flatMap(({ rule, what, finds }) => {
    const places = app.flatMap((file) => {
      const names = electronNames(file);
      const found: ts.Node[] = [];
      walk(file, (node) => {
        if (finds(node, names)) found.push(node);
      });
      return found.map((node) => ({ file, node }));
    });
    const paths = [...new Set(places.map(({ file }) => file.path))];
    if (paths.length < 2) return [];
    return places.map(({ file, node }) => at(file, node, rule, `${what} in exactly one file, not in ${paths.length}: ${paths.join(', ')}.`));
  });
}

/** Settings that open the page to the machine. `values` are the forbidden ones; without them every mention is. */
const FORBIDDEN_SETTINGS: Record<string, readonly ('true' | 'false')[] | undefined> = {
  sandbox: ['false'],
  webSecurity: ['false'],
  contextIsolation: ['false'],
  nodeIntegration: ['true'],
  nodeIntegrationInWorker: ['true'],
  nodeIntegrationInSubFrames: ['true'],
  webviewTag: ['true'],
  allowRunningInsecureContent: undefined,
  experimentalFeatures: undefined,
  enableBlinkFeatures: undefined,
};
const FORBIDDEN_SWITCHES = new Set(['no-sandbox', 'disable-web-security', 'disable-site-isolation-trials', 'allow-running-insecure-content']);

/** No setting anywhere in the app weakens the page's cage. */
export function settingsRule(files: readonly Parsed[]): Finding[] {
  const findings: Finding[] = [];
  for (const file of files.filter(({ path }) => /^(electron|renderer|shared)\//.test(path) && !isTest(path))) {
    const check = (node: ts.Node, name: string | undefined, value: ts.Expression | undefined): void => {
      if (name === undefined || !Object.hasOwn(FORBIDDEN_SETTINGS, name)) return;
      const forbidden = FORBIDDEN_SETTINGS[name];
      const literal = value && literalTruth(value);
      if (!forbidden) findings.push(at(file, node, 'safe-settings', `"${name}" may not be set at all.`));
      else if (literal && forbidden.includes(literal)) findings.push(at(file, node, 'safe-settings', `"${name}: ${literal}" is never allowed.`));
    };
    walk(file, (node) => {
      if (ts.isPropertyAssignment(node)) check(node, propertyName(node.name), node.initializer);
      else if (ts.isShorthandPropertyAssignment(node)) check(node, node.name.text, undefined);
      else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken) check(node, memberName(node.left), node.right);
      else if (ts.isCallExpression(node) && memberName(node.expression) === 'appendSwitch') {
        const [name] = node.arguments;
        if (name && ts.isStringLiteralLike(name) && FORBIDDEN_SWITCHES.has(name.text)) {
          findings.push(at(file, node, 'safe-settings', `The switch "${name.text}" is never allowed.`));
        }
      }
    });
  }
  return findings;
}

/** `true`, `false`, and their spellings `!0`, `!1`. */
function literalTruth(expression: ts.Expression): 'true' | 'false' | undefined {
  const bare = unwrapped(expression);
  if (bare.kind === ts.SyntaxKind.TrueKeyword) return 'true';
  if (bare.kind === ts.SyntaxKind.FalseKeyword) return 'false';
  if (ts.isPrefixUnaryExpression(bare) && bare.operator === ts.SyntaxKind.ExclamationToken && ts.isNumericLiteral(bare.operand)) {
    return Number(bare.operand.text) === 0 ? 'true' : 'false';
  }
  return undefined;
}

const FORBIDDEN_PACKAGES: Record<string, string> = {
  '@electron/remote': 'it hands the page all of main.',
  'rehype-raw': 'it lets the text of a model become HTML.',
};

/** Packages that undo the design, as an import or as a dependency. */
export function packageRule(files: readonly Parsed[], manifest: Source | undefined): Finding[] {
  const findings = files.flatMap((file) =>
    importedModules(file).flatMap(({ node, name }) => {
      const found = Object.keys(FORBIDDEN_PACKAGES).find((entry) => name === entry || name.startsWith(`${entry}/`));
      return found ? [at(file, node, 'forbidden-package', `"${found}" may not be used: ${FORBIDDEN_PACKAGES[found]}`)] : [];
    }),
  );
  const listed = manifest ? (JSON.parse(manifest.text) as Record<string, Record<string, string> | undefined>) : {};
  for (const group of ['dependencies', 'devDependencies', 'optionalDependencies']) {
    for (const name of Object.keys(listed[group] ?? {})) {
      if (!Object.hasOwn(FORBIDDEN_PACKAGES, name)) continue;
      findings.push({ path: 'package.json', rule: 'forbidden-package', message: `"${name}" may not be used: ${FORBIDDEN_PACKAGES[name]}` });
    }
  }
  return findings;
}

const RAW_HTML = new Set(['dangerouslySetInnerHTML', 'innerHTML', 'outerHTML', 'srcDoc', 'srcdoc']);

/** Text from models, pages and files never becomes HTML. */
export function rawHtmlRule(files: readonly Parsed[]): Finding[] {
  const findings: Finding[] = [];
  for (const file of files.filter(({ path }) => path.startsWith('renderer/') && !isTest(path))) {
    const add = (node: ts.Node, name: string): void => {
      findings.push(at(file, node, 'no-raw-html', `"${name}" turns text into HTML; render elements instead.`));
    };
    walk(file, (node) => {
      const set =
        ts.isJsxAttribute(node) || ts.isPropertyAssignment(node) ? propertyName(node.name)
        : ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken ? memberName(node.left)
        : undefined;
      if (set && RAW_HTML.has(set)) add(node, set);
      if (ts.isCallExpression(node) && memberName(node.expression) === 'insertAdjacentHTML') add(node, 'insertAdjacentHTML');
    });
  }
  return findings;
}
