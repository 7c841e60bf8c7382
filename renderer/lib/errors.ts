import { ORPCError } from '@orpc/client';
import type { TFunction } from 'i18next';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { EngineGoneError } from './client.ts';

/** What to tell a person about a failed call: the engine's own sentence, or ours when the engine is away. */
export function errorText(error: unknown, t: TFunction<'app'>): string {
  if (error instanceof EngineGoneError) return t(error.code === 'offline' ? 'error.engineAway' : 'error.engineLost');
  if (error instanceof ORPCError) return error.message;
  if (error instanceof Error) return error.message;
  return String(error);
}

/** `errorText` in the page's language, for components that speak another namespace. */
export function useErrorText(): (error: unknown) => string {
  const { t } = useTranslation('app');
  return useCallback((error) => errorText(error, t), [t]);
}

/** The field an INVALID error points at, when it does. */
export function errorField(error: unknown): string | null {
  if (!(error instanceof ORPCError)) return null;
  const data: unknown = error.data;
  if (typeof data !== 'object' || data === null || !('field' in data)) return null;
  return typeof data.field === 'string' ? data.field : null;
}
