// Pictures of every page, to be looked at: `cargo xtask screenshots`.

import { defineConfig } from '@playwright/test';

import base from './playwright.config.ts';

export default defineConfig(base, {
  testDir: 'screens',
  projects: [{ name: 'screenshots' }],
});
