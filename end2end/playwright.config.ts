// The same journeys with JavaScript on and off: the console must work before its WASM has arrived, or without it.

import { defineConfig, devices } from '@playwright/test';

import { launchOptions } from './browser.ts';

export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  forbidOnly: !!process.env['CI'],
  // A test that passes at the second try has a race in it, or the console has.
  retries: 0,
  // Generous, for machines with other work: only what fails waits so long. Two cores; each worker has a daemon of its own.
  workers: 2,
  timeout: 180_000,
  expect: { timeout: 45_000 },
  reporter: [['list']],
  use: {
    ...devices['Desktop Chrome'],
    launchOptions,
    locale: 'en-GB',
    timezoneId: 'UTC',
    trace: 'retain-on-failure',
  },
  projects: [
    { name: 'chromium' },
    {
      name: 'no-script',
      use: { javaScriptEnabled: false },
      // Journeys that are only about what happens in the browser: drag and drop, live updates.
      testIgnore: '**/*.script.spec.ts',
    },
  ],
});
