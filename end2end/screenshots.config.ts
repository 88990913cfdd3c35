// Pictures of every page, to be looked at: `cargo xtask screenshots`.

import type { PlaywrightTestConfig } from '@playwright/test';

import base from './playwright.config.ts';

const config: PlaywrightTestConfig = { ...base, testDir: 'screens', projects: [{ name: 'screenshots' }] };

export default config;
