/** Kinds of the surroundings that fail today and work tomorrow. */
const THING = /\b(?:the )?(?:tools?|terminal|sandbox|shell|browser|network|internet|connection|server|api|provider|model|(?:web_)?search|read_file|write_file|[a-z]+_[a-z_]+|command)\b/;
const FAILS = /\b(?:(?:does|do|did|is|are|was|were|can)(?: not|n't|not)? (?:currently |always |often )?(?:work(?:ing)?|available|installed|reachable|supported|usable|accessible|connect)|(?:is|are|was|were) (?:currently |always |often )?(?:broken|down|unavailable|unreachable|unreliable|offline|rate.?limited|flaky)|(?:keeps?|kept) failing|fails? (?:every time|always|with)|timed? ?out|times out|not found)\b/;
const NEGATED = /\b(?:not|n't|cannot|broken|down|unavailable|unreachable|unreliable|offline|rate.?limited|flaky|fail\w*|timed? ?out|times out)\b|n't\b/;
/** A way out is what is worth keeping. */
const WAY_OUT = /\b(?:instead|use|run|set|pass|add|install|retry|because|fix(?:ed)?|solved?|works? (?:with|when|if|after)|so that|then|first|workaround|resolved)\b/;

const THING_ZH = /(?:工具|终端|沙箱|浏览器|网络|连接|服务器|接口|模型|命令)/;
const FAILS_ZH = /(?:不能用|无法使用|不可用|坏了|没有安装|未安装|连不上|无法连接|超时|总是失败)/;
const WAY_OUT_ZH = /(?:改用|使用|运行|设置|安装后|解决|因为|先|然后)/;

const SECRETS = [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/, /\b(?:gh[pousr]_|github_pat_|hf_|gsk_|xai-|nvapi-|AIza|AKIA|xox[baprs]-)[A-Za-z0-9_-]{12,}/, /\b(?:password|passwd|api[_ -]?key|secret|token)\s*(?:is|=|:)\s*["']?[^\s"'<>${}]{8,}/i];

/**
 * Why a text must not be kept, as a sentence for the review agent; null when it may. Only what is certain: a short claim that something
 * of the surroundings does not work, without a way out, and secrets. The rest is in the agent's instructions.
 */
export function notToBeKept(text: string, { short }: { short: boolean }): string | null {
  if (SECRETS.some((pattern) => pattern.test(text))) return 'This holds something that looks like a key or a password. Secrets are never kept: say where it is found, not what it is.';
  if (!short) return null;
  const plain = text.normalize('NFKC').replace(/[’]/g, "'").toLowerCase();
  const claim = (THING.test(plain) && FAILS.test(plain) && NEGATED.test(plain) && !WAY_OUT.test(plain)) || (THING_ZH.test(plain) && FAILS_ZH.test(plain) && !WAY_OUT_ZH.test(plain));
  return claim ? 'This says that something of the surroundings does not work. Such failures pass, and the note would keep later sessions from trying. Keep only what solved it; if nothing did, keep nothing.' : null;
}
