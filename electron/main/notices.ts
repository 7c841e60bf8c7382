import { Notification } from 'electron';
import type { BrowserWindow } from 'electron';
import { SHELL_OPEN } from '#shared/shell.ts';
import type { ShellNotice } from '#shared/shell.ts';
import { readNotice } from './notice.ts';
import { showWindow } from './window.ts';

export interface SystemNotices {
  /** Takes what the page sent, whatever it is. */
  fromPage(data: unknown): void;
  /** What is worth telling without a window. */
  fromEngine(notice: ShellNotice): void;
}

/**
 * Shows what the page says of chats in the background as notifications of the system; one that is pressed brings the window to the
 * front and its chat into it.
 * @param openAt opens a window at a place of the page, when there is none
 */
export function systemNotices(window: () => BrowserWindow | undefined, openAt: (place: string) => void): SystemNotices {
  // Held until they are gone: a notification that is collected loses its click.
  const open = new Set<Notification>();
  const show = (notice: ShellNotice): void => {
    if (!Notification.isSupported()) return;
    const notification = new Notification({ title: notice.title, body: notice.body });
    open.add(notification);
    const forget = (): void => void open.delete(notification);
    notification.on('click', () => {
      forget();
      const shown = window();
      if (!shown) return openAt(notice.place);
      showWindow(shown);
      shown.webContents.send(SHELL_OPEN, notice.place);
    });
    notification.on('close', forget);
    notification.show();
  };
  return {
    fromPage(data) {
      const notice = readNotice(data);
      // Somebody at the window has the toast of the page.
      if (notice !== null && !window()?.isFocused()) show(notice);
    },
    fromEngine(notice) {
      // With a window its page tells.
      if (window() === undefined) show(notice);
    },
  };
}
