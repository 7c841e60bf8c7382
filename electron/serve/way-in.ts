/** The plain pages before the app: how to get in, and the step from the link to the app. */

type Language = 'en' | 'zh-CN';

const TEXTS: Record<Language, { title: string; noSession: string; usedUp: string; how: string; then: string; entering: string }> = {
  en: {
    title: 'Talaria is running here',
    noSession: 'This browser has not been let in yet.',
    usedUp: 'That link has been used already, or it is too old. Each link works once.',
    how: 'In a terminal on the machine that runs Talaria, run this again:',
    then: 'It prints a new link. Open that link in this browser.',
    entering: 'Opening Talaria …',
  },
  'zh-CN': {
    title: 'Talaria 正在此处运行',
    noSession: '此浏览器尚未获准进入。',
    usedUp: '该链接已被使用或已过期。每个链接只能使用一次。',
    how: '请在运行 Talaria 的机器上打开终端，再次运行：',
    then: '它会显示一个新链接。请在此浏览器中打开该链接。',
    entering: '正在打开 Talaria …',
  },
};

/** The first of our languages that an Accept-Language header asks for; English otherwise. */
function languageOf(header: string | undefined): Language {
  const first = (header ?? '').split(',').map((part) => part.trim().toLowerCase()).find((part) => /^(zh|en)\b/.test(part));
  return first?.startsWith('zh') ? 'zh-CN' : 'en';
}

/** Tells who has no session how to get one. The style element carries the nonce of the policy. */
export function noEntryPage(reason: 'no_session' | 'used_up', acceptLanguage: string | undefined, styleNonce: string): string {
  const language = languageOf(acceptLanguage);
  const { title, noSession, usedUp, how, then } = TEXTS[language];
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Talaria</title>
<link rel="icon" href="data:,">
<style nonce="${styleNonce}">
body { font: 16px/1.6 system-ui, sans-serif; max-width: 34rem; margin: 20vh auto 0; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; }
code { display: inline-block; font: 1rem ui-monospace, monospace; padding: .5rem .9rem; border: 1px solid; border-radius: .4rem; }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${reason === 'used_up' ? usedUp : noSession}</p>
<p>${how}</p>
<p><code>npm start</code></p>
<p>${then}</p>
</main>
</body>
</html>
`;
}

/** Goes on to the app by itself: a redirect would not carry the Strict cookie when the link was clicked on another site. */
export function enteringPage(acceptLanguage: string | undefined): string {
  const language = languageOf(acceptLanguage);
  return `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/"><title>Talaria</title></head>
<body><p>${TEXTS[language].entering} <a href="/">Talaria</a></p></body></html>
`;
}
