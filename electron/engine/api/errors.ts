import { ORPCError } from '@orpc/server';
import { ConfigError } from '../store/config.ts';
import { HomeError } from '../store/home.ts';

const CODES: Record<string, 'NOT_FOUND' | 'INVALID' | 'CONFLICT' | 'UNAVAILABLE'> = {
  not_found: 'NOT_FOUND',
  invalid: 'INVALID',
  conflict: 'CONFLICT',
  exists: 'CONFLICT',
  unavailable: 'UNAVAILABLE',
  failed: 'UNAVAILABLE',
};

/**
 * The contract's error for an expected failure of a service: an Error with a `code` of those above, and perhaps the `field` at fault; or a
 * file of the home that cannot be written.
 * Anything else is unexpected and goes on as it is.
 */
export function toContractError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ORPCError) return error;
  if (error instanceof ConfigError || error instanceof HomeError) return new ORPCError('UNAVAILABLE', { defined: true, message: error.message });
  const code = CODES[String((error as { code?: unknown }).code ?? '').toLowerCase()];
  if (!code) return error;
  const field = (error as { field?: string }).field;
  return new ORPCError(code, { defined: true, message: error.message, data: field ? { field } : undefined });
}
