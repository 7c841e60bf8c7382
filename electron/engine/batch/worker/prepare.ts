import type { RunSpec } from '#shared/contract/runs.ts';
import type { Message } from '#shared/trajectory.ts';
import { bubblewrapMissing } from '../../sandbox/bubblewrap.ts';
import { BatchError } from '../errors.ts';
import { readPrefill } from './prefill.ts';

/**
 * What a pass needs before its first rollout, looked at once.
 * @throws BatchError `invalid` with the field: messages that cannot be used, a sandbox that does not work on this machine.
 */
export async function preparePass(spec: Pick<RunSpec, 'prefillMessagesFile' | 'sandbox'>): Promise<{ prefill: Message[] }> {
  const missing = spec.sandbox === 'bubblewrap' ? await bubblewrapMissing() : null;
  if (missing !== null) throw new BatchError('invalid', missing, { field: 'sandbox' });
  return { prefill: spec.prefillMessagesFile === undefined ? [] : await readPrefill(spec.prefillMessagesFile) };
}
