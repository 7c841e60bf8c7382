/**
 * Context lengths in tokens of models whose servers do not tell, by the beginning of the id without its owner; the longest that
 * fits counts. From the makers' own pages (platform.openai.com/docs/models, docs.anthropic.com, ai.google.dev,
 * api-docs.deepseek.com, docs.mistral.ai, portal.nousresearch.com), read in 2026.
 */
const CONTEXT_TOKENS: Readonly<Record<string, number>> = {
  'gpt-5': 400_000,
  'gpt-4.1': 1_047_576,
  'gpt-4o': 128_000,
  'gpt-4-turbo': 128_000,
  'gpt-4': 8192,
  'gpt-3.5-turbo': 16_385,
  'gpt-oss': 131_072,
  o1: 200_000,
  o3: 200_000,
  'o4-mini': 200_000,
  claude: 200_000,
  'gemini-1.5-pro': 2_097_152,
  gemini: 1_048_576,
  'deepseek-chat': 131_072,
  'deepseek-reasoner': 131_072,
  'mistral-large': 131_072,
  'mistral-medium': 131_072,
  codestral: 256_000,
  'kimi-k2': 262_144,
  'glm-4.5': 131_072,
  'glm-4.6': 200_000,
  'hermes-4': 131_072,
  'hermes-3': 131_072,
};

/** The model's context length, or null when it is not one of the well-known ones. */
export function knownContextLength(model: string): number | null {
  const id = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const fits = Object.keys(CONTEXT_TOKENS).filter((name) => id === name || id.startsWith(`${name}-`) || id.startsWith(`${name}.`) || id.startsWith(`${name}:`));
  const longest = fits.toSorted((a, b) => b.length - a.length)[0];
  return longest === undefined ? null : (CONTEXT_TOKENS[longest] ?? null);
}
