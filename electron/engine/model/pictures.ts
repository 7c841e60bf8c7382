import type { Attachment, Message } from '#shared/trajectory.ts';

/** What providers take of one picture stays below it. */
const MAX_PICTURE_BYTES = 20 * 1024 * 1024;

/** Data URLs by attachment id. */
export type Pictures = ReadonlyMap<string, string>;

export function picturesOf(message: Message): Attachment[] {
  return message.role === 'user' ? (message.attachments ?? []).filter(({ kind }) => kind === 'image') : [];
}

/** Reads the pictures that the user messages name, each once. Those that are gone or too large are not in the answer. */
export async function loadPictures(messages: readonly Message[], read: ((id: string) => Promise<Uint8Array | null>) | undefined): Promise<Pictures> {
  const loaded = new Map<string, string>();
  if (read === undefined) return loaded;
  for (const { id, mime, bytes } of messages.flatMap(picturesOf)) {
    if (loaded.has(id) || bytes > MAX_PICTURE_BYTES) continue;
    const content = await read(id);
    if (content !== null && content.byteLength <= MAX_PICTURE_BYTES) loaded.set(id, `data:${mime};base64,${Buffer.from(content).toString('base64')}`);
  }
  return loaded;
}

/**
 * The content of a user message with pictures: parts of the OpenAI form (`text`, `image_url`). Where pictures are not sent, the
 * text says so, so that the model does not describe what it has not seen.
 */
export function contentWithPictures(message: Message, pictures: Pictures, refused: boolean): string | object[] {
  const named = picturesOf(message);
  const isSent = ({ id }: Attachment): boolean => !refused && pictures.has(id);
  const notes = named.filter((picture) => !isSent(picture)).map(({ name }) => `[The picture "${name}" was left out: ${refused ? 'this model takes no pictures' : 'it could not be sent'}.]`);
  const text = [message.content, ...notes].filter((part) => part !== '').join('\n\n');
  const sent = named.filter(isSent).map(({ id }) => ({ type: 'image_url', image_url: { url: pictures.get(id) } }));
  return sent.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text', text }]), ...sent];
}
