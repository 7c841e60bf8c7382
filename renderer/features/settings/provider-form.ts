import type { Provider } from '#shared/contract/settings.ts';

/** The provider form as typed. An empty key means "as it is"; forgetting is said by `forgetKey`. */
export interface ProviderForm {
  name: string;
  baseUrl: string;
  apiKey: string;
  forgetKey: boolean;
  defaultModel: string;
}

export function formOf(provider: Provider | null): ProviderForm {
  return {
    name: provider?.name ?? '',
    baseUrl: provider?.baseUrl ?? '',
    apiKey: '',
    forgetKey: false,
    defaultModel: provider?.defaultModel ?? '',
  };
}

export type ProviderProblem = 'name' | 'nameLong' | 'baseUrl' | 'credentials';

/** What is wrong with the form, by field; empty when it can be saved. */
export function problemsOf(form: ProviderForm): { name?: ProviderProblem; baseUrl?: ProviderProblem } {
  const problems: { name?: ProviderProblem; baseUrl?: ProviderProblem } = {};
  if (form.name.trim() === '') problems.name = 'name';
  else if (form.name.trim().length > 60) problems.name = 'nameLong';
  const url = URL.parse(form.baseUrl.trim());
  if (!url || !['http:', 'https:'].includes(url.protocol)) problems.baseUrl = 'baseUrl';
  else if (url.username || url.password) problems.baseUrl = 'credentials';
  return problems;
}

/** The form's key as the contract wants it: absent = keep, empty = forget. */
export function keyToSend(form: ProviderForm): { apiKey?: string } {
  if (form.apiKey.trim() !== '') return { apiKey: form.apiKey.trim() };
  return form.forgetKey ? { apiKey: '' } : {};
}

/** Host and port of a base URL, for lists. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host || url;
}
