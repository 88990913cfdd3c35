// How Chromium is started: the system's own, without the services that a browser wants of the internet.

import type { LaunchOptions } from '@playwright/test';

export const launchOptions: LaunchOptions = {
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};
