import { z } from 'zod';
import { defineTool, ToolError } from './define.ts';

const MAX_CHOICES = 4;
const MAX_QUESTION_CHARS = 4_000;
const MAX_CHOICE_CHARS = 300;

/** `clarify`: asks the person and waits for the answer. Result `{question, answer}`; `answer` is null when the person declined. */
export const clarifyTool = defineTool({
  name: 'clarify',
  toolset: 'clarify',
  parallel: 'never',
  missing: ({ ask }) => (ask ? null : 'Nobody can be asked here: it works in chats only.'),
  description:
    'Ask the person one question and wait for the answer. Use it when the task can be read in several ways and a wrong guess would cost much work; decide small things yourself. ' +
    'Give choices where you can; the person may always answer in own words.',
  parameters: z.object({
    question: z.string().min(1).max(MAX_QUESTION_CHARS).describe('The question, complete in itself.'),
    choices: z.array(z.string().max(MAX_CHOICE_CHARS)).max(MAX_CHOICES).default([]).describe(`Up to ${MAX_CHOICES} short answers to choose from. Leave out for an open question.`),
  }),
  async run({ question, choices }, { services, callId, signal }) {
    if (!services.ask) throw new ToolError('Nobody can be asked here. Decide yourself and say what you assumed.');
    const text = question.trim();
    if (text === '') throw new ToolError('The question is empty.');
    const offered = [...new Set(choices.map((choice) => choice.trim()))].filter((choice) => choice !== '');
    const answer = await services.ask({ question: text, choices: offered }, callId, signal);
    if (answer === null) return { question: text, answer: null, note: 'The person did not want to answer. Do not ask again; go on with your best judgement and say what you assumed.' };
    return { question: text, answer };
  },
});
