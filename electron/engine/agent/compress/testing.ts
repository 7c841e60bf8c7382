import fc from 'fast-check';
import type { Message } from '#shared/trajectory.ts';

export const says = (role: Message['role'], content: string, more: Partial<Message> = {}): Message => ({ role, content, createdAt: 1, ...more });

/** One step of work: a call and its result. */
export function step(id: string, command: string, output: string, exitCode = 0): Message[] {
  return [
    says('assistant', '', { toolCalls: [{ id, name: 'terminal', arguments: JSON.stringify({ command }) }] }),
    says('tool', JSON.stringify({ output, exit_code: exitCode }), { toolCallId: id, toolName: 'terminal', isError: exitCode !== 0 }),
  ];
}

/** Random conversations as the store has them: turns of requests, skills run with them, parallel calls, notes, steering and answers. */
export function conversations(most = 25): fc.Arbitrary<Message[]> {
  const words = fc.nat({ max: 600 }).map((n) => 'some words of it '.repeat(n / 4));
  const calls = fc.array(fc.record({ path: fc.stringMatching(/^[a-z]{1,8}$/), output: words, isError: fc.boolean() }), { minLength: 1, maxLength: 4 });
  const turn = fc.record({
    request: words,
    skills: fc.constantFrom(0, 0, 0, 1, 2),
    work: fc.array(fc.record({ calls, text: words, note: fc.boolean(), steering: fc.boolean() }), { maxLength: 4 }),
    answer: fc.option(words),
  });
  return fc.array(turn, { minLength: 1, maxLength: most }).map((turns) => {
    const messages = [says('system', 'You are an agent.')];
    turns.forEach(({ request, skills, work, answer }, t) => {
      messages.push(says('user', `request ${t} ${request}`));
      for (let i = 0; i < skills; i++) messages.push(says('user', `skill ${i} for request ${t}`, { note: 'skill' }));
      work.forEach((w, n) => {
        const id = (i: number) => `t${t}_${n}_${i}`;
        messages.push(says('assistant', w.text, { toolCalls: w.calls.map((c, i) => ({ id: id(i), name: 'read_file', arguments: JSON.stringify({ path: c.path }) })) }));
        w.calls.forEach((c, i) => messages.push(says('tool', c.output, { toolCallId: id(i), toolName: 'read_file', isError: c.isError })));
        if (w.note) messages.push(says('user', 'NOTE of the harness', { synthetic: true, note: 'budget' }));
        if (w.steering) messages.push(says('user', 'meanwhile this too'));
      });
      if (answer !== null) messages.push(says('assistant', `answer ${t} ${answer}`));
    });
    return messages;
  });
}

/** What a strict provider would refuse about pairs of calls and results: a sentence, or null. */
export function unpaired(messages: readonly Message[]): string | null {
  let open: string[] = [];
  for (const [i, m] of messages.entries()) {
    if (m.role === 'tool') {
      if (m.toolCallId !== open.shift()) return `message ${i} answers ${m.toolCallId}`;
      continue;
    }
    if (open.length > 0) return `message ${i} comes before the results of ${open.join()}`;
    open = m.toolCalls?.map((c) => c.id) ?? [];
  }
  return open.length > 0 ? `no results of ${open.join()}` : null;
}
