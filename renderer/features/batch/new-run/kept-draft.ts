import { draftFromJson, type RunDraft } from './draft.ts';

const KEY = 'talaria.newRun';

/** The form as it was left in this window. It holds no keys. */
export function keptDraft(): RunDraft {
  try {
    return draftFromJson(window.sessionStorage.getItem(KEY));
  } catch {
    return draftFromJson(null);
  }
}

export function keepDraft(draft: RunDraft): void {
  try {
    window.sessionStorage.setItem(KEY, JSON.stringify(draft));
  } catch {
    // Only comfort is lost.
  }
}

export function forgetDraft(): void {
  try {
    window.sessionStorage.removeItem(KEY);
  } catch {
    // Nothing kept, nothing to forget.
  }
}
