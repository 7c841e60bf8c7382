import type { Session } from 'electron';
import { isOwnUrl } from './origin.ts';

type CheckHandler = NonNullable<Parameters<Session['setPermissionCheckHandler']>[0]>;
type RequestHandler = NonNullable<Parameters<Session['setPermissionRequestHandler']>[0]>;
export type PermissionName = Parameters<CheckHandler>[1] | Parameters<RequestHandler>[1];

/** Every permission that Electron knows. A new one breaks the build here and is decided by a person. */
export const PERMISSIONS = {
  ar: 'deny',
  'automatic-fullscreen': 'deny',
  'background-fetch': 'deny',
  'background-sync': 'deny',
  'captured-surface-control': 'deny',
  'clipboard-read': 'deny',
  'clipboard-sanitized-write': 'own page',
  'deprecated-sync-clipboard-read': 'deny',
  'display-capture': 'deny',
  fileSystem: 'deny',
  fullscreen: 'deny',
  geolocation: 'deny',
  'geolocation-approximate': 'deny',
  'hand-tracking': 'deny',
  hid: 'deny',
  'idle-detection': 'deny',
  keyboardLock: 'deny',
  'local-fonts': 'deny',
  'local-network': 'deny',
  'local-network-access': 'deny',
  'loopback-network': 'deny',
  media: 'deny',
  mediaKeySystem: 'deny',
  midi: 'deny',
  midiSysex: 'deny',
  nfc: 'deny',
  notifications: 'deny',
  openExternal: 'deny',
  'payment-handler': 'deny',
  'periodic-background-sync': 'deny',
  'persistent-storage': 'deny',
  pointerLock: 'deny',
  'screen-wake-lock': 'deny',
  sensors: 'deny',
  serial: 'deny',
  'smart-card': 'deny',
  'speaker-selection': 'deny',
  'storage-access': 'deny',
  'system-wake-lock': 'deny',
  'top-level-storage-access': 'deny',
  unknown: 'deny',
  usb: 'deny',
  vr: 'deny',
  'web-app-installation': 'deny',
  'web-printing': 'deny',
  'window-management': 'deny',
} as const satisfies Record<PermissionName, 'deny' | 'own page'>;

/** Whether a page may use a permission. A name that is not in the table (a newer Electron) is denied. */
export function allowsPermission(name: string, requestingUrl: string): boolean {
  return Object.hasOwn(PERMISSIONS, name) && PERMISSIONS[name as PermissionName] === 'own page' && isOwnUrl(requestingUrl);
}

/** Electron grants whatever is not handled, so every kind of request gets its handler. */
export function installPermissions(
  session: Pick<
    Session,
    | 'setPermissionCheckHandler'
    | 'setPermissionRequestHandler'
    | 'setDevicePermissionHandler'
    | 'setDisplayMediaRequestHandler'
    | 'setBluetoothPairingHandler'
  >,
): void {
  session.setPermissionCheckHandler((_contents, name, origin) => allowsPermission(name, origin));
  session.setPermissionRequestHandler((_contents, name, reply, details) => {
    reply(details.isMainFrame && allowsPermission(name, details.requestingUrl));
  });
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, reply) => reply(null));
  session.setBluetoothPairingHandler((_details, reply) => reply({ confirmed: false }));
}
