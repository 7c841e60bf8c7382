/**
 * What the packed binary may still be talked into, by Electron's fuses (names of electron-builder's `electronFuses`,
 * source: electronjs.org/docs/latest/tutorial/fuses). All eight are given, so that no default decides.
 */
interface Fuses {
  /** ELECTRON_RUN_AS_NODE turns the app into a plain Node. */
  runAsNode: boolean;
  /** NODE_OPTIONS and NODE_EXTRA_CA_CERTS are read. */
  enableNodeOptionsEnvironmentVariable: boolean;
  /** --inspect and its like are obeyed. */
  enableNodeCliInspectArguments: boolean;
  enableCookieEncryption: boolean;
  enableEmbeddedAsarIntegrityValidation: boolean;
  /** No unpacked `app` folder beside the archive is run instead of it. */
  onlyLoadAppFromAsar: boolean;
  loadBrowserProcessSpecificV8Snapshot: boolean;
  /** `file:` pages may do more than in a browser; ours come from `app:`. */
  grantFileProtocolExtraPrivileges: boolean;
}

export const FUSES: Fuses = {
  runAsNode: false,
  enableNodeOptionsEnvironmentVariable: false,
  enableNodeCliInspectArguments: false,
  enableCookieEncryption: true,
  enableEmbeddedAsarIntegrityValidation: true,
  onlyLoadAppFromAsar: true,
  loadBrowserProcessSpecificV8Snapshot: false,
  grantFileProtocolExtraPrivileges: false,
};
