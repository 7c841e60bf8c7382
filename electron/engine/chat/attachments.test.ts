import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FakeModel } from '../../../e2e/fakes/fake-model.ts';
import { say } from '../../../e2e/fakes/steps.ts';
import { typedText } from '#shared/attached.ts';
import type { Attachment } from '#shared/trajectory.ts';
import { type ChatGround, eachWithChats, FAKE, idle, openChats, type TestHome } from './testing.ts';

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;

let fake: FakeModel;
let home: TestHome;
let t: ChatGround;
eachWithChats((ground) => ({ fake, home, t } = ground), () => t);

async function give(bytes: Buffer, name: string, mime = 'text/csv'): Promise<Attachment> {
  let uploadId: string | undefined;
  for (let at = 0; ; at += MIB) {
    const last = at + MIB >= bytes.length;
    const answer = await t.chats.attach({ name, mime, chunk: bytes.subarray(at, at + MIB).toString('base64'), last, ...(uploadId ? { uploadId } : {}) });
    uploadId = answer.uploadId;
    if (answer.attachment) return answer.attachment;
  }
}

async function sendWith(attachments: Attachment[], text = 'look', settings = {}): Promise<{ id: string; workspace: string }> {
  const { session: { id }, settings: { workspace } } = t.chats.create({ ...FAKE, ...settings });
  fake.script(say('seen'));
  await t.chats.send({ id, text, attachments, whenBusy: 'queue' });
  await t.until(id, idle);
  return { id, workspace };
}

