// Every page, and the states of pages that links do not lead to, checked by axe against WCAG 2.2 AA: in light and dark, on
// a desk, on a tablet, on a small telephone. No page is wider than its window.

import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';

import { alive, logIn, walk } from '../fixtures/console.ts';
import { type Daemon, expect, test } from '../fixtures/test.ts';

const WIDTHS = [
  { width: 1440, height: 900 },
  { width: 768, height: 1024 },
  { width: 360, height: 740 },
] as const;

/** Pages that say that there is nothing, or that something is wrong. */
const STATES = [
  { path: '/services?q=nosuch', says: 'Nothing found' },
  { path: '/pools?q=nosuch', says: 'Nothing found' },
  { path: '/zones?q=nosuch', says: 'Nothing found' },
  { path: '/users?q=nosuch', says: 'Nothing found' },
  { path: '/tokens?q=nosuch', says: 'Nothing found' },
  { path: '/tenants?q=nosuch', says: 'Nothing found' },
  { path: '/settings?q=nosuch', says: 'Nothing found' },
  { path: '/audit?q=nosuch', says: 'Nothing here' },
  { path: '/services?cursor=bogus', says: 'This address does not fit' },
  { path: '/users/00000000-0000-4000-8000-000000000000', says: 'Not found' },
  { path: '/users/roles/00000000-0000-4000-8000-000000000000', says: 'Not found' },
  { path: '/tenants/00000000-0000-4000-8000-000000000000', says: 'Not found' },
  { path: '/no/such/page', says: 'This address leads to no page of the console.' },
] as const;

/** A role of the tenant's own, so that its page is among those that are linked to. */
async function ownRole(daemon: Daemon): Promise<void> {
  const answer = await fetch(`${daemon.url}/api/v1/roles`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'looked-at', permissions: ['pools:read', 'pools:write', 'audit:read'] }),
  });
  expect([201, 409]).toContain(answer.status);
}

/**
 * What is wrong with the page as it is. In the dark nothing is other than in the light but colours: there they are looked
 * at alone, on the desk and on the telephone.
 */
async function faultsOf(page: Page, name: string, dark: boolean): Promise<string[]> {
  const faults: string[] = [];
  const sizes = dark ? WIDTHS.filter(({ width }) => width !== 768) : WIDTHS;
  for (const size of sizes) {
    await page.setViewportSize(size);
    const over = await page.evaluate(() => {
      const root = document.documentElement;
      return root.scrollWidth - root.clientWidth;
    });
    if (over > 0) {
      faults.push(`${name} at ${size.width}: ${over} pixels wider than the window`);
    }
    const axe = new AxeBuilder({ page });
    const { violations } = await (
      dark
        ? axe.withRules(['color-contrast'])
        : axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    ).analyze();
    for (const { id, help, nodes } of violations) {
      faults.push(...nodes.map((node) => `${name} at ${size.width}: ${id}: ${help}: ${node.target.join(' ')}`));
    }
  }
  return faults;
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme, viewport: WIDTHS[0] });

    test(`pages are accessible, ${colorScheme}`, async ({ page, daemon, complaints }) => {
      // Some forty pages, at several widths each.
      test.setTimeout(1_800_000);
      const faults: string[] = [];
      const titles = new Map<string, string>();
      const look = async (name: string) => {
        const title = await page.title();
        if (!/^.+ - Nexus GSLB$/.test(title)) {
          faults.push(`${name}: the title is ${title}`);
        }
        titles.set(name, title);
        faults.push(...(await faultsOf(page, name, colorScheme === 'dark')));
      };
      await page.goto('/login');
      await alive(page, true);
      await look('/login');
      await logIn(page, daemon);
      await ownRole(daemon);
      const visits = await walk(page, true, ({ route }) => look(route));
      const routes = visits.map((visit) => visit.route);
      expect(routes).toEqual(
        expect.arrayContaining([
          '/users/:id',
          '/users/roles/:id',
          '/tokens',
          '/sessions',
          '/tenants',
          '/tenants/:id',
          '/audit',
          '/settings',
          '/settings/licence',
          '/settings/configuration',
          '/settings/password',
        ]),
      );
      complaints.allow(/the server responded with a status of 40[04]/);
      for (const { path, says } of STATES) {
        await page.goto(path);
        await alive(page, true);
        await expect(page.getByText(says).first(), path).toBeVisible();
        await look(path);
      }
      expect(faults).toEqual([]);
    });
  });
}
