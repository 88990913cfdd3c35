// Who may log in and what each may do: accounts, tokens, tenants, sessions.

import { alive, logIn } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

const PASSWORD = 'a password of twelve and more';

test('an account is made, and out once it is disabled', async ({ page, daemon, browser, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const name = scripted ? 'bob' : 'bob-plain';
  await logIn(page, daemon);
  await page.goto('/users');
  await alive(page, scripted);
  await page.locator('#user-name').fill(name);
  await page.locator('#user-password').fill('short');
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.locator('#user-password-problem')).toContainText('12 characters');
  expect(page.url()).not.toContain('short');
  await expect(page.locator('#user-name')).toHaveValue(name);
  await page.locator('#user-password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByText('The account is created.')).toBeVisible();

  const other = await browser.newContext({ javaScriptEnabled: scripted });
  const theirs = await other.newPage();
  await logIn(theirs, { ...daemon, user: name, password: PASSWORD });
  await theirs.goto(`${daemon.url}/sessions`);
  await expect(theirs.getByText('this one')).toBeVisible();

  await page.getByRole('link', { name, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  await alive(page, scripted);
  await page.getByLabel('Enabled').uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('The account is changed.')).toBeVisible();
  await theirs.goto(`${daemon.url}/services`);
  await expect(theirs).toHaveURL(/\/login/);
  await other.close();
});

test('a token tells its secret once', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const name = scripted ? 'ci' : 'ci-plain';
  await logIn(page, daemon);
  await page.goto('/tokens');
  await alive(page, scripted);
  await page.locator('#token-name').fill(name);
  await page.getByLabel('pools:read', { exact: true }).check();
  await page.getByRole('button', { name: 'Create token' }).click();
  const secret = await page.locator('code.secret').innerText();
  expect(secret).toMatch(/^gslb_/);
  expect(page.url()).not.toContain(secret);
  const asked = (path: string) =>
    fetch(`${daemon.url}/api/v1${path}`, { headers: { authorization: `Bearer ${secret}` } });
  expect((await asked('/pools')).status).toBe(200);
  expect((await asked('/services')).status).toBe(403);
  await page.reload();
  await expect(page.locator('code.secret')).toHaveCount(0);
  const row = page.getByRole('row', { name });
  await row.getByText('Revoke', { exact: true }).click();
  await row.getByRole('button', { name: 'Revoke the token' }).click();
  await expect(page.getByText('The token is revoked.')).toBeVisible();
  expect((await asked('/pools')).status).toBe(401);
});

test('a tenant is made, picked and left', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const name = scripted ? 'acme' : 'acme-plain';
  await logIn(page, daemon);
  await page.goto('/tenants');
  await alive(page, scripted);
  await page.locator('#tenant-name').fill(name);
  await page.getByRole('button', { name: 'Create tenant' }).click();
  await expect(page.getByText('The tenant is created.')).toBeVisible();
  await page.getByRole('button', { name: `Act in ${name}`, exact: true }).click();
  const here = page.locator('.picker > summary');
  await expect(here).toContainText(name);
  await page.goto('/services');
  await expect(page.getByRole('heading', { name: 'No services yet' })).toBeVisible();
  await alive(page, scripted);
  await here.click();
  await page.locator('.picker').getByRole('button', { name: 'default', exact: true }).click();
  await expect(here).toContainText('default');
  await page.goto('/tenants');
  await page.getByRole('link', { name, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  await alive(page, scripted);
  await page.locator('#tenant-name').fill(`${name}-renamed`);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('The tenant has another name.')).toBeVisible();
  await expect(page.getByRole('link', { name: `${name}-renamed`, exact: true })).toBeVisible();
});
