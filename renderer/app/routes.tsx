import { MapPinOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Redirect, Route, Switch } from 'wouter';
import { CompareScreen } from '../features/batch/compare/CompareScreen.tsx';
import { DistributionsScreen } from '../features/batch/distributions/DistributionsScreen.tsx';
import { NewRunScreen } from '../features/batch/NewRunScreen.tsx';
import { ReportScreen } from '../features/batch/report/ReportScreen.tsx';
import { RunScreen } from '../features/batch/RunScreen.tsx';
import { RunsScreen } from '../features/batch/RunsScreen.tsx';
import { ChatScreen } from '../features/chat/ChatScreen.tsx';
import { LibraryScreen } from '../features/library/LibraryScreen.tsx';
import { MemoryScreen } from '../features/memory/MemoryScreen.tsx';
import { ReviewsScreen } from '../features/reviews/ReviewsScreen.tsx';
import { SettingsScreen } from '../features/settings/SettingsScreen.tsx';
import { SkillsScreen } from '../features/skills/SkillsScreen.tsx';
import { useLoad } from '../lib/engine-context.tsx';
import { LinkButton } from '../ui/Button.tsx';
import { EmptyState } from '../ui/Feedback.tsx';
import { Screen } from '../ui/Screen.tsx';

/** Every place of the page. Paths live in the hash; query parts of a place ("?run=") belong to its screen. */
export function Routes(): ReactNode {
  return (
    <Switch>
      <Route path="/">
        <Start />
      </Route>
      <Route path="/chat/:id?">{({ id }) => <ChatScreen id={id ?? null} />}</Route>
      {/* One route for both, so that the list keeps its place when a trajectory opens beside it. */}
      <Route path="/library/:id?">{({ id }) => <LibraryScreen id={id ?? null} />}</Route>
      <Route path="/batch">
        <RunsScreen />
      </Route>
      <Route path="/batch/new">
        <NewRunScreen />
      </Route>
      <Route path="/batch/distributions">
        <DistributionsScreen />
      </Route>
      <Route path="/batch/compare">
        <CompareScreen />
      </Route>
      <Route path="/batch/:id/report">{({ id }) => <ReportScreen key={id} id={id} />}</Route>
      <Route path="/batch/:id">{({ id }) => <RunScreen key={id} id={id} />}</Route>
      <Route path="/memory">
        <MemoryScreen />
      </Route>
      <Route path="/reviews/:id?">{({ id }) => <ReviewsScreen id={id ?? null} />}</Route>
      {/* Ids have slashes. */}
      <Route path="/skills/*?">
        <SkillsScreen />
      </Route>
      <Route path="/settings">
        <SettingsScreen />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}

/** Who has chats goes on with them; who has none sees what there is. */
function Start(): ReactNode {
  const { data, error } = useLoad((client, signal) => client.chats.list({ limit: 1 }, { signal }), []);
  if (!data && !error) return null;
  return <Redirect to={data && data.items.length > 0 ? '/chat' : '/library'} replace />;
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
