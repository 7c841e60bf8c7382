import { useState } from 'react';
import type { AppStatus } from '#shared/contract/app.ts';
import { useStream } from '../../lib/engine-context.tsx';

/** The live numbers of the status line; null until the engine said them once. */
export function useAppStatus(): AppStatus | null {
  const [status, setStatus] = useState<AppStatus | null>(null);
  useStream((client, signal) => client.app.status(undefined, { signal }), setStatus, []);
  return status;
}
