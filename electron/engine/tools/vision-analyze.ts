import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { defineTool, ToolError } from './define.ts';
import { fileError, statFile } from './files.ts';
import { imageTypeOf } from './image-type.ts';
import type { ToolContext } from './types.ts';

const MAX_IMAGE_BYTES = 10 * 1024 * 1024;
const MAX_QUESTION_CHARS = 8_000;

/** `vision_analyze`: a model that sees answers a question about one picture. Result `{image, answer}`; the picture is shown beside it. */
export const visionAnalyzeTool = defineTool({
  name: 'vision_analyze',
  toolset: 'vision',
  parallel: 'safe',
  missing: ({ vision }) => (vision ? null : 'There is no model that can look at pictures. Set one as vision.model in config.yaml.'),
  description: 'Ask a question about a picture (PNG, JPEG, GIF or WebP, at most 10 MB): a file in the workspace or a web address. A model that sees answers.',
  parameters: z.object({
    image_url: z.string().min(1).max(4_000).describe('Path relative to the workspace root, or an address that begins with http:// or https://.'),
    question: z.string().min(1).max(MAX_QUESTION_CHARS).describe('What you want to know about the picture.'),
  }),
  async run({ image_url, question }, context) {
    const { services, signal, show } = context;
    if (!services.vision) throw new ToolError('There is no model here that can look at pictures.');
    const { bytes, name } = await load(image_url.trim(), context);
    const mime = imageTypeOf(bytes);
    if (mime === null) throw new ToolError(`"${image_url}" is not a PNG, JPEG, GIF or WebP picture, whatever its name says. Convert it first.`);
    const picture = await services.keepPicture?.(bytes, mime, name);
    if (picture) show(picture);
    const answer = await services.vision({ bytes, mime }, question, signal);
    return { image: image_url, answer };
  },
});

async function load(source: string, { services, sandbox, signal }: ToolContext): Promise<{ bytes: Uint8Array; name: string }> {
  if (/^https?:\/\//i.test(source)) {
    if (!services.web) throw new ToolError('Pictures on the web cannot be read here. Use a file of the workspace.');
    const { url, bytes } = await services.web.download(source, MAX_IMAGE_BYTES, signal);
    return { bytes, name: basename(new URL(url).pathname) || 'picture' };
  }
  if (/^[a-z][a-z0-9+.-]+:/i.test(source)) throw new ToolError('image_url must be a path in the workspace or an address that begins with http:// or https://.');
  const real = await sandbox.resolve(source);
  const facts = await statFile(sandbox, source, real);
  if (facts.size > MAX_IMAGE_BYTES) throw new ToolError(`"${source}" has ${(facts.size / 1024 / 1024).toFixed(1)} MB; at most 10 MB are looked at. Make it smaller first.`);
  const bytes = await readFile(real).catch((error: unknown) => {
    throw fileError(source, error);
  });
  return { bytes, name: basename(real) };
}
