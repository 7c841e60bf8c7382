/** `node electron/serve/main.ts [options]`: browser mode from the source tree. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HELP, parseOptions } from './options.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const EXIT_GRACE_MS = 2_000;

const parsed = parseOptions(process.argv.slice(2));
if (parsed.kind === 'help') process.stdout.write(HELP);
else if (parsed.kind === 'error') {
  process.stderr.write(`${parsed.message}\nRun with --help to see the options.\n`);
  process.exitCode = 2;
} else {
  const pageFolder = join(root, 'out/renderer');
  if (!existsSync(join(pageFolder, 'index.html'))) {
    process.stderr.write('The page is not built yet. Run "npm start", which builds it, or "npm run build".\n');
    process.exitCode = 1;
  } else {
    // Late: a wrong option should not wait for the engine to load.
    const { serve } = await import('./serve.ts');
    process.exitCode = await serve(parsed.options, {
      pageFolder,
      paths: { resources: join(root, 'resources'), reader: join(root, 'electron/engine/store/reader.ts') },
      version: (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version,
      env: process.env,
    });
    // Whatever is still open then, such as a tool's process that does not end, must not keep the terminal.
    setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
  }
}
