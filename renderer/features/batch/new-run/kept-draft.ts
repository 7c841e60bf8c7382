import { draftFromJson, type RunDraft } from './draft.ts';

const KEY = 'talaria.newRun';

/** The form as it was left in this window; null when none was. It holds no keys. */
export function keptDraft(): RunDraft | null {
  try {
    const json = window.sessionStorage.getItem(KEY);
    return json === null ? null : draftFromJson(json);
  } catch {
    return null;
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
