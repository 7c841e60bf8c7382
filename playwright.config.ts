import { defineConfig } from '@playwright/test';
import { findElectron, hasDisplay } from './scripts/lib/electron.mjs';

// Chromium's own sandbox cannot start as root, as in most containers.
const asRoot = process.getuid?.() === 0;

/** Nothing that the browser does of its own accord, so that every request a test sees comes from the app. */
const chromiumArgs = [
  ...(asRoot ? ['--no-sandbox'] : []),
  '--disable-quic',
  '--disable-background-networking',
  '--no-first-run',
  '--disable-component-update',
  '--disable-sync',
];

/** Which driver a spec of the shell runs on is told by the name of its project. */
const realElectron = findElectron() && hasDisplay() ? [{ name: 'electron', testDir: 'e2e/specs/shell' }] : [];

export default defineConfig({
  testMatch: '**/*.spec.ts',
  outputDir: 'test-results/e2e',
  workers: 2,
  fullyParallel: false,
  forbidOnly: true,
  retries: 0,
  // a busy machine is slow, not wrong
  timeout: 180_000,
  expect: { timeout: 20_000 },
  reporter: [['dot'], ['json', { outputFile: 'test-results/e2e.json' }]],
  use: {
    // recording costs a third of the time: TRACE=1 when a failure is not clear from its screenshot
    trace: process.env.TRACE ? 'retain-on-failure' : 'off',
    screenshot: 'only-on-failure',
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      args: chromiumArgs,
      ...(process.env.CHROMIUM ? { executablePath: process.env.CHROMIUM } : {}),
    },
  },
  projects: [
    { name: 'browser', testDir: 'e2e/specs/browser' },
    { name: 'shell', testDir: 'e2e/specs/shell' },
    ...realElectron,
  ],
});
