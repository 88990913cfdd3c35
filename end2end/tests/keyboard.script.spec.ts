// The newer pages by the keyboard alone: what has the focus can be seen, and every control is reached.

import type { Locator, Page } from '@playwright/test';

import { alive, logIn } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

/** Most controls that a page has. */
const FAR = 120;

/** Presses Tab until this control has the focus. On the way everything that has the focus shows it. */
async function tabTo(page: Page, control: Locator): Promise<void> {
  for (let step = 0; step < FAR; step += 1) {
    await page.keyboard.press('Tab');
    const seen = await page.evaluate(() => {
      const at = document.activeElement;
      if (!at || at === document.body) {
        return true;
      }
      // The box of the menu is drawn by what is around it.
      const around = at.parentElement ?? at;
      return [at, around].some((element) => getComputedStyle(element).outlineStyle !== 'none');
    });
    expect(seen, 'the focus can be seen').toBe(true);
    if (await control.evaluate((element) => element === document.activeElement)) {
      return;
    }
  }
  throw new Error(`the focus does not come to ${control}`);
}

test('a role is made and changed by the keyboard', async ({ page, daemon }) => {
  await logIn(page, daemon);
  await page.goto('/users');
  await alive(page, true);
  await tabTo(page, page.locator('#role-form > summary'));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByLabel('Name of the role'));
  await page.keyboard.type('keyed');
  await tabTo(page, page.getByLabel('pools:read', { exact: true }));
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await expect(page.getByText('The role is created.')).toBeVisible();
  await alive(page, true);
  await tabTo(page, page.getByRole('link', { name: 'keyed', exact: true }));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'keyed' })).toBeVisible();
  // The page begins where the focus is, not where the link was.
  await expect(page.locator('main')).toBeFocused();
  await expect(page).toHaveTitle('Role keyed - Nexus GSLB');
  await tabTo(page, page.getByLabel('Name of the role'));
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.press('Enter');
  // What is wrong has the focus.
  await expect(page.getByLabel('Name of the role')).toBeFocused();
  await expect(page.getByLabel('Name of the role')).toHaveAccessibleDescription(/must be given/);
});

test('a tenant is picked by the keyboard', async ({ page, daemon }) => {
  const made = await fetch(`${daemon.url}/api/v1/tenants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'keys' }),
  });
  expect(made.status).toBe(201);
  await logIn(page, daemon);
  await page.goto('/zones');
  await alive(page, true);
  const picker = page.locator('.picker');
  await tabTo(page, picker.locator('summary'));
  await page.keyboard.press('Enter');
  await tabTo(page, picker.getByRole('button', { name: 'keys', exact: true }));
  await page.keyboard.press('Enter');
  await expect(picker.locator('summary')).toContainText('keys');
  await alive(page, true);
  await tabTo(page, picker.locator('summary'));
  await page.keyboard.press('Enter');
  await tabTo(page, picker.getByRole('button', { name: 'default', exact: true }));
  await page.keyboard.press('Enter');
  await expect(picker.locator('summary')).toContainText('default');
});

test('a configuration is pasted and looked at by the keyboard', async ({ page, daemon }) => {
  const answer = await fetch(`${daemon.url}/api/v1/config/export`, {
    headers: { authorization: `Bearer ${daemon.token}` },
  });
  const document = await answer.text();
  await logIn(page, daemon);
  await page.goto('/settings/configuration');
  await alive(page, true);
  await tabTo(page, page.getByLabel('Document', { exact: true }));
  await page.keyboard.insertText(document);
  await tabTo(page, page.getByRole('button', { name: 'Show what it changes' }));
  await page.keyboard.press('Enter');
  await expect(page.getByText('Nothing: everything is like that already.')).toBeVisible();
});

test('the pages of the settings are reached by the keyboard', async ({ page, daemon }) => {
  await logIn(page, daemon);
  await page.goto('/settings');
  await alive(page, true);
  for (const [name, title] of [
    ['Licence', 'Licence'],
    ['Your password', 'Your password'],
  ] as const) {
    await tabTo(page, page.getByRole('navigation', { name: 'Pages of the settings' }).getByRole('link', { name }));
    await page.keyboard.press('Enter');
    await expect(page).toHaveTitle(`${title} - Nexus GSLB`);
    await expect(page.locator('main')).toBeFocused();
  }
  await tabTo(page, page.getByRole('button', { name: 'Change password' }));
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Current password')).toBeFocused();
  await expect(page.getByLabel('Current password')).toHaveAccessibleDescription(/must be given/);
});
