import { ipcMain, MessageChannelMain } from 'electron';
import type { MessagePortMain } from 'electron';
import type { Logger } from '#engine/store/types.ts';
import { SHELL_CONNECT, SHELL_PORT } from '#shared/shell.ts';
import { isOwnTopFrame } from './origin.ts';

/**
 * The one place where main hears the page. It knows a single request: a port to the engine, which only the top frame of
 * our own page gets.
 * @param connect gives one end of a channel to the engine; false when there is no engine to give it to
 */
export function servePorts(connect: (port: MessagePortMain) => boolean, log: Logger): void {
  ipcMain.on(SHELL_CONNECT, (event) => {
    const frame = event.senderFrame;
    if (frame === null || !isOwnTopFrame(event.sender, frame)) {
      log.error('Refused a port to a frame that is not our own page');
      return;
    }
    const { port1, port2 } = new MessageChannelMain();
    if (connect(port1)) frame.postMessage(SHELL_PORT, null, [port2]);
    else port1.close();
  });
}
