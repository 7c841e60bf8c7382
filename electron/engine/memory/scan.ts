import { injectionSigns } from '../agent/prompt/injection.ts';
import { cutChars, entryId } from './text.ts';

export interface Scanned {
  /** Must not become part of a prompt. */
  blocked: boolean;
  /** What was found, in words. */
  warnings: string[];
}

/** Prompts never hold more of an entry than this: the limits of config.yaml end here. */
const SCANNED_CHARS = 100_000;
/** Longer texts are scanned in pieces: some signs look far, which costs the square of the length. */
const PIECE_CHARS = 16_000;
const OVERLAP_CHARS = 2_500;

/** Signs that also honest notes have, e.g. where a key lies. Tools ask before they touch such files, whatever the memory says. */
const ONLY_WARNS: readonly string[] = ['reads credentials'];

const CREDENTIAL_FILES = /(?:\.ssh\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|authorized_keys|\.aws\/credentials|\.netrc|\.pgpass|\.git-credentials|\/etc\/shadow|(?:^|[\s/`"'])\.env\b)/;
const PIPED_AWAY = /(?:\.ssh\/|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|credentials|\.netrc|\.env\b|\/etc\/shadow)[^\n]{0,200}\|\s*(?:curl|wget|nc|ncat|invoke-webrequest)\b/;
const FRAME = /^[ \t]*[═]{8,}/m;
const FRAME_HEADER = /^[ \t]*(?:memory \(your personal notes\)|user profile \(who the user is\)) \[/m;

const WARNS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['mentions files that hold keys', CREDENTIAL_FILES],
  ['seems to hold a key or password', /\bsk-[a-z0-9_-]{20,}|\bakia[0-9a-z]{16}\b|\bgh[pousr]_[a-z0-9]{30,}|\bhf_[a-z0-9]{30,}|-----begin (?:[a-z]+ )?private key-----|\b(?:password|passwd|passphrase|密码)\s*(?:is|[:=：])\s*\S{6,}/],
];

const seen = new Map<string, Scanned>();
const REMEMBERED = 1_000;

/**
 * Looks an entry over before it may become part of a system prompt. Every text is looked over, also one that says of itself that it was
 * blocked. Pure; the last results are remembered.
 */
export function scanEntry(text: string): Scanned {
  const id = entryId(text);
  const known = seen.get(id);
  if (known) return known;
  const found = look(cutChars(text, SCANNED_CHARS));
  if (seen.size >= REMEMBERED) seen.clear();
  seen.set(id, found);
  return found;
}

function look(text: string): Scanned {
  const signs = new Set<string>();
  const warnings = new Set<string>();
  for (let at = 0; at === 0 || at < text.length; at += PIECE_CHARS) {
    const piece = text.slice(Math.max(0, at - OVERLAP_CHARS), at + PIECE_CHARS);
    const plain = piece.normalize('NFKC').replace(/[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/g, '').toLowerCase();
    for (const sign of injectionSigns(piece)) (ONLY_WARNS.includes(sign) ? warnings : signs).add(sign);
    if (FRAME.test(plain) || FRAME_HEADER.test(plain)) signs.add('imitates the frame of the memory in the prompt');
    if (PIPED_AWAY.test(plain)) signs.add('sends secrets away');
    for (const [what, pattern] of WARNS) if (pattern.test(plain)) warnings.add(what);
  }
  return { blocked: signs.size > 0, warnings: [...signs, ...warnings] };
}
