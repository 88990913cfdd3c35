// Each form says what is wrong, at its field, and keeps what was typed; the log-in says as little as it can.

import { alive, logIn } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

test('a failed log-in does not tell what was wrong, a good one leads on', async ({ page, daemon }) => {
  await page.goto('/services?sort=-name');
  await expect(page).toHaveURL(/\/login\?next=/);
  for (const name of [daemon.user, 'nobody']) {
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(page.getByRole('alert')).toHaveText('Name or password is not right.');
  }
  await page.getByLabel('Name').fill(daemon.user);
  await page.getByLabel('Password').fill(daemon.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page).toHaveURL(/\/services\?sort=-name$/);
});

test('a pool and its members: wrong, mended, drained, removed', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const name = scripted ? 'forms' : 'forms-plain';
  await logIn(page, daemon);
  await page.goto('/pools/new');
  await alive(page, scripted);
  await page.getByLabel('Minimum of healthy members').fill('many');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('must be given')).toBeVisible();
  await expect(page.getByText('`many` is no whole number')).toBeVisible();
  await expect(page.getByLabel('Minimum of healthy members')).toHaveValue('many');
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Minimum of healthy members').fill('0');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();

  await page.getByRole('link', { name: 'Add member' }).click();
  await page.getByLabel('Address').fill('10.0.0.300');
  await page.getByLabel('Port', { exact: false }).first().fill('99999');
  await page.getByRole('button', { name: 'Save member' }).click();
  await expect(page.getByText('`10.0.0.300` is no IPv4 or IPv6 address')).toBeVisible();
  await expect(page.getByText('99999 is no port')).toBeVisible();
  await expect(page.getByLabel('Address')).toHaveValue('10.0.0.300');
  await page.getByLabel('Address').fill('192.0.2.77');
  await page.getByLabel('Port', { exact: false }).first().fill('8080');
  await page.getByRole('button', { name: 'Save member' }).click();
  const row = page.getByRole('row').filter({ hasText: '192.0.2.77' });
  await expect(row).toBeVisible();

  await row.getByRole('button', { name: 'Drain' }).click();
  await expect(row).toContainText('Draining');
  await expect(row.getByRole('button', { name: 'Drain' })).toHaveAttribute('aria-pressed', 'true');

  await page.getByRole('link', { name: 'Change' }).click();
  await page.getByLabel('Kind').selectOption('tcp');
  await page.getByLabel('Interval, ms').fill('500');
  await page.getByLabel('Timeout, ms').fill('900');
  await page.getByRole('button', { name: 'Save check' }).click();
  await expect(page.getByText('a probe would outlast its turn')).toBeVisible();
  await page.getByLabel('Timeout, ms').fill('400');
  await page.getByRole('button', { name: 'Save check' }).click();
  await expect(page.getByText('Connects by TCP')).toBeVisible();

  await row.getByText('Remove', { exact: true }).click();
  await row.getByRole('button', { name: 'Remove the member' }).click();
  await expect(page.getByRole('heading', { name: 'No members yet' })).toBeVisible();
  await page.getByText('Delete', { exact: true }).click();
  await page.getByRole('button', { name: 'Delete the pool' }).click();
  await expect(page).toHaveURL(/\/pools\?done=deleted/);
});

test('a pool in use is kept, and says why', async ({ page, daemon, javaScriptEnabled }) => {
  await logIn(page, daemon);
  await page.goto('/pools');
  await page.getByRole('link', { name: 'web', exact: true }).click();
  await alive(page, javaScriptEnabled !== false);
  await page.getByText('Delete', { exact: true }).click();
  await page.getByRole('button', { name: 'Delete the pool' }).click();
  await expect(page.getByRole('alert').filter({ hasText: /used by/ }).first()).toBeVisible();
});

test('zones, licence and password say what is wrong', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  await logIn(page, daemon);
  await page.goto('/zones');
  await alive(page, scripted);
  await page.getByRole('textbox', { name: /^Zone/ }).fill('-two..dots');
  await page.getByRole('button', { name: 'Create zone' }).click();
  await expect(page.getByText(/empty label/)).toBeVisible();
  await expect(page.getByRole('textbox', { name: /^Zone/ })).toHaveValue('-two..dots');

  await page.goto('/settings/licence');
  await alive(page, scripted);
  await page.getByLabel('Licence text').fill('no.licence');
  await page.getByRole('button', { name: 'Install' }).click();
  await expect(page.locator('#license-license-problem, [role=alert] .notice').filter({ hasText: /\w/ }).first()).toBeVisible();
  await expect(page.getByLabel('Licence text')).toHaveValue('no.licence');

  await page.goto('/settings/password');
  await alive(page, scripted);
  await page.getByLabel('Current password').fill('not this');
  await page.getByLabel('New password', { exact: true }).fill('long enough');
  await page.getByLabel('New password, again').fill('another one');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByText('is not the same as the new password')).toBeVisible();
  expect(page.url()).not.toContain('enough');
});

test('services are searched and sorted by the server', async ({ page, daemon, javaScriptEnabled }) => {
  await logIn(page, daemon);
  await page.goto('/services');
  await alive(page, javaScriptEnabled !== false);
  const names = page.locator('tbody th[scope=row]');
  await page.getByRole('link', { name: 'Name' }).click();
  await expect(page).toHaveURL(/sort=-name/);
  await expect(names.first()).toHaveText('www');
  await page.getByRole('searchbox').fill('gre');
  await page.getByRole('searchbox').press('Enter');
  await expect(names).toHaveText(['green']);
  await expect(page.locator('tbody')).toContainText('Signal Weight');
  await page.getByRole('searchbox').fill('no such thing');
  await page.getByRole('searchbox').press('Enter');
  await expect(page.getByRole('heading', { name: 'Nothing found' })).toBeVisible();
});

test('addresses that lead nowhere help', async ({ page, daemon, complaints }) => {
  complaints.allow(/404/);
  await logIn(page, daemon);
  for (const path of ['/nowhere', '/services/00000000-0000-0000-0000-000000000000', '/pools/junk']) {
    const response = await page.goto(path);
    expect(response?.status(), path).toBe(404);
    await expect(page.getByRole('link', { name: 'Go to the dashboard' })).toBeVisible();
  }
});
