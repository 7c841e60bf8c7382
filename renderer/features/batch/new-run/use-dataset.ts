import { useEffect, useRef, useState } from 'react';
import type { DatasetReport } from '#shared/contract/datasets.ts';
import { useClient, useConnection } from '../../../lib/engine-context.tsx';
import { uploadFile } from './upload.ts';

export type DatasetState =
  | { kind: 'none' }
  | { kind: 'uploading'; name: string; sent: number; size: number }
  | { kind: 'reading'; path: string }
  | { kind: 'ready'; report: DatasetReport }
  | { kind: 'failed'; error: unknown; path: string | null };

export interface DatasetChoice {
  state: DatasetState;
  inspect: (path: string) => void;
  upload: (file: File) => void;
  cancel: () => void;
  clear: () => void;
}

/** The dataset of the form: brought here or named by its path, then read by the engine. `onPath` gets the path that the run will use. */
export function useDataset(initialPath: string, onPath: (path: string) => void): DatasetChoice {
  const client = useClient();
  const { generation } = useConnection();
  const [state, setState] = useState<DatasetState>(initialPath ? { kind: 'reading', path: initialPath } : { kind: 'none' });
  const work = useRef<AbortController | null>(null);
  const reading = state.kind === 'reading' ? state.path : null;

  useEffect(() => {
    if (reading === null) return;
    const abort = new AbortController();
    client.datasets.inspect({ path: reading }, { signal: abort.signal }).then(
      (report) => !abort.signal.aborted && setState({ kind: 'ready', report }),
      (error: unknown) => !abort.signal.aborted && setState({ kind: 'failed', error, path: reading }),
    );
    return () => abort.abort();
    // Read again when the engine came back under the question.
  }, [client, reading, generation]);
  useEffect(() => () => work.current?.abort(), []);

  const inspect = (path: string): void => {
    work.current?.abort();
    onPath(path);
    setState({ kind: 'reading', path });
  };
  return {
    state,
    inspect,
    upload(file) {
      work.current?.abort();
      const abort = new AbortController();
      work.current = abort;
      onPath('');
      setState({ kind: 'uploading', name: file.name, sent: 0, size: file.size });
      uploadFile(
        client.datasets,
        file,
        (sent) => !abort.signal.aborted && setState({ kind: 'uploading', name: file.name, sent, size: file.size }),
        abort.signal,
      ).then(
        (path) => !abort.signal.aborted && inspect(path),
        (error: unknown) => !abort.signal.aborted && setState({ kind: 'failed', error, path: null }),
      );
    },
    cancel() {
      work.current?.abort();
      setState({ kind: 'none' });
    },
    clear() {
      work.current?.abort();
      onPath('');
      setState({ kind: 'none' });
    },
  };
}
