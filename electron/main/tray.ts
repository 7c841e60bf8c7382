import type { MenuItemConstructorOptions } from 'electron';
import type { Logger } from '#engine/store/types.ts';
import { type EngineWork, NO_WORK } from './engine-messages.ts';
import type { Words } from './strings.ts';

export interface TrayParts {
  /** Puts the icon into the tray. Throws where the system has none. */
  create(): { setToolTip(text: string): void; setMenu(template: MenuItemConstructorOptions[]): void; onClick(work: () => void): void; destroy(): void };
  words: Words;
  /** What the engine works on, asked for at this moment. */
  work(): Promise<EngineWork>;
  windowOpen(): boolean;
  /** Opens the window, or brings it to the front. */
  open(): void;
  quit(): void;
  log: Logger;
}

/** The app without its window: it stays in the tray while agents work, if the person wants that, and quits else. */
export class WorkTray {
  readonly #parts: TrayParts;
  #tray: ReturnType<TrayParts['create']> | null = null;
  #work = NO_WORK;
  /** The window was closed while agents worked: the tray is the way back, also when they have ended. */
  #staying = false;
  #failed = false;

  constructor(parts: TrayParts) {
    this.#parts = parts;
  }

  /** The engine says what it works on. */
  worked(work: EngineWork): void {
    this.#work = work;
    this.#show();
  }

  opened(): void {
    this.#staying = false;
    this.#show();
  }

  /** The last window was closed: stays, or quits. */
  async windowsClosed(): Promise<void> {
    const work = await this.#parts.work();
    if (this.#parts.windowOpen()) return;
    if (!work.keep || work.agents + work.tasks === 0) return this.#parts.quit();
    this.#staying = true;
    this.worked(work);
  }

  #show(): void {
    if (!this.#staying && !(this.#work.keep && this.#work.tasks > 0)) {
      this.#tray?.destroy();
      this.#tray = null;
      return;
    }
    const parts = this.#parts;
    if (this.#tray === null && !this.#create()) return;
    const doing = doingOf(this.#work, parts.words);
    this.#tray?.setToolTip(`Talaria: ${doing}`);
    this.#tray?.setMenu([
      { id: 'open', label: parts.words.open, click: () => parts.open() },
      { id: 'doing', label: doing, enabled: false },
      { type: 'separator' },
      { id: 'quit', label: parts.words.quit, click: () => parts.quit() },
    ]);
  }

  /** Without a tray the app goes on all the same: starting it again shows its window. */
  #create(): boolean {
    if (this.#failed) return false;
    try {
      this.#tray = this.#parts.create();
      this.#tray.onClick(() => this.#parts.open());
      return true;
    } catch (error) {
      this.#failed = true;
      this.#parts.log.error('There is no tray to put the icon into', error);
      return false;
    }
  }
}

function doingOf({ tasks, agents }: EngineWork, words: Words): string {
  if (tasks === 1) return words.oneTask;
  if (tasks > 1) return words.tasks.replace('{n}', String(tasks));
  return agents > 0 ? words.working : words.atRest;
}
