import { z } from 'zod';
import { defineTool, ToolError } from './define.ts';
import { quoted } from './web/quoted.ts';

const RESULTS = 5;

/** `web_search`: result `{query, results: [{title, url, snippet}], note}`, at most five. */
export const webSearchTool = defineTool({
  name: 'web_search',
  toolset: 'web',
  parallel: 'safe',
  missing: ({ web }) => (web ? web.searchMissing : 'The web cannot be reached from here.'),
  description: `Search the web. Returns up to ${RESULTS} results with title, address and a short extract. Read the pages that matter with web_extract.`,
  parameters: z.object({ query: z.string().min(1).max(1_000).describe('What to search for.') }),
  async run({ query }, { services, signal }) {
    const text = query.trim();
    if (text === '') throw new ToolError('The query is empty.');
    if (!services.web?.search) throw new ToolError(services.web?.searchMissing ?? 'The web cannot be searched here.');
    const results = await services.web.search(text, RESULTS, signal);
    return { query: text, results, note: results.length > 0 ? quoted('Titles and extracts') : 'Nothing was found. Try other words.' };
  },
});
