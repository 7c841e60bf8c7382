import { ipcMain, MessageChannelMain } from 'electron';
import type { IpcMainEvent, MessagePortMain, WebFrameMain } from 'electron';
import type { Logger } from '#engine/store/types.ts';
import { SHELL_CONNECT, SHELL_NOTIFY, SHELL_PORT } from '#shared/shell.ts';
import { isOwnTopFrame } from './origin.ts';

/**
 * The one place where main hears the page. It knows two requests, a port to the engine and a notification, and hears only the top
 * frame of our own page.
 * @param connect gives one end of a channel to the engine; false when there is no engine to give it to
 * @param notify gets what the page wants to be shown, unchecked
 */
export function servePage(connect: (port: MessagePortMain) => boolean, notify: (data: unknown) => void, log: Logger): void {
  const ownFrame = (event: IpcMainEvent, wanted: string): WebFrameMain | null => {
    const frame = event.senderFrame;
    if (frame !== null && isOwnTopFrame(event.sender, frame)) return frame;
    log.error(`Refused a ${wanted} to a frame that is not our own page`);
    return null;
  };
  ipcMain.on(SHELL_CONNECT, (event) => {
    const frame = ownFrame(event, 'port');
    if (frame === null) return;
    const { port1, port2 } = new MessageChannelMain();
    if (connect(port1)) frame.postMessage(SHELL_PORT, null, [port2]);
    else port1.close();
  });
  ipcMain.on(SHELL_NOTIFY, (event, data: unknown) => {
    if (ownFrame(event, 'notification') !== null) notify(data);
  });
}
