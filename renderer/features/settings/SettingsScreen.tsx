import { Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { LANGUAGES, THEMES, type Settings } from '#shared/contract/settings.ts';
import { usePrefs } from '../../app/prefs-context.tsx';
import { useLoad } from '../../lib/engine-context.tsx';
import { IconButton } from '../../ui/Button.tsx';
import { Banner, ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { Segmented } from '../../ui/Select.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { LearningSettings } from '../reviews/LearningSettings.tsx';
import { Chats } from './Chats.tsx';
import { Providers } from './Providers.tsx';
import { Spend } from './spend/Spend.tsx';
import { SettingRow as Row } from './SettingRow.tsx';
import { Tools } from './Tools.tsx';

export function SettingsScreen(): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const settings = useLoad((client) => client.settings.get(), []);
  return (
    <Screen title={t('title')}>
      <div className="h-full overflow-y-auto">
        <div className="mx-auto grid max-w-[780px] gap-7 px-5 py-5">
          {settings.data ? (
            <>
              <Problems settings={settings.data} />
              <Providers settings={settings.data} onChange={settings.set} />
              <Tools />
              <Chats />
              <LearningSettings />
              <Spend />
              <Look />
              <Place settings={settings.data} />
            </>
          ) : settings.error ? (
            <ErrorState error={settings.error} onRetry={settings.reload} />
          ) : (
            <>
              <Skeleton className="h-80 rounded-l" />
              <Skeleton className="h-28 rounded-l" />
            </>
          )}
        </div>
      </div>
    </Screen>
  );
}

/** What could not be read in config.yaml, with its lines. */
function Problems({ settings }: { settings: Settings }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  if (settings.problems.length === 0) return null;
  return (
    <Banner tone="warn" title={t('problems.title', { count: settings.problems.length })}>
      <ul className="list-disc pl-4">
        {settings.problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
    </Banner>
  );
}

function Look(): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const [prefs, setPrefs] = usePrefs();
  return (
    <section aria-labelledby="look">
      <h2 id="look" className="mb-2 text-lg font-semibold">
        {t('look.title')}
      </h2>
      <div className="rounded-l border border-line bg-raised">
        <Row label={t('look.theme')}>
          <Segmented
            label={t('look.theme')}
            value={prefs.theme}
            onChange={(theme) => setPrefs({ theme })}
            options={THEMES.map((value) => ({ value, label: t(`app:theme.${value}`) }))}
          />
        </Row>
        <Row label={t('look.language')}>
          <Segmented
            label={t('look.language')}
            value={prefs.language}
            onChange={(language) => setPrefs({ language })}
            options={LANGUAGES.map((value) => ({ value, label: t(`app:language.${value}`) }))}
          />
        </Row>
      </div>
    </section>
  );
}

function Place({ settings }: { settings: Settings }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const toast = useToasts();
  const info = useLoad((client) => client.app.info(), []);
  const copy = (): void => {
    navigator.clipboard.writeText(settings.home).then(
      () => toast({ title: t('place.copied'), kind: 'good' }),
      () => toast({ title: t('app:action.copyFailed'), kind: 'bad' }),
    );
  };
  return (
    <section aria-labelledby="place">
      <h2 id="place" className="mb-2 text-lg font-semibold">
        {t('place.title')}
      </h2>
      <div className="rounded-l border border-line bg-raised">
        <Row label={t('place.home')}>
          <span className="flex min-w-0 items-center gap-1">
            <code title={settings.home} className="truncate font-mono text-xs">
              {settings.home}
            </code>
            <IconButton icon={Copy} label={t('place.copy')} size="sm" onClick={copy} />
          </span>
        </Row>
        <Row label={t('place.keys')}>
          <span className="text-sm">{t(`place.keyStore.${settings.keyStore}`)}</span>
        </Row>
        <Row label={t('place.version')}>
          <span className="num text-sm">{info.data ? `${info.data.version} · ${t(`place.host.${info.data.host}`)}` : '…'}</span>
        </Row>
      </div>
    </section>
  );
}
