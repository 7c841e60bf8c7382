import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { ConfigFile } from './config.ts';
import { configDistributionSchema, configProviderSchema, routingSchema, SECTIONS } from './config-schema.ts';

const file = fileURLToPath(new URL('../../../docs/config.example.yaml', import.meta.url));

// Bug: the example has a key that does nothing or a value that is refused, or a new setting is not in it.
it('the example of config.yaml is valid and has every setting', () => {
  expect(new ConfigFile(file).read().problems).toEqual([]);
  const example = parse(readFileSync(file, 'utf8')) as Record<string, Record<string, unknown>>;
  expect(Object.keys(example).toSorted()).toEqual([...Object.keys(SECTIONS), 'toolsets', 'prices', 'distributions', 'providers'].toSorted());
  for (const [name, { shape }] of Object.entries(SECTIONS)) expect(Object.keys(example[name] ?? {}).toSorted(), name).toEqual(Object.keys(shape).toSorted());
  for (const one of Object.values(example['distributions'] ?? {})) expect(Object.keys(one as object).toSorted()).toEqual(Object.keys(configDistributionSchema.shape).toSorted());
  const providers = Object.values(example['providers'] ?? {}) as Record<string, unknown>[];
  expect([...new Set(providers.flatMap((one) => Object.keys(one)))].toSorted()).toEqual(Object.keys(configProviderSchema.shape).toSorted());
  expect(providers.flatMap((one) => Object.keys(one['openrouter'] ?? {})).toSorted()).toEqual(Object.keys(routingSchema.shape).toSorted());
});
