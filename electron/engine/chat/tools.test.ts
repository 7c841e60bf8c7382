import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, callTools, gated, say, think, together, toolCall } from '../../../e2e/fakes/steps.ts';
import type { LiveEvent } from '#shared/contract/trajectories.ts';
import { getDetail } from '../trajectories/query.ts';
import { type ChatGround, eachWithChats, FAKE, idle } from './testing.ts';

let fake: FakeModel;
let t: ChatGround;
eachWithChats((ground) => ({ fake, t } = ground), () => t);

const chat = (settings = {}) => t.chats.create({ ...FAKE, ...settings }).session.id;
const send = (id: string, text: string) => t.chats.send({ id, text, attachments: [], whenBusy: 'queue' });
const results = (id: string) => t.messages(id).filter((m) => m.role === 'tool').map((m) => m.content);
const rests = (count: number) => (s: Parameters<typeof idle>[0]) => idle(s) && s.session.messageCount === count;

describe('approvals', () => {
  test('a dangerous command asks; denied it is not run and the model is told; allowed for the session it is not asked for again', async () => {
    const id = chat();
    const danger = callTool('terminal', { command: 'rm -rf /opt/talaria-nothing-here/x' });
    fake.script(danger, say('as you like'), danger, say('done'));
    await send(id, 'clean');
    const { question } = await t.until(id, (s) => s.question !== null);
    expect(question).toMatchObject({ kind: 'approval', what: 'command', subject: expect.stringContaining('rm -rf') as string });
    t.chats.answer({ id, questionId: question!.id, answer: { kind: 'approval', choice: 'deny' } });
    await t.until(id, rests(5));
    await send(id, 'again');
    const second = await t.until(id, (s) => s.question !== null);
    expect(second.question!.id).not.toBe(question!.id);
    t.chats.answer({ id, questionId: second.question!.id, answer: { kind: 'approval', choice: 'session' } });
    await t.until(id, rests(9));
    const [denied, allowed] = results(id);
    expect(denied).toMatch(/denied|not allow|refused/i);
    expect(allowed).toContain('exit_code');
    fake.script(danger, say('done again'));
    await send(id, 'once more');
    await t.until(id, rests(13));
    expect(t.chats.get({ id }).session.exitReason).toBe('completed');
  });
});

