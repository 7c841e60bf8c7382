import { expect, test } from 'vitest';
import { openOutputSchema } from './output-schema.ts';

test('says what does not fit, and where; takes bare JSON and JSON in one fence', () => {
  // Bug: models are told only that something is wrong, and send the same again.
  const schema = openOutputSchema({ type: 'object', properties: { a: { type: 'string' }, list: { type: 'array', items: { enum: [1, 2] } } }, required: ['a'], additionalProperties: false });
  expect(schema.check(' {"a": "x", "list": [1]} ')).toEqual({ valid: true, errors: [], value: { a: 'x', list: [1] } });
  expect(schema.check('```json\n{"a": "x"}\n```').valid).toBe(true);
  expect(schema.check('Here you are: {"a": "x"}').errors).toEqual(['the answer is not JSON']);
  expect(schema.check('{"b": 1, "list": [3]}').errors).toEqual(expect.arrayContaining([expect.stringContaining("required property 'a'"), expect.stringContaining('("b")'), expect.stringContaining('/list/0')]));
});

test('draft 7 where the schema says so', () => {
  // Bug: "definitions" and lists of items as older drafts have them are refused or passed over.
  const schema = openOutputSchema({ $schema: 'http://json-schema.org/draft-07/schema#', $id: 'mine', definitions: { n: { type: 'number' } }, type: 'array', items: [{ $ref: '#/definitions/n' }] });
  expect(schema.check('[1]').valid).toBe(true);
  expect(schema.check('["1"]').valid).toBe(false);
});

test('hostile schemas: a pattern without end, references elsewhere, nesting without end, __proto__', () => {
  // Bug: a schema written by a model stops the engine, fetches from the network or changes every object.
  const slow = openOutputSchema({ type: 'string', pattern: '^(a+)+$' });
  expect(slow.check(JSON.stringify(`${'a'.repeat(60)}!`))).toMatchObject({ valid: false, errors: [expect.stringContaining('took longer')] });
  expect(() => openOutputSchema({ $ref: 'https://example.com/schema.json' })).toThrow(/can't resolve/);
  expect(() => openOutputSchema('a text')).toThrow(/JSON Schema object/);
  let deep: Record<string, unknown> = {};
  for (let i = 0; i < 20_000; i++) deep = { not: deep };
  expect(() => openOutputSchema(deep)).toThrow();
  openOutputSchema(JSON.parse('{"type": "object", "properties": {"__proto__": {"type": "string"}}}')).check('{"__proto__": {"polluted": true}}');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
