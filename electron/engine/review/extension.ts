import type { ToolSpec } from '#shared/trajectory.ts';
import type { ChatExtension } from '../chat/extensions.ts';
import { sqlFor } from '../store/database.ts';
import type { NudgeCounters } from './counters.ts';
import type { ReviewDeps } from './deps.ts';
import { asksOf, type ReviewKind } from './kinds.ts';
import type { ReviewSchedule } from './schedule.ts';
import type { SessionEnds } from './session-end.ts';
import { sourceNow } from './snapshot.ts';

const SKILL_TOOL = 'skill_manage';
const MEMORY_TOOL = 'memory';

/**
 * How reviews see chats: they count, and look at what has ended. Nothing is ever put into a conversation: it has no `behind`, no
 * services and no part of the prompt.
 */
export function reviewExtension({ db }: Pick<ReviewDeps, 'db'>, { counters, schedule, ends }: { counters: NudgeCounters; schedule: ReviewSchedule; ends: SessionEnds }): ChatExtension {
  return {
    turnBegins(sessionId, { tools, said }) {
      ends.stop(sessionId);
      schedule.turnBegins(sessionId);
      if (said && has(tools, MEMORY_TOOL)) counters.personSpoke(sessionId);
    },
    stored({ sessionId, tools }, message) {
      if (message.role !== 'assistant' || message.synthetic) return;
      if (has(tools, SKILL_TOOL)) counters.modelCalled(sessionId);
      const called = new Set(message.toolCalls?.map((call) => call.name));
      if (called.has(SKILL_TOOL)) counters.skillManaged(sessionId);
      if (called.has(MEMORY_TOOL)) counters.memoryUsed(sessionId);
    },
    turnEnded({ sessionId, trajectoryId, tools }, { exitReason, finalAnswer }) {
      try {
        db.transaction(() => {
          const due = counters.turnEnded(sessionId, { skillOffered: has(tools, SKILL_TOOL), answered: finalAnswer !== null && exitReason !== 'interrupted' });
          const kind = due && without(due, tools);
          const source = kind && sourceNow(db, trajectoryId);
          if (source) schedule.add({ sessionId, sources: [source], kind, trigger: 'nudge', focus: '' });
        });
        ends.wait(sessionId);
      } finally {
        schedule.turnEnded(sessionId);
      }
    },
    left(sessionId) {
      ends.stop(sessionId);
      const session = db.get(sqlFor.selectFrom('sessions').select('deleted_at').where('id', '=', sessionId));
      // what was thrown away is not learned from
      if (!session || session.deleted_at !== null) schedule.drop(sessionId);
      else ends.ended(sessionId);
    },
  };
}

/** A kind that was due before its toolset was switched off is not made up for. */
function without(due: ReviewKind, tools: readonly ToolSpec[]): ReviewKind | null {
  const { memory, skills } = asksOf(due);
  const [remembers, learns] = [memory && has(tools, MEMORY_TOOL), skills && has(tools, SKILL_TOOL)];
  return remembers ? (learns ? 'combined' : 'memory') : learns ? 'skill' : null;
}

function has(tools: readonly ToolSpec[], name: string): boolean {
  return tools.some((tool) => tool.name === name);
}
