// Before a service is saved: who would get what, and what is wrong with its script, at its line.

import { alive, logIn } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

test('who would get what is told beside the form, for a service that is not saved', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  await logIn(page, daemon);
  await page.goto('/services/new');
  await alive(page, scripted);
  const beside = page.locator('#who-gets');
  await expect(beside).toContainText('Choose a pool');
  await page.getByLabel('Pool').selectOption({ label: 'web' });
  await page.getByRole('button', { name: 'Use filter chain' }).click();
  await page.getByRole('button', { name: 'Add Geo IP' }).click();
  await expect(beside.getByRole('listitem').filter({ hasText: '203.0.113.0/24' }).first()).toContainText(/DE.*127\.0\.20\./);
  await expect(beside.getByRole('listitem').filter({ hasText: '192.0.2.0/24' }).first()).toContainText(/JP.*127\.0\.30\./);
  await beside.getByText('Why').first().click();
  await expect(beside.getByText('keeps the candidates in US').first()).toBeVisible();
});

test('a script is judged while it is typed', async ({ page, daemon, javaScriptEnabled }) => {
  test.skip(javaScriptEnabled === false, 'without scripts it is judged when it is saved');
  await logIn(page, daemon);
  await page.goto('/services/new');
  await alive(page, true);
  await page.getByLabel('Pool').selectOption({ label: 'web' });
  await page.getByRole('button', { name: 'Use filter chain' }).click();
  await page.getByRole('button', { name: 'Add Script' }).click();
  const editor = page.getByLabel('Starlark');
  await editor.fill('# two lines\nresult = [c["ip"] for c in nobody]\n');
  await expect(page.locator('#chain-steps .problem')).toContainText('line 2');
  await expect(page.locator('.script-lines b')).toHaveText('2');
  await expect(page.locator('.script-paint .t-c')).toHaveText('# two lines');
  await editor.fill('result = [c["ip"] for c in candidates if c["region"] == "JP"]\n');
  await expect(page.locator('#chain-steps .problem')).toHaveCount(0);
  await expect(page.locator('#who-gets .gets-answers').first()).toContainText('127.0.30.');
});

test('problems of the form and of the daemon are told together', async ({ page, daemon, javaScriptEnabled }) => {
  await logIn(page, daemon);
  await page.goto('/services/new');
  await alive(page, javaScriptEnabled !== false);
  await page.getByLabel('Name', { exact: false }).first().fill('together');
  await page.getByLabel('Domain').fill('www.demo.example');
  await page.getByLabel('Pool').selectOption({ label: 'web' });
  await page.getByLabel('TTL, seconds').fill('soon');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('`soon` is no whole number')).toBeVisible();
  await expect(page.locator('#service-domain-problem')).not.toBeEmpty();
});

test('what a change would do is told by the queries there have been', async ({ page, daemon, resolve4, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const name = `preview-${scripted ? 'scripted' : 'plain'}`;
  const api = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' };
    const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${daemon.url}/api/v1${path}`, init);
    expect(response.ok).toBe(true);
    return response.json();
  };
  const pools = (await api('/pools')) as { items: { id: string; name: string }[] };
  const poolId = pools.items.find((pool) => pool.name === 'web')?.id;
  const draft = { name, domain: `${name}.demo.example`, poolId, algorithm: 'failover' };
  const { id } = (await api('/services', draft)) as { id: string };

  await logIn(page, daemon);
  await page.goto(`/services/${id}/edit`);
  await alive(page, scripted);
  const preview = page.getByRole('region', { name: 'What would change' });
  await expect(preview).toContainText('Nobody has asked for this service lately');
  let got = '';
  for (let n = 0; n < 10; n += 1) {
    const addresses = await resolve4(draft.domain);
    expect(addresses).toHaveLength(1);
    got = addresses.join();
  }
  await page.reload();
  await alive(page, scripted);
  await expect(preview).toContainText('No answer changes, of 10 recent queries.');
  await expect(preview.getByRole('row')).toHaveCount(2);
  await expect(preview.getByRole('row').last()).toContainText(/100\.0 %.*100\.0 %/);
  if (scripted) {
    await page.getByRole('button', { name: 'Use filter chain' }).click();
    await page.getByRole('button', { name: 'Add Script' }).click();
    await page.getByLabel('Starlark').fill(`result = [c["ip"] for c in candidates if c["ip"] != "${got}"]\n`);
    await expect(preview).toContainText('100.0 % of 10 recent queries would get another answer.');
    await expect(preview.getByRole('row')).toHaveCount(3);
    await preview.getByText('Which clients move').click();
    await expect(preview.getByRole('listitem').filter({ hasText: '127.0.0.0/24' }).first()).toContainText('→');
    // Beside the button that saves it is told too.
    await expect(page.getByRole('status').filter({ hasText: 'Unsaved changes. 100.0 %' })).toBeVisible();
    await page.getByRole('button', { name: 'Use single algorithm' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'No answer changes' })).toBeVisible();
  }
});
