import { expect, it } from 'vitest';
import { isToolFailure } from './failure.ts';

it.each([
  ['error text', '{"error":"no"}', true],
  ['empty error counts', '{"error":""}', true],
  ['false error counts (not null)', '{"error":false}', true],
  ['null error', '{"output":"","error":null}', false],
  ['error in content', '{"content":{"error":"x"}}', true],
  ['null error in content', '{"content":{"error":null}}', false],
  ['content is text', '{"content":"error"}', false],
  ['success false', '{"success":false}', true],
  ['success true', '{"success":true}', false],
  ['success as text', '{"success":"false"}', false],
  ['empty', '', true],
  ['blank', ' \n', true],
  ['error: in any case', '  ERROR: broken', true],
  ['error without colon', 'Error executing tool x', false],
  ['unknown tool text', "Tool 'x' does not exist", false],
  ['exit code alone', '{"output":"boom","exit_code":2,"error":null}', false],
  ['list', '[{"error":"x"}]', false],
  ['cut JSON', '{"error":"x', false],
  ['space before JSON', ' {"error":"x"}', true],
])('%s', (_, text, expected) => expect(isToolFailure(text)).toBe(expected));
