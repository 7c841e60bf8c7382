import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: [
      // The real package tries to download its binary when it is loaded.
      { find: /^electron$/, replacement: fileURLToPath(new URL('scripts/lib/no-electron.mjs', import.meta.url)) },
    ],
  },
  test: {
    environment: 'node',
    include: ['{electron,shared,renderer,scripts,e2e/fakes,e2e/drivers}/**/*.test.{ts,tsx}'],
    exclude: [...configDefaults.exclude, 'out/**', 'data/**'],
    // Processes, not threads: tests start children, load native modules and change the environment.
    pool: 'forks',
    maxWorkers: Math.max(2, Math.min(4, availableParallelism())),
    // They end what hangs. A busy machine is slow, not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    // A stray .only would leave out the rest of its file unseen.
    allowOnly: false,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
