import { useEffect, useRef, useState } from 'react';
import type { DatasetReport } from '#shared/contract/datasets.ts';
import { useClient, useConnection } from '../../../lib/engine-context.tsx';
import type { Mapping } from './mapping.ts';
import { uploadFile } from './upload.ts';

export type DatasetState =
  | { kind: 'none' }
  | { kind: 'uploading'; name: string; sent: number; size: number }
  | { kind: 'reading'; path: string }
  /** `of`: what was said of its columns when it was read. While `busy` it is read again with what is said now. */
  | { kind: 'ready'; report: DatasetReport; of: string; busy: boolean }
  | { kind: 'failed'; error: unknown; path: string | null };

export interface DatasetChoice {
  state: DatasetState;
  inspect: (path: string) => void;
  upload: (file: File) => void;
  cancel: () => void;
  clear: () => void;
}

/** After the last change of the mapping. */
const DEBOUNCE_MS = 250;

/**
 * The dataset of the form: brought here or named by its path, then read by the engine, and again when its columns are to be understood
 * otherwise; what was found stays in sight meanwhile. `onPath` gets the path that the run will use.
 */
export function useDataset(initialPath: string, onPath: (path: string) => void, mapping: Mapping): DatasetChoice {
  const client = useClient();
  const { generation } = useConnection();
  const [state, setState] = useState<DatasetState>(initialPath ? { kind: 'reading', path: initialPath } : { kind: 'none' });
  const work = useRef<AbortController | null>(null);
  const key = JSON.stringify([mapping.datasetShape, mapping.columns]);
  const reading = state.kind === 'reading' ? state.path : null;
  const again = state.kind === 'ready' && state.of !== key ? state.report.path : null;

  useEffect(() => {
    const path = reading ?? again;
    if (path === null) return;
    const abort = new AbortController();
    const [shape, columns] = JSON.parse(key) as [Mapping['datasetShape'], Mapping['columns']];
    if (reading === null) setState((s) => (s.kind === 'ready' ? { ...s, busy: true } : s));
    const timer = setTimeout(
      () => {
        client.datasets.inspect({ path, shape, columns }, { signal: abort.signal }).then(
          (report) => !abort.signal.aborted && setState({ kind: 'ready', report, of: key, busy: false }),
          (error: unknown) => !abort.signal.aborted && setState({ kind: 'failed', error, path }),
        );
      },
      reading === null ? DEBOUNCE_MS : 0,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
    // Read again when the engine came back under the question.
  }, [client, reading, again, key, generation]);
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