describe('attaching', () => {
  test('pieces become one file under its hash; a picture is told by its bytes, not by its name', async () => {
    const bytes = Buffer.concat([Buffer.alloc(2 * MIB, 'a'), Buffer.from('end')]);
    expect(await give(bytes, 'data.csv')).toEqual({ id: createHash('sha256').update(bytes).digest('hex'), kind: 'file', name: 'data.csv', mime: 'text/csv', bytes: bytes.length });
    expect(await give(PNG, 'notes.txt', 'text/plain')).toMatchObject({ kind: 'image', mime: 'image/png' });
    expect(await give(Buffer.from('<svg onload="x"/>'), 'x.png', 'image/png')).toMatchObject({ kind: 'file' });
  });

  test('names cannot leave the folder or break the message', async () => {
    for (const [given, name] of [['../../etc/passwd', 'passwd'], ['a\nb]\u202e.csv', 'a_b__.csv'], ['..', 'file'], ['con.txt', 'file.txt'], ['报告 1.pdf', '报告 1.pdf']] as const) {
      expect((await give(Buffer.from('x'), given)).name).toBe(name);
    }
  });

  test('too large pieces, too large files, unknown uploads and what is no base64 are refused', async () => {
    const piece = (more: object) => t.chats.attach({ name: 'x', mime: 'a/b', chunk: 'eA==', last: true, ...more });
    await expect(piece({ chunk: Buffer.alloc(MIB + 1024).toString('base64') })).rejects.toMatchObject({ code: 'invalid' });
    await expect(piece({ chunk: 'ü' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(piece({ uploadId: 'nobody' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(give(Buffer.alloc(51 * MIB), 'big')).rejects.toThrow('50 MB');
    expect(readdirSync(join(home.home, 'attachments'))).toEqual([]);
  });

  test('only pictures are given out', async () => {
    const [picture, file] = [await give(PNG, 'p.png'), await give(Buffer.from('<script>'), 'page.html', 'text/html')];
    expect(await t.chats.picture({ id: picture.id })).toEqual({ mime: 'image/png', data: PNG.toString('base64') });
    await expect(t.chats.picture({ id: file.id })).rejects.toMatchObject({ code: 'invalid' });
    await expect(t.chats.picture({ id: '0'.repeat(64) })).rejects.toMatchObject({ code: 'not_found' });
    await expect(t.chats.picture({ id: '../config.yaml' })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('sending', () => {
  test('files lie in the workspace under names of their own, the text tells where, the picture goes to the model', async () => {
    const { id, workspace } = await sendWith([await give(Buffer.from('a,b'), 'data.csv'), await give(Buffer.from('c,d'), 'data.csv'), await give(PNG, 'p.png')]);
    expect(readdirSync(join(workspace, 'attachments')).sort()).toEqual(['data-2.csv', 'data.csv', 'p.png']);
    expect(readFileSync(join(workspace, 'attachments', 'data-2.csv'), 'utf8')).toBe('c,d');
    const message = t.messages(id)[1]!;
    expect(message.content).toBe('look\n\n[Attached file: attachments/data.csv, 3 bytes]\n[Attached file: attachments/data-2.csv, 3 bytes]\n[Attached image: attachments/p.png, 70 bytes]');
    expect(typedText(message.content, message.attachments)).toBe('look');
    expect(message.attachments?.map((a) => a.path)).toEqual(['attachments/data.csv', 'attachments/data-2.csv', 'attachments/p.png']);
  });

  test('said anew with the same files, nothing is copied twice; undo hands out the text as it was typed', async () => {
    const { id, workspace } = await sendWith([await give(Buffer.from('a,b'), 'data.csv')]);
    const { attachments } = t.messages(id)[1]!;
    fake.script(say('again'));
    const { trajectoryId } = await t.chats.edit({ id, seq: 1, text: 'look closer', attachments: attachments! });
    await t.until(id, (s) => idle(s) && s.tip === trajectoryId);
    expect(readdirSync(join(workspace, 'attachments'))).toEqual(['data.csv']);
    expect(await t.chats.undo({ id })).toEqual({ text: 'look closer', attachments });
  });

  test('an attachment that is gone refuses the message instead of losing it', async () => {
    const { session: { id } } = t.chats.create(FAKE);
    const gone: Attachment = { id: 'a'.repeat(64), kind: 'file', name: 'x.csv', mime: 'text/csv', bytes: 1 };
    await expect(t.chats.send({ id, text: 'look', attachments: [gone], whenBusy: 'queue' })).rejects.toMatchObject({ code: 'invalid', field: 'attachments' });
    expect(t.chats.get({ id }).tip).toBeNull();
  });

  test('a folder of the workspace that is a link to elsewhere gets nothing', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'talaria-elsewhere-'));
    const workspace = join(home.home, 'workspaces', 'linked');
    mkdirSync(workspace);
    symlinkSync(elsewhere, join(workspace, 'attachments'));
    const { session: { id } } = t.chats.create({ ...FAKE, workspace });
    await expect(t.chats.send({ id, text: 'x', attachments: [await give(Buffer.from('k'), 'authorized_keys')], whenBusy: 'queue' })).rejects.toThrow('outside the workspace');
    expect(readdirSync(elsewhere)).toEqual([]);
    rmSync(elsewhere, { recursive: true });
  });
});

test('at a start attachments that nothing names go after a day; those of messages, drafts and queues stay', async () => {
  const [sent, drafted, loose] = [await give(Buffer.from('sent'), 'a'), await give(Buffer.from('drafted'), 'b'), await give(Buffer.from('loose'), 'c')];
  await sendWith([sent]);
  t.chats.draft({ id: t.chats.create(FAKE).session.id, text: '', attachments: [drafted] });
  for (const { id } of [sent, drafted, loose]) utimesSync(join(home.home, 'attachments', id), new Date(Date.now() - 2 * DAY_MS), new Date(Date.now() - 2 * DAY_MS));
  const fresh = await give(Buffer.from('fresh'), 'd');
  for (let start = 0; start < 2; start++) {
    // closing waits for the work in the background
    await t.close();
    t = await openChats(home.home, fake.url);
  }
  expect(readdirSync(join(home.home, 'attachments')).sort()).toEqual([sent.id, drafted.id, fresh.id].sort());
});
