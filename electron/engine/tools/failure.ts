/**
 * Whether the text of a tool result counts as a failed call in statistics and in the trajectory view.
 *
 * The rules are those of Hermes' batch runner, so that numbers can be compared: a JSON object whose `error` is not null (an empty
 * string counts), whose `content` is an object with such an `error`, or whose `success` is false; an empty text; a text that starts
 * with `error:` in any case. An exit code that is not zero is no failure of the tool, and neither is a JSON list.
 */
export function isToolFailure(resultText: string): boolean {
  const text = resultText.trim();
  if (text === '' || /^error:/i.test(text)) return true;
  if (!text.startsWith('{')) return false;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  return hasError(value) || (isObject(value) && (value['success'] === false || hasError(value['content'])));
}

function hasError(value: unknown): boolean {
  return isObject(value) && value['error'] !== undefined && value['error'] !== null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
