import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { safe } from '@orpc/client';
import { expect, test } from 'vitest';
import type { Delegation } from '#shared/contract/delegations.ts';
import { startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, say } from '../../../e2e/fakes/steps.ts';
import { FAKE } from '../chat/testing.ts';
import { openEngine } from '../engine.ts';
import { READER, RESOURCES } from '../trajectories/testing.ts';
import { playing } from './testing.ts';

test('in the whole engine: new chats can delegate, children read skills and change nothing of them, the page watches and is told its mistakes', async () => {
  // Bug: all parts work by themselves, and nobody has put them together.
  const home = mkdtempSync(join(tmpdir(), 'talaria-delegation-'));
  const fake = await startFakeModel({ respond: playing({ go: [callTool('spawn_agent', { prompt: 'look it up' })], 'look it up': [callTool('skill_view', { name: 'greeting' }), say('hello it is')] }) });
  mkdirSync(join(home, 'skills', 'greeting'), { recursive: true });
  writeFileSync(join(home, 'skills', 'greeting', 'SKILL.md'), '---\nname: greeting\ndescription: How to greet people.\n---\n\nSay hello.\n');
  writeFileSync(join(home, 'config.yaml'), `providers:\n  fake:\n    base_url: ${fake.url}\nchat:\n  titles: false\n`);
  const engine = await openEngine({ home, host: 'browser', paths: { resources: RESOURCES, reader: READER }, version: '1.2.3', env: {}, log: { info: () => undefined, error: () => undefined } });
  try {
    const { client } = engine;
    const { session, settings } = await client.chats.create(FAKE);
    expect(settings.toolsets).toContain('delegation');
    await client.chats.send({ id: session.id, text: 'go', attachments: [], whenBusy: 'queue' });
    const id = await endedOf(await client.delegations.watch({ sessionId: session.id }));
    const child = fake.chats.find((c) => c.body.messages.some((m) => m.role === 'user' && m.content === 'look it up'))!;
    const offered = child.body.tools!.map((tool) => tool.function.name);
    expect(offered).toEqual(expect.arrayContaining(['terminal', 'read_file', 'skills_list', 'skill_view']));
    for (const name of ['skill_manage', 'memory', 'clarify', 'spawn_agent', 'spawn_parallel']) expect(offered).not.toContain(name);
    const [one] = (await client.delegations.get({ id })).children;
    expect(one).toMatchObject({ state: 'completed', summary: 'hello it is', depth: 1 });
    const { items } = await client.trajectories.messages({ id: one!.trajectoryId! });
    expect(items.find((m) => m.toolName === 'skill_view')!.content).toContain('Say hello.');
    expect((await client.trajectories.list({ filter: { kinds: ['delegation'] }, limit: 10 })).items.map((x) => x.id)).toEqual([one!.trajectoryId]);
    expect(await safe(client.delegations.steer({ childId: one!.id, text: 'x' }))).toMatchObject({ error: { code: 'CONFLICT' } });
    expect(await safe(client.delegations.stop({ childId: 'nobody' }))).toMatchObject({ error: { code: 'NOT_FOUND' } });
    expect(await safe(client.delegations.get({ id: 'nobody' }))).toMatchObject({ error: { code: 'NOT_FOUND' } });
  } finally {
    await engine.close();
    await fake.close();
    rmSync(home, { recursive: true, force: true });
  }
});

/** The id of the first delegation, when it has ended. */
async function endedOf(stream: AsyncIterable<{ items: Delegation[] }>): Promise<string> {
  for await (const { items } of stream) if (items[0] && items[0].endedAt !== null) return items[0].id;
  throw new Error('It never ended');
}
