import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startFakeModel, type ModelRequest, type RecordedRequest, type Responder } from './fake-model.ts';
import { SCENARIOS } from './scenarios.ts';
import { parseScript } from './script-file.ts';

function help(): string {
  const width = Math.max(...Object.keys(SCENARIOS).map((name) => name.length));
  const list = Object.entries(SCENARIOS).map(([name, { about }]) => `  ${name.padEnd(width)}  ${about}`);
  return `A scripted OpenAI-compatible model server, to try clients against.

Usage: npm run fake-model -- [options]

  --port N         listen on 127.0.0.1:N (default: any free port)
  --scenario NAME  how to answer (default: agent)
  --script FILE    play the steps of this JSON list first, one per request (form: e2e/fakes/steps.ts)
  --repeat         start the script again when it is used up, instead of going on with the scenario
  --latency MS     wait before the first byte of every answer whose step sets no wait itself (default 0)
  --calls N        scenario agent: tool calls before the answer (default 3)
  --tool NAME      scenario agent: call only this tool
  --api-key KEY    refuse requests without this key with 401 (default: any key, or none)
  --lenient        accept conversations that OpenAI would refuse, such as tool calls without an answer
  --quiet          print the base URL, but no requests
  --help           print this text

A request for the model "fake/NAME" gets scenario NAME whatever --scenario says; GET /v1/models lists them all.
It serves POST /v1/chat/completions (streamed or not) and GET /v1/models, and prints one line per request when it is over.

Scenarios (one that fails "once" does so once per turn, then answers):
${list.join('\n')}
`;
}

function wholeNumber(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  if (!/^\d+$/.test(text)) throw new Error(`--${name} must be a whole number, not "${text}".`);
  return Number(text);
}

function logLine(record: RecordedRequest): string {
  const { number, method, path, status, body, arrivedAt, endedAt = arrivedAt, clientLeft } = record;
  const about = body ? [`model=${body.model}`, `messages=${body.messages.length}`, `tools=${body.tools?.length ?? 0}`, body.stream ? 'stream' : 'whole'] : [];
  return [`#${number}`, method, path, status ?? 'no answer', ...about, `${endedAt - arrivedAt} ms`, ...(clientLeft ? ['(client left)'] : [])].join(' ');
}

async function main(args: string[]): Promise<void> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args,
    options: {
      port: text, scenario: text, script: text, latency: text, calls: text, tool: text, 'api-key': text,
      repeat: flag, lenient: flag, quiet: flag, help: flag,
    },
  });
  if (values.help) return void process.stdout.write(help());

  const calls = wholeNumber('calls', values.calls, 3);
  const responders = new Map<string, Responder>();
  for (const [name, { create }] of Object.entries(SCENARIOS)) {
    responders.set(name, create({ calls, ...(values.tool === undefined ? {} : { tool: values.tool }) }));
  }
  const chosen = responders.get(values.scenario ?? 'agent');
  if (!chosen) throw new Error(`There is no scenario "${values.scenario}". There are: ${[...responders.keys()].join(', ')}.`);
  if (values.repeat && values.script === undefined) throw new Error('--repeat needs --script.');
  const steps = values.script === undefined ? [] : parseScript(readFileSync(values.script, 'utf8'));

  let played = 0;
  const respond = (request: ModelRequest): ReturnType<Responder> => {
    if (values.repeat) played %= Math.max(1, steps.length);
    const step = steps[played];
    if (step) {
      played += 1;
      return step;
    }
    const named = request.body.model.startsWith('fake/') ? responders.get(request.body.model.slice('fake/'.length)) : undefined;
    return (named ?? chosen)(request);
  };

  const fake = await startFakeModel({
    port: wholeNumber('port', values.port, 0),
    latencyMs: wholeNumber('latency', values.latency, 0),
    models: Object.keys(SCENARIOS).map((name) => `fake/${name}`),
    strict: !values.lenient,
    keepRequests: 0,
    respond,
    ...(values['api-key'] === undefined ? {} : { apiKey: values['api-key'] }),
    ...(values.quiet ? {} : { onDone: (record: RecordedRequest) => console.log(logLine(record)) }),
  });
  console.log(`Base URL: ${fake.url}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void fake.close());
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
