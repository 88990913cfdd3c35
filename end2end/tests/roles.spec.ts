// Roles of a tenant's own: made, changed by two people at once, deleted.

import { alive, logIn } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

test('a role is made, changed by two at once, and deleted', async ({ page, daemon, browser, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const name = scripted ? 'watcher' : 'watcher-plain';
  await logIn(page, daemon);
  await page.goto('/users');
  await alive(page, scripted);
  await page.getByText('New role', { exact: true }).click();
  await page.getByLabel('Name of the role').fill(name);
  await page.getByRole('button', { name: 'Create role' }).click();
  await expect(page.locator('#role-permissions-problem')).toContainText('at least one');
  await expect(page.getByLabel('Name of the role')).toHaveValue(name);
  await page.getByLabel('pools:read', { exact: true }).check();
  await page.getByRole('button', { name: 'Create role' }).click();
  await expect(page.getByText('The role is created.')).toBeVisible();

  await page.getByRole('link', { name, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  await alive(page, scripted);
  const other = await browser.newContext({ javaScriptEnabled: scripted });
  const theirs = await other.newPage();
  await logIn(theirs, daemon);
  await theirs.goto(page.url());
  await alive(theirs, scripted);

  await page.getByLabel('services:read', { exact: true }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('The role is changed.')).toBeVisible();

  // The second sees what the first has saved, and has lost nothing.
  await theirs.getByLabel('audit:read', { exact: true }).check();
  await theirs.getByRole('button', { name: 'Save' }).click();
  const told = theirs.locator('.conflict');
  await expect(told).toContainText('Somebody else has saved this meanwhile.');
  await expect(told.getByRole('row', { name: /^Allows/ })).toContainText('services:read');
  await expect(theirs.getByLabel('audit:read', { exact: true })).toBeChecked();
  await alive(theirs, scripted);
  await theirs.getByLabel('services:read', { exact: true }).check();
  await theirs.getByRole('button', { name: 'Save' }).click();
  await expect(theirs.getByText('The role is changed.')).toBeVisible();
  const row = theirs.getByRole('row', { name: new RegExp(`^${name} `) });
  await expect(row).toContainText('audit read');
  await expect(row).toContainText('services read');
  await other.close();

  await page.goto('/users');
  await alive(page, scripted);
  const mine = page.getByRole('row', { name: new RegExp(`^${name} `) });
  await mine.getByText('Delete', { exact: true }).click();
  await mine.getByRole('button', { name: 'Delete the role' }).click();
  await expect(page.getByText('The role is deleted.')).toBeVisible();
  await expect(page.getByRole('link', { name, exact: true })).toHaveCount(0);
});

test('what two change in one account at once is told to the second', async ({ page, daemon, browser, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const name = scripted ? 'carol' : 'carol-plain';
  const made = await fetch(`${daemon.url}/api/v1/users`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, password: 'a password of twelve and more', role: 'viewer' }),
  });
  const { id } = (await made.json()) as { id: string };
  await logIn(page, daemon);
  await page.goto(`/users/${id}`);
  await alive(page, scripted);
  const other = await browser.newContext({ javaScriptEnabled: scripted });
  const theirs = await other.newPage();
  await logIn(theirs, daemon);
  await theirs.goto(page.url());
  await alive(theirs, scripted);
  await page.getByLabel('Role').selectOption('operator');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('The account is changed.')).toBeVisible();
  await theirs.getByLabel('Enabled').uncheck();
  await theirs.getByRole('button', { name: 'Save' }).click();
  const told = theirs.locator('.conflict');
  await expect(told.getByRole('row', { name: /^Role/ })).toContainText('operator');
  await expect(theirs.getByLabel('Enabled')).not.toBeChecked();
  await alive(theirs, scripted);
  await theirs.getByLabel('Role').selectOption('operator');
  await theirs.getByRole('button', { name: 'Save' }).click();
  await expect(theirs.getByText('The account is changed.')).toBeVisible();
  await other.close();
});
