import { saidByPerson } from '#shared/trajectory.ts';
import { mainArgument, viewOfResult } from '../../library/results/result-view.ts';
import type { Turn } from '../../library/view/turns.ts';

const RESULT_MAX_CHARS = 4_000;

export interface Words {
  person: string;
  agent: string;
  cut: string;
}

/** A conversation as Markdown: who said what, and calls with the beginning of what they gave. Reasoning and what nobody typed are left out. */
export function conversationAsMarkdown(turns: readonly Turn[], contentOf: (turn: Turn) => string, words: Words): string {
  const parts: string[] = [];
  let who = '';
  const speak = (name: string, text: string): void => {
    if (who !== name) parts.push(`## ${name}`);
    who = name;
    if (text.trim() !== '') parts.push(text.trim());
  };
  for (const turn of turns) {
    if (turn.kind === 'user' && saidByPerson(turn.message)) {
      who = '';
      speak(words.person, contentOf(turn));
      for (const { name } of turn.message.attachments ?? []) parts.push(`- ${name}`);
    } else if (turn.kind === 'assistant') {
      speak(words.agent, contentOf(turn));
      for (const { call, result } of turn.calls) {
        parts.push(`**${call.name}** ${inCode(mainArgument(call))}`.trim());
        if (!result) continue;
        const { text } = viewOfResult(call.name, result);
        if (text.trim() !== '') parts.push(fenced(text.length > RESULT_MAX_CHARS ? `${text.slice(0, RESULT_MAX_CHARS)}\n… ${words.cut}` : text));
      }
    }
  }
  return `${parts.join('\n\n')}\n`;
}

/** The fence is longer than any inside, so that a result cannot end it. */
function fenced(text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((max, run) => Math.max(max, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}

function inCode(text: string): string {
  if (text === '') return '';
  const longest = (text.match(/`+/g) ?? []).reduce((max, run) => Math.max(max, run.length), 0);
  const mark = '`'.repeat(longest + 1);
  return longest > 0 ? `${mark} ${text} ${mark}` : `${mark}${text}${mark}`;
}
