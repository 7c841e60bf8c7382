import { FUSES } from './electron/main/fuses.ts';

/**
 * How the desktop app is packed, for electron-builder 26 (`electron-builder --config electron-builder.config.ts`). It is
 * not among the dependencies: nothing in set-up, build or test needs it.
 */
export default {
  appId: 'app.talaria.desktop',
  productName: 'Talaria',
  directories: { output: 'release', buildResources: 'resources' },
  files: [
    'out/**',
    'package.json',
    '!**/*.map',
    // The sources of SQLite and the binaries of other machines.
    '!node_modules/better-sqlite3/{deps,src}/**',
    '!node_modules/better-sqlite3/prebuilds/!(${platform}-${arch}.node)',
    '!node_modules/node-addon-api/**',
    '!node_modules/openai/src/**',
    '!out/.talaria-stamp',
  ],
  // What another process opens cannot be inside the archive.
  asarUnpack: ['**/*.node', '**/rg*'],
  extraResources: [{ from: 'resources', to: 'resources' }],
  // better-sqlite3 is N-API: one binary for Node and Electron.
  npmRebuild: false,
  electronFuses: { ...FUSES, resetAdHocDarwinSignature: true },
  linux: { target: ['AppImage'], category: 'Development' },
  mac: { target: ['dmg'], hardenedRuntime: true },
  win: { target: ['nsis'] },
};
