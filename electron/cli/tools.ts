import { readFileSync } from 'node:fs';
import type { ToolsetInfo } from '#shared/contract/tools.ts';
import { type Command, EXIT, HOME_OPTION } from './command.ts';
import { UsageError } from './options.ts';
import { plain } from './terminal.ts';

const options = { home: HOME_OPTION } as const;

/** Reads and writes config.yaml only: works while the app is open, which sees the change with its next chat. */
export const toolsCommand: Command<typeof options> = {
  name: 'tools',
  summary: 'list toolsets, and switch them for new chats',
  about:
    'list              toolsets and their tools; what is on in new chats, and what is missing\n' +
    'enable NAME …     switch toolsets or composites on, in config.yaml\n' +
    'disable NAME …    switch them off\n\n' +
    'Works while the app is open. Keys in the system keychain are seen by the desktop app only.',
  words: 'list|enable|disable [NAME …]',
  options,
  async run(values, host, [action = 'list', ...names]) {
    if (!['list', 'enable', 'disable'].includes(action)) throw new UsageError(`"${action}" is not one of list, enable and disable.`);
    if (action === 'list' && names.length > 0) throw new UsageError('"list" takes no name.');
    if (action !== 'list' && names.length === 0) throw new UsageError(`Say what to ${action}: tools ${action} NAME.`);
    const { tools, problems } = await openTools(values.home);
    const { terminal } = host;
    for (const problem of problems) terminal.err(plain(problem));
    // every name is looked at before the first is switched
    for (const name of names) tools.check(name);
    for (const name of names) tools.enable({ name, enabled: action === 'enable' });
    const { toolsets, unknown } = await tools.list();
    for (const name of unknown) terminal.err(`config.yaml: toolsets has "${plain(name)}", which is not known here and is passed over.`);
    if (action === 'list') for (const line of table(toolsets)) terminal.out(line);
    else terminal.out(`On in new chats: ${toolsets.filter((one) => one.enabled && one.parts.length === 0).map((one) => one.name).join(', ') || 'no toolset'}.`);
    if (action === 'enable') for (const { name, tool, missing } of missingIn(toolsets, names)) terminal.err(`${name}: ${tool} is not offered yet. ${missing}`);
    return EXIT.ok;
  },
};

async function openTools(home: string | undefined) {
  const [{ configuredTools }, { ConfigFile }, { ensureHome, resolveHome }] = await Promise.all([
    import('#engine/tools/configured.ts'),
    import('#engine/store/config.ts'),
    import('#engine/store/home.ts'),
  ]);
  const paths = ensureHome(resolveHome(home, process.env));
  const version = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
  return { tools: configuredTools(paths, process.env, version), problems: new ConfigFile(paths.config).read().problems };
}

function* table(toolsets: readonly ToolsetInfo[]): Generator<string> {
  const width = Math.max(...toolsets.map(({ name }) => name.length)) + 2;
  for (const { name, enabled, parts, tools } of toolsets) {
    const what = parts.length > 0 ? `= ${parts.join(', ')}` : tools.map((tool) => (tool.missing === null ? tool.name : `${tool.name} (missing)`)).join(', ');
    yield `${enabled ? 'on ' : 'off'}  ${name.padEnd(width)}${what}`;
  }
  const missing = toolsets.flatMap(({ tools }) => tools).filter((tool) => tool.missing !== null);
  if (missing.length > 0) yield '';
  for (const tool of missing) yield `${tool.name}: ${tool.missing}`;
}

function missingIn(toolsets: readonly ToolsetInfo[], names: readonly string[]) {
  const touched = new Set(toolsets.filter(({ name }) => names.includes(name)).flatMap(({ name, parts }) => (parts.length > 0 ? parts : [name])));
  return toolsets.filter(({ name }) => touched.has(name)).flatMap(({ name, tools }) => tools.flatMap((tool) => (tool.missing === null ? [] : [{ name, tool: tool.name, missing: tool.missing }])));
}
