import { useCallback, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { TrajectoryScores } from '#shared/contract/scores.ts';
import type { TrajectoryDetail } from '#shared/trajectory.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';

export interface Scores {
  /** Null until they were asked for and are here. */
  shown: TrajectoryScores | null;
  error: unknown;
  reload: () => void;
  /** 1 to 5; null takes the rating back. */
  rate: (rating: number | null) => void;
  /** Scores it again by the rules of its run. */
  rescore: () => void;
  busy: boolean;
}

/**
 * Scores of the open trajectory: read when `wanted`, and again when its reward changes.
 * @param onChange what a rating or new scores made of the header
 */
export function useScores(detail: TrajectoryDetail | null, wanted: boolean, onChange: (change: Pick<TrajectoryDetail, 'rating' | 'reward'>) => void): Scores {
  const client = useClient();
  const toast = useToasts();
  const { t } = useTranslation('library');
  const [state, setState] = useState<{ shown: TrajectoryScores | null; error: unknown }>({ shown: null, error: null });
  const [busy, setBusy] = useState(false);
  const [round, setRound] = useState(0);
  const id = detail?.id;
  const ended = detail?.state === 'ended';
  useEffect(() => {
    if (!wanted || id === undefined) return;
    let current = true;
    client.scores.of({ trajectoryId: id }).then(
      (shown) => current && setState({ shown, error: null }),
      (error: unknown) => current && setState((s) => ({ ...s, error })),
    );
    return () => {
      current = false;
    };
  }, [client, id, wanted, ended, detail?.reward, round]);

  const failed = useCallback((error: unknown) => toast({ title: t('scores.failed'), description: error instanceof Error ? error.message : String(error), kind: 'bad' }), [toast, t]);
  const rate = useCallback((rating: number | null) => {
    if (id === undefined) return;
    client.scores.rate({ trajectoryId: id, rating }).then((shown) => {
      setState({ shown, error: null });
      onChange({ rating: shown.rating, reward: shown.reward });
    }, failed);
  }, [client, id, onChange, failed]);
  const rescore = useCallback(() => {
    if (id === undefined) return;
    setBusy(true);
    void (async () => {
      try {
        for await (const event of await client.scores.rescore({ filter: { ids: [id] } })) void event;
        const shown = await client.scores.of({ trajectoryId: id });
        setState({ shown, error: null });
        onChange({ rating: shown.rating, reward: shown.reward });
      } catch (error) {
        failed(error);
      } finally {
        setBusy(false);
      }
    })();
  }, [client, id, onChange, failed]);
  return { ...state, reload: () => setRound((n) => n + 1), rate, rescore, busy };
}
