import type { Provider, ProviderLimits, Routing } from '#shared/contract/settings.ts';

/** The provider form as typed. An empty key means "as it is"; forgetting is said by `forgetKey`. */
export interface ProviderForm {
  name: string;
  baseUrl: string;
  apiKey: string;
  forgetKey: boolean;
  defaultModel: string;
  /** Numbers as typed; empty = no limit. */
  limits: Record<LimitNumber, string>;
  fallback: string;
  routing: RoutingForm;
}

export const LIMIT_NUMBERS = ['concurrency', 'requestsPerMinute', 'tokensPerMinute', 'contextLength'] as const;
export type LimitNumber = (typeof LIMIT_NUMBERS)[number];

export const ROUTING_LISTS = ['order', 'only', 'ignore', 'quantizations'] as const;
/** OpenRouter's routing as typed: names with commas between them, and answers to yes-or-no questions. */
export interface RoutingForm extends Record<(typeof ROUTING_LISTS)[number], string> {
  sort: NonNullable<Routing['sort']> | '';
  /** Their own fallbacks are off. */
  noFallbacks: boolean;
  requireParameters: boolean;
  denyData: boolean;
}

export function formOf(provider: Provider | null): ProviderForm {
  return {
    name: provider?.name ?? '',
    baseUrl: provider?.baseUrl ?? '',
    apiKey: '',
    forgetKey: false,
    defaultModel: provider?.defaultModel ?? '',
    limits: numbersOf(provider?.limits),
    fallback: provider?.limits.fallback ?? '',
    routing: routingFormOf(provider?.limits.routing ?? null),
  };
}

function numbersOf(limits: ProviderLimits | undefined): Record<LimitNumber, string> {
  const text = (name: LimitNumber): string => limits?.[name]?.toString() ?? '';
  return {
    concurrency: text('concurrency'),
    requestsPerMinute: text('requestsPerMinute'),
    tokensPerMinute: text('tokensPerMinute'),
    contextLength: text('contextLength'),
  };
}

function routingFormOf(routing: Routing | null): RoutingForm {
  const list = (name: (typeof ROUTING_LISTS)[number]): string => routing?.[name]?.join(', ') ?? '';
  return {
    order: list('order'),
    only: list('only'),
    ignore: list('ignore'),
    quantizations: list('quantizations'),
    sort: routing?.sort ?? '',
    noFallbacks: routing?.allow_fallbacks === false,
    requireParameters: routing?.require_parameters === true,
    denyData: routing?.data_collection === 'deny',
  };
}

/** The limits of a form as the contract wants them; routing only for OpenRouter, else what was there stays. */
export function limitsToSend(form: ProviderForm, before: ProviderLimits | null): ProviderLimits {
  const number = (name: LimitNumber): number | null => (form.limits[name] === '' ? null : Number(form.limits[name]));
  return {
    contextLength: number('contextLength'),
    concurrency: number('concurrency'),
    requestsPerMinute: number('requestsPerMinute'),
    tokensPerMinute: number('tokensPerMinute'),
    fallback: form.fallback.trim() || null,
    routing: isOpenRouter(form.baseUrl) ? routingToSend(form.routing) : (before?.routing ?? null),
  };
}

function routingToSend(form: RoutingForm): Routing {
  const names = (text: string): string[] => text.split(/[,，\n]/).map((name) => name.trim()).filter((name) => name !== '');
  const lists = Object.fromEntries(ROUTING_LISTS.map((name) => [name, names(form[name])]).filter(([, list]) => list !== undefined && list.length > 0));
  return {
    ...lists,
    ...(form.sort === '' ? {} : { sort: form.sort }),
    ...(form.noFallbacks ? { allow_fallbacks: false } : {}),
    ...(form.requireParameters ? { require_parameters: true } : {}),
    ...(form.denyData ? { data_collection: 'deny' as const } : {}),
  };
}

/** Whether anything under "Limits and fallback" is set. */
export function hasLimits(form: ProviderForm): boolean {
  return form.fallback !== '' || Object.values(form.limits).some((text) => text !== '') || (isOpenRouter(form.baseUrl) && Object.keys(routingToSend(form.routing)).length > 0);
}

export function isOpenRouter(baseUrl: string): boolean {
  return /^(?:.+\.)?openrouter\.ai$/.test(URL.parse(baseUrl.trim())?.hostname ?? '');
}

export type ProviderProblem = 'name' | 'nameLong' | 'baseUrl' | 'credentials' | 'atLeastOne' | 'contextShort' | 'route';
export type ProblemField = 'name' | 'baseUrl' | 'fallback' | LimitNumber;

const LEAST_CONTEXT_TOKENS = 1000;

/** What is wrong with the form, by field; empty when it can be saved. */
export function problemsOf(form: ProviderForm): Partial<Record<ProblemField, ProviderProblem>> {
  const problems: Partial<Record<ProblemField, ProviderProblem>> = {};
  if (form.name.trim() === '') problems.name = 'name';
  else if (form.name.trim().length > 60) problems.name = 'nameLong';
  const url = URL.parse(form.baseUrl.trim());
  if (!url || !['http:', 'https:'].includes(url.protocol)) problems.baseUrl = 'baseUrl';
  else if (url.username || url.password) problems.baseUrl = 'credentials';
  for (const name of LIMIT_NUMBERS) {
    const text = form.limits[name];
    if (text === '') continue;
    if (name === 'contextLength' && Number(text) < LEAST_CONTEXT_TOKENS) problems[name] = 'contextShort';
    else if (Number(text) < 1) problems[name] = 'atLeastOne';
  }
  if (form.fallback.trim() !== '' && !/^[^/\s]+\/\S/.test(form.fallback.trim())) problems.fallback = 'route';
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
