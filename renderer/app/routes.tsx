import { MapPinOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Redirect, Route, Switch } from 'wouter';
import { NewRunScreen } from '../features/batch/NewRunScreen.tsx';
import { RunScreen } from '../features/batch/RunScreen.tsx';
import { RunsScreen } from '../features/batch/RunsScreen.tsx';
import { LibraryScreen } from '../features/library/LibraryScreen.tsx';
import { SettingsScreen } from '../features/settings/SettingsScreen.tsx';
import { LinkButton } from '../ui/Button.tsx';
import { EmptyState } from '../ui/Feedback.tsx';
import { Screen } from '../ui/Screen.tsx';

/** Every place of the page. Paths live in the hash; query parts of a place ("?run=") belong to its screen. */
export function Routes(): ReactNode {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/library" replace />
      </Route>
      {/* One route for both, so that the list keeps its place when a trajectory opens beside it. */}
      <Route path="/library/:id?">{({ id }) => <LibraryScreen id={id ?? null} />}</Route>
      <Route path="/batch">
        <RunsScreen />
      </Route>
      <Route path="/batch/new">
        <NewRunScreen />
      </Route>
      <Route path="/batch/:id">{({ id }) => <RunScreen key={id} id={id} />}</Route>
      <Route path="/settings">
        <SettingsScreen />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}

function NotFound(): ReactNode {
  const { t } = useTranslation('app');
  return (
    <Screen title={t('error.notFound')}>
      <EmptyState icon={MapPinOff} title={t('error.notFound')} action={<LinkButton to="/library">{t('error.toLibrary')}</LinkButton>}>
        {t('error.notFoundHint')}
      </EmptyState>
    </Screen>
  );
}
