/** A refusal says so at once; longer answers that begin like one mostly help after all. */
const OPENING_CHARS = 240;
const LONGEST_REFUSAL_CHARS = 1_500;
const SHOWN_CHARS = 80;

const CANNOT = String.raw`(?:can(?:no|['’])t|can not|am (?:not able|unable)|['’]m (?:not able|unable)|won['’]t|will not|must (?:decline|refuse)|have to (?:decline|refuse)|am not (?:comfortable|allowed|permitted)|['’]m not (?:comfortable|allowed|permitted))`;
const HELP = String.raw`(?:help|assist|do (?:that|this)|comply|fulfil|provide|support|engage|participate|create|generate|write|answer|continue|discuss|share|offer|give)`;

/** At the beginning of an answer. Words of apology alone are no refusal, nor is one that a tool made ("I cannot find the file"). */
const OPENINGS: readonly RegExp[] = [
  new RegExp(String.raw`^(?:(?:i['’]m|i am|we['’]re|we are) (?:very |so |really |truly |deeply )?sorry|sorry|apologies|i apologi[sz]e|unfortunately)[,.;:!—– -]*(?:but |however,? )?(?:as an ai(?: language model| assistant| model)?,? )?(?:i|we) ?${CANNOT} (?:to )?${HELP}\b`, 'i'),
  new RegExp(String.raw`^(?:i|we) ?${CANNOT} (?:to )?(?:help|assist|comply|fulfil|engage|participate|support)\b(?! (?:you )?(?:until|unless|without)\b)`, 'i'),
  new RegExp(String.raw`^as an ai(?: language model| assistant| model)?,? (?:i|it) ?(?:${CANNOT}|do(?:es)?n['’]t have (?:the ability|personal)|do not have (?:the ability|personal))`, 'i'),
  /^i (?:must|have to|need to) (?:respectfully |politely )?(?:decline|refuse)\b/i,
  /^(?:this|your|that) (?:request|prompt|question) (?:violates|goes against|is against)\b/i,
  /^(?:非常|很|十分|真的|实在)?(?:抱歉|对不起|遗憾)[，,。！!：:\s]*(?:但是?|不过)?[，,\s]*(?:作为(?:一个|一名)?(?:人工智能|AI|语言模型)[^，,。]{0,12}[，,])?\s*(?:我|我们)?(?:目前|暂时|实在)?(?:无法|不能|没办法|没法|不可以|不会)(?:为您|为你|向您|向你|给您|给你|帮您|帮你|对此)?(?:继续)?(?:提供|协助|帮助|满足|完成|回答|生成|讨论|参与|执行|支持|帮)/,
  /^作为(?:一个|一名)?(?:人工智能|AI|ai|大?语言模型)[^。]{0,20}[，,]\s*我?(?:无法|不能|没办法|没有能力|不会)/,
  /^(?:我|我们)(?:无法|不能|拒绝|没办法)(?:为您|为你|帮您|帮你|对此)?(?:提供(?:此类|这类|该|这种|相关)?(?:帮助|协助|服务|内容|信息)|协助|满足|回答(?:这个|该|此类|您的|你的)|参与|讨论(?:这个|该|此类|这类))/,
];

/** The words with which an answer refuses the request; null when it does not. English and Chinese wordings, only at the beginning. */
export function findRefusal(answer: string): string | null {
  const text = answer.trim();
  if (text === '' || text.length > LONGEST_REFUSAL_CHARS) return null;
  const opening = text.slice(0, OPENING_CHARS).replace(/\s+/g, ' ').replace(/^[*_>#"“\s]+/, '');
  for (const pattern of OPENINGS) {
    const words = pattern.exec(opening)?.[0];
    if (words !== undefined) return words.length > SHOWN_CHARS ? `${words.slice(0, SHOWN_CHARS)}…` : words;
  }
  return null;
}
