import type { ModelChoice } from '../model/service.ts';
import { sqlFor } from '../store/database.ts';
import type { ReviewDeps } from './deps.ts';
import { ReviewError } from './errors.ts';
import type { Conversation } from './snapshot.ts';

/** The scripted teacher: it learns nothing. */
const SCRIPTED = 'offline';

/**
 * Which model reviews: the one that is set for it, else the chat's, else the one that made the first trajectory when it can still be asked,
 * else that of new chats. Throws SettingsError or ReviewError with what to set.
 */
export function reviewModel(conversations: readonly Conversation[], chat: ModelChoice | null, { config, models, db }: Pick<ReviewDeps, 'config' | 'models' | 'db'>): ModelChoice {
  const { review, chat: chats } = config.read();
  if (review.model !== undefined) return models.parse(review.model);
  if (chat) return chat;
  const [first] = conversations;
  const last = db.get(sqlFor.selectFrom('sessions').select(['provider', 'model']).where('deleted_at', 'is', null).orderBy('created_at', 'desc').limit(1));
  const routes = [first && first.provider !== SCRIPTED ? `${first.provider}/${first.model}` : undefined, chats.model, last && `${last.provider}/${last.model}`, first && `${first.provider}/${first.model}`];
  for (const route of routes) {
    if (route === undefined) continue;
    try {
      return models.parse(route);
    } catch {
      // a provider that was given for one run only, or is gone
    }
  }
  throw new ReviewError('invalid', 'The model that made this cannot be asked any more. Choose a model for reviews in Settings (review.model).');
}
