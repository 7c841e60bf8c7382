import { Approvals } from '../sandbox/approvals.ts';
import { ConfigFile } from '../store/config.ts';
import type { HomePaths } from '../store/home.ts';
import { Redactor } from '../store/redact.ts';
import { Secrets } from '../store/secrets.ts';
import { ToolsService } from './service.ts';
import type { ToolServices } from './types.ts';
import { createWebService, type Web } from './web/service.ts';

/** What chats have, as far as it matters for which of their tools are missing something. */
export function servicesOfChats(web: Web, { memory }: { memory: boolean }): ToolServices {
  const unused = (): Promise<never> => Promise.reject(new Error('Only for asking what is there'));
  return { web, ask: unused, searchSessions: unused, vision: unused, skills: { list: unused, view: unused, manage: unused }, delegation: { spawn: unused }, ...(memory ? { memory: { call: unused } } : {}) };
}

/** What rollouts of a batch have: pictures are looked at only where a model is set for it, for the run's own may see none. */
export function servicesOfRollouts(web: Web, visionModel: string | undefined): ToolServices {
  return { web, ...(visionModel === undefined ? {} : { vision: () => Promise.reject(new Error('Only for asking what is there')) }) };
}

/** The tools of a home without an engine: its files are read and changed, nothing is locked, nothing runs. */
export function configuredTools(home: HomePaths, env: NodeJS.ProcessEnv, version: string): ToolsService {
  const config = new ConfigFile(home.config);
  const secrets = new Secrets({ paths: home, env, redactor: new Redactor(env), log: { info: () => undefined, error: () => undefined } });
  const web = createWebService({ config, secrets, version, toMarkdown: () => Promise.reject(new Error('Pages are not read here')) });
  return new ToolsService({ config, secrets, services: () => servicesOfChats(web, { memory: config.read().memory.enabled }), approvals: new Approvals({ config }), sandboxes: () => [], trySearch: web.trySearch, now: Date.now });
}
