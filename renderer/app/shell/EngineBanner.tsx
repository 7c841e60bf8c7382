import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useConnection, useEngine } from '../../lib/engine-context.tsx';
import { Button } from '../../ui/Button.tsx';
import { Banner } from '../../ui/Feedback.tsx';
import { useToasts } from '../../ui/Toasts.tsx';

/** Shorter breaks pass without a banner: it would only flash. */
const GRACE_MS = 600;

/** Says that the engine is away, why if known, and that it is back. */
export function EngineBanner(): ReactNode {
  const { t } = useTranslation('app');
  const engine = useEngine();
  const { phase, message } = useConnection();
  const toast = useToasts();
  const [shown, setShown] = useState(false);
  const wasShown = useRef(false);

  useEffect(() => {
    if (phase === 'up') {
      setShown(false);
      if (wasShown.current) toast({ title: t('engine.back'), kind: 'good' });
      wasShown.current = false;
      return;
    }
    const timer = setTimeout(
      () => {
        setShown(true);
        wasShown.current = true;
      },
      phase === 'gave-up' ? 0 : phase === 'connecting' ? 3 * GRACE_MS : GRACE_MS,
    );
    return () => clearTimeout(timer);
  }, [phase, toast, t]);

  if (!shown || phase === 'up') return null;
  const refused = message === 'refused';
  const title =
    phase === 'gave-up' ? t(refused ? 'engine.refused' : 'engine.gaveUp') : phase === 'lost' ? t('engine.lost') : t('engine.connecting');
  const hint =
    phase === 'gave-up' ? t(refused ? 'engine.refusedHint' : 'engine.gaveUpHint') : phase === 'lost' ? t('engine.lostHint') : null;
  return (
    // Over the screen, not above it: what is being read or typed must not move; clear of the field one writes in.
    <div className="fixed bottom-[calc(var(--status)+var(--toasts-clear))] left-[calc(var(--rail)+10px)] z-30 w-[min(720px,calc(100vw-var(--rail)-20px))] rounded-m shadow-pop">
      <Banner
        live
        tone={phase === 'gave-up' ? 'bad' : 'warn'}
        title={title}
        action={<Button onClick={engine.retry}>{t('action.retry')}</Button>}
      >
        {[refused ? null : message, hint].filter(Boolean).join(' ')}
      </Banner>
    </div>
  );
}
