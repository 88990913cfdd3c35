// What the console tells, and how often: once, in words, and not only on the page where it happened.

import { alive, logIn } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

test('the tracer tells what is wrong once', async ({ page, daemon, javaScriptEnabled }) => {
  await logIn(page, daemon);
  await page.goto('/trace?domain=www.demo.example&client=nonsense&chain=geo-ip');
  await alive(page, javaScriptEnabled !== false);
  await expect(page.getByText('Client: `nonsense` is no IPv4 or IPv6 address')).toHaveCount(1);
});

test('the columns of a trace are all on the page', async ({ page, daemon, javaScriptEnabled }) => {
  await logIn(page, daemon);
  for (const width of [360, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto('/trace?domain=cache.demo.example&client=203.0.113.0/24&chain=geo-ip,asn,map-file,random');
    await alive(page, javaScriptEnabled !== false);
    await expect(page.locator('.stage-column').last()).toBeVisible();
    const ends = await page
      .locator('.stage-column')
      .evaluateAll((columns) => columns.map((column) => column.getBoundingClientRect().right));
    expect(Math.max(...ends)).toBeLessThanOrEqual(width);
  }
});

test('a region that is no country is told of, and a change is on the dashboard', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const name = scripted ? 'narnia' : 'narnia-plain';
  await logIn(page, daemon);
  await page.goto('/pools/new');
  await alive(page, scripted);
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'Add member' }).click();
  await page.getByLabel('Address').fill('192.0.2.78');
  await page.getByLabel('Port', { exact: false }).first().fill('80');
  await page.getByLabel('Region').fill('Narnia');
  await page.getByRole('button', { name: 'Save member' }).click();
  await expect(page.getByText('the region `Narnia` is no two-letter country code')).toBeVisible();
  await page.goto('/');
  await expect(page.locator('.event').filter({ hasText: name }).first()).toContainText('by admin');
});

test('a step that is wrong is named by its place', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  await logIn(page, daemon);
  await page.goto('/services/new');
  await alive(page, scripted);
  await page.getByLabel('Name', { exact: false }).first().fill('wrong-step');
  await page.getByLabel('Domain').fill('wrong-step.demo.example');
  await page.getByLabel('Pool').selectOption({ label: 'web' });
  await page.getByRole('button', { name: 'Use filter chain' }).click();
  await page.getByRole('button', { name: 'Add Geo IP' }).click();
  await page.getByRole('button', { name: 'Add Script' }).click();
  await page.getByLabel('Starlark').fill('result = nobody\n');
  await page.getByRole('button', { name: 'Save', exact: true }).last().click();
  await expect(page.getByRole('alert').filter({ hasText: 'Step 2 of the chain' })).toBeVisible();
});
