import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { navigate } from '../../lib/hash-location.ts';
import { useToasts } from '../../ui/Toasts.tsx';

/** The most trajectories that one review reads. */
export const LEARN_MAX = 20;

/** Starts a review that a person asks for, of a chat or of trajectories, and says so; failures are told in a toast. */
export function useLearn(): (of: { sessionId: string; focus?: string } | { trajectoryIds: string[] }) => void {
  const { t } = useTranslation('reviews');
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  return useCallback(
    (of) => {
      client.reviews.start(of).then(
        (review) => void toast({ title: t('started.title'), description: t('started.text'), kind: 'info', action: { label: t('started.open'), run: () => navigate(`/reviews/${encodeURIComponent(review.id)}`) } }),
        (error: unknown) => void toast({ title: t('started.failed'), description: errorText(error), kind: 'bad' }),
      );
    },
    [client, toast, errorText, t],
  );
}
