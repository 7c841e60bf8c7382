/**
 * Signs that a text which becomes part of a system prompt tries to take over the agent. A filter for the careless attack, not a proof of
 * harmlessness: the person is told what was found and can read the file. Sources of the kinds: context scan of Hermes Agent, "Trojan
 * Source" (bidi controls), ASCII smuggling by tag characters.
 */
const SIGNS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['asks to ignore earlier instructions', /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|system|safety|all|any|your)\b.{0,30}\b(?:instructions?|prompts?|rules?|directions?|guidelines?|restrictions?|messages?)\b/],
  ['asks to ignore earlier instructions', /(?:忽略|无视|忘记|忘掉|不要理会).{0,12}(?:之前|以上|先前|前面|上述|所有|系统|原有).{0,12}(?:指令|指示|提示|规则|要求|限制|命令)/],
  ['asks to hide things from the person', /\b(?:do not|don't|never|without)\b.{0,20}\b(?:tell|telling|inform|informing|reveal|mention|mentioning|notify|notifying|alert|alerting)\b.{0,20}\b(?:user|person|human|operator|owner)\b/],
  ['asks to hide things from the person', /(?:不要|别|勿|不得)[^。！？；，,.!?;\s]{0,4}(?:告诉|告知|通知|透露给?)(?:用户|使用者|主人)/],
  ['claims a new role or a new system prompt', /\b(?:you are now (?:in )?(?:dan\b|developer mode|jailbroken|unrestricted|free of)|(?:new|updated|real) system prompt\b|system prompt override|act as if you have no (?:rules|restrictions|limits))/],
  ['holds control tokens of chat templates', /<\|(?:im_start|im_end|system|endoftext|eot_id|start_header_id)\|>|\[\/?inst\]|<<sys>>|<\/?system(?:_prompt)?>/],
  ['sends secrets away', /\b(?:curl|wget|nc|ncat|fetch|invoke-webrequest)\b.{0,200}(?:\$\{?\w*(?:key|token|secret|passw|credential)\w*|\.env\b|id_rsa|id_ed25519|\.netrc|credentials)/],
  ['sends secrets away', /\b(?:send|post|upload|exfiltrate|forward|leak|transmit|e-?mail)\b.{0,60}\b(?:secrets?|api[ _-]?keys?|tokens?|credentials?|passwords?|private keys?|env(?:ironment)? variables|\.env)\b.{0,60}(?:\bto\b|https?:)/],
  ['reads credentials', /\b(?:cat|type|less|head|tail|base64|xxd|cp|scp)\b[^\n]{0,60}(?:\.ssh\/id_|\.aws\/credentials|\.netrc|\.pgpass|\/etc\/shadow|(?:^|[\s/])\.env\b|\.npmrc|\.git-credentials)/],
  ['runs what it hides', /\b(?:base64\s+(?:-d|-D|--decode)|xxd\s+-r)\b[^\n]{0,80}\|\s*(?:ba|z|da)?sh\b|\b(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b.{0,60}\b(?:silently|quietly|before anything|always|first)\b/],
  ['hides text', /<[a-z][^>]{0,200}style\s*=\s*["'][^"']{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0\b)/],
];

/** Zero-width space and joiner-like fillers, soft controls, bidi overrides and isolates; not ZWJ and ZWNJ, which scripts and emoji need. */
const INVISIBLE = /[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufff9-\ufffb]|(?!^)\ufeff/;
/**
 * Letters that models read and people do not see: tag characters outside a flag (🏴 and a few tags; bounded, for a run of them may be long), and
 * variation selectors that select nothing: several of them, or those of ideographs behind something else.
 */
const TAGS = /(?<!\u{1f3f4}[\u{e0020}-\u{e007f}]{0,40})[\u{e0000}-\u{e007f}]|(?<!\p{sc=Han})[\u{e0100}-\u{e01ef}]|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2}/u;

const ORDERS = /\b(?:ignore|override|disregard|you must|you should|assistant|agent|system prompt|secret|exfiltrate|execute|do not tell)\b/;

/** Insides of HTML comments. Not by one pattern: that takes the square of the length for text made of comment beginnings. */
function* commentsOf(text: string): Generator<string> {
  for (let at = text.indexOf('<!--'); at >= 0; ) {
    const end = text.indexOf('-->', at + 4);
    if (end < 0) return;
    yield text.slice(at + 4, end);
    at = text.indexOf('<!--', end + 3);
  }
}

/** What is suspicious about a text, each kind once, in words; empty when nothing is. */
export function injectionSigns(text: string): string[] {
  const found = new Set<string>();
  if (INVISIBLE.test(text) || TAGS.test(text)) found.add('holds invisible characters');
  const plain = text.normalize('NFKC').replace(/[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/g, '').toLowerCase();
  // line breaks inside a sentence must not hide it, but commands end with their line
  const joined = plain.replace(/\s+/g, ' ');
  for (const [what, pattern] of SIGNS) if (pattern.test(plain) || pattern.test(joined)) found.add(what);
  for (const comment of commentsOf(joined)) if (ORDERS.test(comment)) found.add('gives orders in an HTML comment');
  return [...found];
}
