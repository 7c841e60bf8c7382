import type { ParsedSkill } from './frontmatter.ts';

export const PLATFORMS = ['linux', 'macos', 'windows'] as const;

/** What the frontmatter says, by type; what has the wrong type counts as absent. Fields of agentskills.io and of Hermes Agent (`metadata.hermes`). */
export interface SkillMeta {
  name: string | null;
  description: string | null;
  version: string | null;
  platforms: string[];
  tags: string[];
  related: string[];
  requiresToolsets: string[];
  fallbackForToolsets: string[];
  requiresTools: string[];
  fallbackForTools: string[];
  envVars: { name: string; help: string | null }[];
  commands: string[];
}

export function metaOf({ data }: Pick<ParsedSkill, 'data'>): SkillMeta {
  const hermes = mapOf(own(mapOf(own(data, 'metadata')), 'hermes'));
  const prerequisites = mapOf(own(data, 'prerequisites'));
  return {
    name: textOf(own(data, 'name')),
    description: textOf(own(data, 'description')),
    version: textOf(own(data, 'version')) ?? textOf(own(mapOf(own(data, 'metadata')), 'version')),
    platforms: listOf(own(data, 'platforms')).map((name) => name.toLowerCase()),
    tags: [...new Set([...listOf(own(hermes, 'tags')), ...listOf(own(data, 'tags'))])],
    related: listOf(own(hermes, 'related_skills')),
    requiresToolsets: listOf(own(hermes, 'requires_toolsets')),
    fallbackForToolsets: listOf(own(hermes, 'fallback_for_toolsets')),
    requiresTools: listOf(own(hermes, 'requires_tools')),
    fallbackForTools: listOf(own(hermes, 'fallback_for_tools')),
    envVars: variables([own(prerequisites, 'env_vars'), own(data, 'required_environment_variables')]),
    commands: listOf(own(prerequisites, 'commands')),
  };
}

function own(map: Record<string, unknown> | null, key: string): unknown {
  return map !== null && Object.hasOwn(map, key) ? map[key] : undefined;
}

function mapOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim().toWellFormed() : null;
}

/** A list of texts; one text counts as a list of its comma-separated parts. */
function listOf(value: unknown): string[] {
  const list = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? (value as unknown[]) : [];
  return list.slice(0, 100).flatMap((entry) => textOf(entry) ?? []);
}

function variables(sources: readonly unknown[]): SkillMeta['envVars'] {
  const all = sources.flatMap((source) => (Array.isArray(source) ? (source as unknown[]) : []));
  const found = all.flatMap((entry) => {
    const map = mapOf(entry);
    const name = textOf(map ? own(map, 'name') : entry);
    return name === null ? [] : [{ name, help: map ? (textOf(own(map, 'help')) ?? textOf(own(map, 'prompt'))) : null }];
  });
  return [...new Map(found.map((variable) => [variable.name, variable])).values()];
}
