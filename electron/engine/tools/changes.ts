const MAX_TRIES = 20;

const last = new Map<string, Promise<unknown>>();

/** Changes of the files of one workspace follow one another, whichever agent of this program makes them. Only for the writing itself: nothing in it may ask or wait. */
export async function alone<T>(root: string, change: () => Promise<T>): Promise<T> {
  const mine = (last.get(root) ?? Promise.resolve()).then(change);
  const settled = mine.catch(() => undefined);
  last.set(root, settled);
  try {
    return await mine;
  } finally {
    if (last.get(root) === settled) last.delete(root);
  }
}

/** A file is not any more what the change was made for. */
export class StaleError extends Error {
  constructor(path: string) {
    super(`"${path}" was changed by somebody else again and again meanwhile. Nothing was changed. Read it, and try once more.`);
    this.name = 'StaleError';
  }
}

/** Works the change out anew while another agent is faster. @throws StaleError after some tries. */
export async function whileOthersChange<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StaleError) || tries >= MAX_TRIES) throw error;
    }
  }
}
