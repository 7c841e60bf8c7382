import type { Message } from '#shared/trajectory.ts';
import type { ChatExtension } from '../chat/extensions.ts';
import type { SkillLibrary } from './library.ts';
import { MAIN_FILE } from './names.ts';
import { readText } from './skill.ts';

/** Skills that one message may run. */
const MAX_RUN = 5;
const COMMANDS = /^\s*((?:\/[a-z0-9][a-z0-9._-]{0,63}(?=\s|$)\s*)+)/;

/** Names that a message begins with, "/release-notes /tone write it": at most five. */
export function skillsNamedIn(text: string): string[] {
  const names = COMMANDS.exec(text)?.[1]?.trim().split(/\s+/) ?? [];
  return [...new Set(names.map((name) => name.slice(1)))].slice(0, MAX_RUN);
}

/** Brings skills into chats: the tools, the list in the prompt, and what a person runs by name. */
export function skillsInChats(library: SkillLibrary, now: () => number): ChatExtension {
  /** Run by a message whose trajectory is not known yet, by session. */
  const running = new Map<string, string[]>();
  const count = (sessionId: string, trajectoryId: string): void => {
    const ids = running.get(sessionId);
    if (!ids) return;
    running.delete(sessionId);
    for (const id of ids) library.records.used(id, trajectoryId, 'run');
  };
  return {
    services: ({ settings }, turn) => ({ skills: library.toolsFor({ author: 'agent', trajectoryId: turn?.trajectoryId ?? (() => null), workspace: settings.workspace }) }),
    async promptBlocks({ settings }, tools) {
      await library.ready({ workspace: settings.workspace });
      return { skills: library.indexFor({ tools, workspace: settings.workspace }) };
    },
    async behind({ sessionId, settings }, text) {
      running.delete(sessionId);
      const names = skillsNamedIn(text);
      if (names.length === 0) return [];
      const scope = { workspace: settings.workspace };
      await library.ready(scope);
      const shown = library.shown(scope, true);
      const messages: Message[] = [];
      const ran: string[] = [];
      for (const name of names) {
        const fits = shown.filter(({ summary }) => summary.name === name);
        const one = fits.find(({ summary }) => summary.offered);
        const main = one && readText(one.skill.folder, MAIN_FILE);
        if (one && main != null) {
          ran.push(one.summary.id);
          messages.push(ranByName(skillText(one.summary.name, one.skill.folder, main, one.skill.walked.files.filter(({ kind, path }) => kind === 'file' && path !== MAIN_FILE).map(({ path }) => path)), now()));
        } else if (fits[0]) messages.push(ranByName(`[The person asked for the skill "${name}", but it was not loaded. ${fits[0].summary.verdict === 'dangerous' ? 'It may be dangerous.' : (fits[0].summary.notOffered ?? '')} Tell them so, and go on without it as far as that makes sense.]`, now()));
      }
      if (ran.length > 0) running.set(sessionId, ran);
      return messages;
    },
    stored: ({ sessionId, trajectoryId }) => count(sessionId, trajectoryId),
    turnEnded: ({ sessionId, trajectoryId }) => count(sessionId, trajectoryId),
    left: (sessionId) => void running.delete(sessionId),
  };
}

/**
 * What goes with a message that runs a skill, as a message of its own: the person's stays as typed, for the page, titles, search and
 * another try. The model reads both as one user message, and so does every export (`joinedText`). Not synthetic, for what the model does
 * next would else be in training data without its cause; that a skill was not loaded is such a cause too.
 */
function ranByName(content: string, createdAt: number): Message {
  return { role: 'user', content: content.toWellFormed(), note: 'skill', createdAt };
}

function skillText(name: string, folder: string, text: string, files: readonly string[]): string {
  const linked = files.length === 0 ? '' : ` Its files, to be read with skill_view where they are needed: ${files.slice(0, 50).join(', ')}.`;
  return `[The person ran the skill "${name}" by name: follow its text for what they ask above. It lies in ${folder}.${linked}]\n\n${text}`;
}
