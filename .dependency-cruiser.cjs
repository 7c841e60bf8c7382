/** Import directions: renderer → shared; engine → shared; main, serve, cli → engine, shared. And no cycles. */
const TEST = '(\\.(test|spec)\\.tsx?|/testing\\.ts)$';
/** Beside the units, only for their tests. */
const TEST_GROUND = '^e2e/(fakes|fixtures|drivers)/';

/** @param {string[]} allowed what a room may import of our own; regular expressions on paths */
function room(name, from, allowed, comment) {
  return {
    name,
    comment,
    severity: 'error',
    from: { path: from, pathNot: TEST },
    to: { path: '^(electron|renderer|shared|resources|e2e|scripts)/', pathNot: allowed },
  };
}

module.exports = {
  forbidden: [
    room('page-only-shared', '^renderer/', ['^renderer/', '^shared/'], 'The page talks to the engine through the contract in shared/ alone.'),
    room('shared-only-shared', '^shared/', ['^shared/'], 'shared/ is the ground: it imports nothing of the rooms above it.'),
    room('engine-only-shared', '^electron/engine/', ['^electron/engine/', '^shared/', '^resources/'], 'The engine knows no host and no page.'),
    room('main-only-engine', '^electron/main/', ['^electron/(main|engine)/', '^shared/', '^resources/'], 'main only wires engine and shell.'),
    room('serve-only-engine', '^electron/serve/', ['^electron/(serve|engine)/', '^shared/', '^resources/'], 'serve only wires engine and HTTP.'),
    room('cli-only-engine', '^electron/cli/', ['^electron/(cli|engine)/', '^shared/', '^resources/'], 'cli only wires engine and terminal.'),
    room('preload-only-shared', '^electron/preload/', ['^electron/preload/', '^shared/'], 'The preload hands over the port, nothing else.'),
    {
      name: 'tests-own-room',
      comment: 'A test of a unit may use the fakes and fixtures of e2e/, but not its specs, and not scripts/.',
      severity: 'error',
      from: { path: `^(electron|renderer|shared)/.*${TEST}` },
      to: { path: '^(e2e|scripts)/', pathNot: TEST_GROUND },
    },
    {
      name: 'engine-tests-no-host',
      comment: 'A test of the engine or of shared/ needs no host and no page.',
      severity: 'error',
      from: { path: `^(electron/engine|shared)/.*${TEST}` },
      to: { path: '^(electron/(main|serve|cli|preload)|renderer)/' },
    },
    {
      name: 'page-tests-no-host',
      comment: 'A test of the page may use the engine, but no host.',
      severity: 'error',
      from: { path: `^renderer/.*${TEST}` },
      to: { path: '^electron/(main|serve|cli|preload)/' },
    },
    {
      name: 'shared-packages',
      comment: 'shared/ runs everywhere: only zod and @orpc/contract, no node: built-ins.',
      severity: 'error',
      from: { path: '^shared/', pathNot: TEST },
      to: { dependencyTypesNot: ['local', 'localmodule', 'aliased', 'aliased-subpath-import'], pathNot: 'node_modules/(zod|@orpc/contract)/' },
    },
    {
      name: 'page-no-node',
      comment: 'The page runs in a browser: no Node built-ins.',
      severity: 'error',
      from: { path: '^renderer/', pathNot: TEST },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'electron-only-in-shell',
      comment: 'Only electron/main and electron/preload may import electron.',
      severity: 'error',
      from: { path: '^(electron|renderer|shared)/', pathNot: '^electron/(main|preload)/' },
      to: { path: '(^|node_modules/)electron(/|$)', dependencyTypesNot: ['local', 'localmodule'] },
    },
    {
      name: 'electron-types-only',
      comment: 'Specs and scripts run on plain Node, where loading electron tries to download it: its types only.',
      severity: 'error',
      from: { path: '^(e2e|scripts)/' },
      to: { path: '(^|node_modules/)electron(/|$)', dependencyTypesNot: ['local', 'localmodule', 'type-only'] },
    },
    {
      name: 'no-dev-package-in-the-app',
      comment: 'The packed app carries only "dependencies"; electron itself is the ground it stands on.',
      severity: 'error',
      from: { path: '^(electron|shared)/', pathNot: TEST },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/electron/' },
    },
    {
      name: 'test-not-imported',
      comment: 'Only tests import what is made for tests: `testing.ts` beside the units. Nobody imports a test itself.',
      severity: 'error',
      from: { pathNot: [TEST, '^(e2e|scripts)/'] },
      to: { path: TEST },
    },
    { name: 'no-cycles', comment: 'A cycle cannot be read from any end.', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'resolves',
      comment: 'An import that leads nowhere, or a package that is not in package.json.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'listed-package',
      comment: 'A package that is used has its own line in package.json.',
      severity: 'error',
      from: { pathNot: '^(e2e|scripts)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'undetermined'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(out|data|test-results)/' },
    // Also the imports that only carry types: a direction is a direction.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.web.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types', 'typings'],
      extensions: ['.ts', '.tsx', '.mts', '.d.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
