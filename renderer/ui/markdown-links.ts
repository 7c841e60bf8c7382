/** Where a link of hostile text may lead: only to the web or to mail, and the host is always told. */
export interface SafeLink {
  href: string;
  /** Host, or mail address. */
  host: string;
}

/** Null for everything that is not an absolute http(s) or mailto address (javascript:, data:, files, anchors of this page). */
export function safeLink(href: string | undefined): SafeLink | null {
  if (!href) return null;
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return null;
  }
  if (url.protocol === 'mailto:') return { href: url.href, host: decodeURIComponent(url.pathname) };
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.host === '') return null;
  // A name before an @ is there to look like the host.
  url.username = '';
  url.password = '';
  return { href: url.href, host: url.host };
}

/** Whether the visible text of a link already tells its host, so that it need not be told again. */
export function tellsHost(text: string, host: string): boolean {
  const plain = text.trim();
  const link = safeLink(plain) ?? safeLink(`https://${plain}`);
  return plain === host || (link !== null && link.host === host && !plain.includes('@'));
}

/** The host of an image that will not be fetched; "data" for embedded ones; null when there is none to tell. */
export function imageHost(src: string | undefined): string | null {
  if (!src) return null;
  if (src.startsWith('data:')) return 'data';
  return safeLink(src)?.host ?? null;
}