describe('processes', () => {
  test('a person ends a background process; what is not there is said to be so', async () => {
    const id = chat();
    fake.script(callTool('terminal', { command: 'sleep 600', background: true }), say('started'));
    await send(id, 'serve');
    const { processes } = await t.until(id, (s) => idle(s) && s.processes.length === 1);
    const after = await t.chats.killProcess({ id, processId: processes[0]!.id });
    expect(after.processes).toMatchObject([{ id: processes[0]!.id, running: false }]);
    await expect(t.chats.killProcess({ id, processId: 'another' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a background process outlives the turn, is shown, and ends with the chat', async () => {
    const id = chat();
    const { workspace } = t.chats.get({ id }).settings;
    fake.script(callTool('terminal', { command: 'while true; do sleep 0.05; date > alive; done', background: true }), say('started'));
    await send(id, 'serve');
    const state = await t.until(id, (s) => idle(s) && s.processes.length === 1);
    expect(state.processes[0]).toMatchObject({ running: true, exitCode: null });
    rmSync(join(workspace, 'alive'), { force: true });
    while (!existsSync(join(workspace, 'alive'))) await new Promise((r) => setTimeout(r, 10));
    await t.chats.mark({ id, archived: true });
    expect(t.chats.get({ id }).processes).toEqual([]);
    rmSync(join(workspace, 'alive'), { force: true });
    await new Promise((r) => setTimeout(r, 200));
    expect(existsSync(join(workspace, 'alive'))).toBe(false);
  });

  test('folder and variables carry over from one turn to the next', async () => {
    const id = chat();
    fake.script(callTool('terminal', { command: 'mkdir -p sub && cd sub && export WORD=kept' }), say('ok'), callTool('terminal', { command: 'echo "$WORD in $(basename "$PWD")"' }), say('ok'));
    await send(id, 'one');
    await t.until(id, rests(5));
    await send(id, 'two');
    await t.until(id, rests(9));
    expect(results(id)[1]).toContain('kept in sub');
  });
});

describe('what a running call shows', () => {
  test('one who comes in the middle gets its start and the end of its output, and then the result', async () => {
    const id = chat();
    fake.script(callTool('terminal', { command: 'seq 1 20000; while [ ! -e go ]; do sleep 0.02; done; echo finished' }), say('ok'));
    const { trajectoryId } = await send(id, 'count');
    const detail = () => getDetail(t.store.db, trajectoryId!)!;
    const watch = (signal: AbortSignal) => t.hub.subscribe(trajectoryId!, 99, () => [], detail, signal);
    const first = new AbortController();
    let seen = '';
    for await (const e of watch(first.signal)) {
      if (e.type === 'tool_output') seen += e.text;
      if (seen.includes('20000')) first.abort();
    }
    const late: LiveEvent[] = [];
    const second = new AbortController();
    for await (const e of watch(second.signal)) {
      late.push(e);
      if (e.type === 'tool_output' && e.text.includes('20000')) second.abort();
    }
    expect(late.map((e) => e.type)).toEqual(['header', 'tool_start', 'tool_output']);
    expect(late[1]).toMatchObject({ name: 'terminal' });
    const output = late[2] as Extract<LiveEvent, { type: 'tool_output' }>;
    expect(output.text.length).toBeLessThanOrEqual(16 * 1024);
    expect(output.text.trimEnd().endsWith('20000')).toBe(true);
    writeFileSync(join(t.chats.get({ id }).settings.workspace, 'go'), '');
    await t.until(id, idle);
    expect(results(id)[0]).toContain('finished');
  });
});

describe('services of a chat', () => {
  test('todos are kept with the chat and shown', async () => {
    const id = chat();
    fake.script(callTool('todo', { todos: [{ id: 'a', content: 'dig', status: 'completed' }, { id: 'b', content: 'fill', status: 'pending' }] }), say('planned'));
    await send(id, 'plan');
    const state = await t.until(id, idle);
    expect(state.todos).toEqual([{ id: 'a', content: 'dig', status: 'completed' }, { id: 'b', content: 'fill', status: 'pending' }]);
  });

  test('session_search finds what was said in another chat, not in this one', async () => {
    const [a, b] = [chat(), chat()];
    fake.script(say('the password of the garden gate is on the fridge'), callTool('session_search', { query: 'garden gate' }), say('found'));
    await send(a, 'where is it?');
    await t.until(a, idle);
    await send(b, 'the garden gate, what did I ask?');
    await t.until(b, idle);
    expect(results(b)[0]).toContain('on the fridge');
    expect(results(b)[0]).not.toContain('what did I ask');
  });

  test('a picture is looked at by a model, paid as vision, and kept to be shown', async () => {
    const id = chat();
    const { workspace } = t.chats.get({ id }).settings;
    fake.script(say('ready'), callTool('vision_analyze', { image_url: 'p.png', question: 'What is it?' }), say('a red dot', { usage: { prompt: 100, completion: 4 } }), say('It is a red dot.'));
    await send(id, 'hello');
    await t.until(id, rests(3));
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    writeFileSync(join(workspace, 'p.png'), png);
    await send(id, 'what is in p.png?');
    const state = await t.until(id, rests(7));
    expect(results(id)[0]).toContain('a red dot');
    expect(state.spend.find((line) => line.purpose === 'vision')).toMatchObject({ calls: 1, tokens: 104 });
    const [picture] = t.messages(id).find((m) => m.role === 'tool')!.attachments!;
    expect((await t.chats.picture({ id: picture!.id })).data).toBe(png.toString('base64'));
  });
});

describe('checkpoints', () => {
  test('the first change of a turn makes one; going back shows the diff, restores the files, and can be undone', async () => {
    const workspace = mkdtempSync(join(tmpdir(), 'talaria-workspace-'));
    writeFileSync(join(workspace, 'a.txt'), 'before\n');
    const id = chat({ workspace });
    fake.script(callTools([toolCall('write_file', { path: 'a.txt', content: 'after\n' }), toolCall('write_file', { path: 'b.txt', content: 'new\n' })]), say('written'));
    await send(id, 'change it');
    const state = await t.until(id, idle);
    expect(state).toMatchObject({ checkpoints: 1, checkpointsOff: null });
    const { items: [checkpoint] } = await t.chats.checkpoints({ id });
    const { diff, files } = await t.chats.checkpointDiff({ id, checkpointId: checkpoint!.id });
    expect(diff).toContain('-after');
    expect(files.map((f) => f.path).sort()).toEqual(['a.txt', 'b.txt']);
    const { undoId } = await t.chats.rollback({ id, checkpointId: checkpoint!.id });
    expect(existsSync(join(workspace, 'b.txt'))).toBe(false);
    await t.chats.rollback({ id, checkpointId: undoId });
    expect(existsSync(join(workspace, 'b.txt'))).toBe(true);
    rmSync(workspace, { recursive: true });
  });

  test('none are made when they are switched off, and the state says so; under a running agent nothing is taken back', async () => {
    t.config.change([[['chat', 'checkpoints'], false]]);
    const id = chat();
    fake.script(callTool('write_file', { path: 'a.txt', content: 'x' }), together(say('slow'), gated('g')));
    await send(id, 'write');
    await fake.waitForChats(2);
    await expect(t.chats.rollback({ id, checkpointId: 'x' })).rejects.toMatchObject({ code: 'conflict' });
    fake.release('g');
    expect(await t.until(id, idle)).toMatchObject({ checkpoints: 0, checkpointsOff: expect.stringContaining('switched off') as string });
  });
});

describe('compression when the person asks', () => {
  const long = 'The well-known words of a long story are told here again. '.repeat(80);
  const talk = async (id: string, turns: number): Promise<void> => {
    for (let i = 0; i < turns; i++) {
      fake.script(say(`${i} ${long}`));
      await send(id, `${i} ${long}`);
      await t.until(id, rests(3 + 2 * i));
    }
  };

  test('older messages give way to a summary that the next request has instead; the messages stay stored', async () => {
    t.config.change([[['providers', 'fake', 'context_length'], 16_000], [['compression', 'protect_last_n'], 2], [['compression', 'enabled'], false]]);
    const id = chat({ toolsets: [] });
    await talk(id, 8);
    const before = t.messages(id).length;
    fake.respond(() => say('Summary: a story was told.', { usage: { prompt: 500, completion: 20 } }));
    const done = await t.chats.compress({ id, focus: 'the story' });
    expect(done.tokensAfter).toBeLessThan(done.tokensBefore);
    const state = t.chats.get({ id });
    expect(state.session).toMatchObject({ state: 'idle', exitReason: 'completed' });
    expect(state.spend.some((line) => line.purpose === 'compression')).toBe(true);
    expect(t.messages(id)).toHaveLength(before + 1);
    const requests = fake.counts.chats;
    await send(id, 'and now?');
    await t.until(id, rests(before + 3));
    const sent = fake.chats[requests]!.body.messages;
    expect(sent.length).toBeLessThan(before);
    expect(sent.some((m) => typeof m.content === 'string' && m.content.includes('\n\n[Record of the earlier part'))).toBe(true);
  });

  test('with nothing to gain it says so and changes nothing; without a word said it is refused', async () => {
    const id = chat();
    await expect(t.chats.compress({ id })).rejects.toMatchObject({ code: 'invalid' });
    fake.script(together(think('hm'), say('short')));
    await send(id, 'hi');
    await t.until(id, idle);
    const done = await t.chats.compress({ id });
    expect(done.tokensAfter).toBe(done.tokensBefore);
    expect(done.message).not.toBe('');
    expect(t.messages(id)).toHaveLength(3);
  });

  test('what is said during it is queued and goes on afterwards; stop ends it without a change', async () => {
    t.config.change([[['providers', 'fake', 'context_length'], 16_000], [['compression', 'protect_last_n'], 2], [['compression', 'enabled'], false]]);
    const id = chat({ toolsets: [] });
    await talk(id, 6);
    fake.script(together(say('never'), gated('never')), say('answered'));
    const compressing = t.chats.compress({ id });
    await t.until(id, (s) => s.compressing);
    await fake.waitForChats(7);
    expect(await send(id, 'meanwhile')).toMatchObject({ state: 'queued' });
    await t.chats.stop({ id });
    expect(await compressing).toMatchObject({ message: expect.stringContaining('stopped') as string });
    await t.until(id, (s) => idle(s) && s.queue.length === 0 && s.session.messageCount === 15);
    expect(t.messages(id).slice(-2).map((m) => m.content)).toEqual(['meanwhile', 'answered']);
  });
});
