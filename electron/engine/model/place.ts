/** Lower-case host name of a base URL, without port; the text itself when it is no URL. */
export function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname.toLowerCase() : baseUrl;
}

/** Host with port as a person would write it; never with user name, password or query. */
export function placeOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : 'the base URL';
}
