// What only a living page does: it checks while one types, doubts a chain aloud, and guards what is not saved.

import { alive, logIn } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

test('a field is checked when it is left, and praised when it is mended', async ({ page, daemon }) => {
  await logIn(page, daemon);
  await page.goto('/services/new');
  await alive(page, true);
  const ttl = page.getByLabel('TTL, seconds');
  await ttl.fill('soon');
  await ttl.blur();
  await expect(page.getByText('`soon` is no whole number')).toBeVisible();
  await expect(ttl).toHaveAttribute('aria-invalid', 'true');
  await ttl.fill('60');
  await expect(page.getByText('`soon` is no whole number')).toBeHidden();
});

test('what only the server can tell stays at its field, and the field comes into view', async ({ page, daemon }) => {
  await page.clock.install();
  await logIn(page, daemon);
  await page.goto('/services/new');
  await alive(page, true);
  await page.getByLabel('Name').fill('refused');
  await page.getByLabel('Pool').selectOption({ label: 'web' });
  await page.getByRole('button', { name: 'Use filter chain' }).click();
  await page.getByRole('button', { name: 'Add Script' }).click();
  const script = page.getByRole('textbox', { name: 'Starlark' });
  const domain = page.getByLabel('Domain');
  const save = page.getByRole('button', { name: 'Save' }).last();
  await domain.fill('www.demo.example');
  await script.fill('result = [nosuch]');
  // The field is left by pressing the button, and its own check comes after the server's answer.
  await save.click();
  await expect(script).toHaveAttribute('aria-invalid', 'true');
  await page.clock.runFor(2000);
  await expect(script).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByRole('listitem').filter({ has: script })).toContainText('line 1, column 11');
  await expect(domain).toHaveAccessibleDescription(/is taken/);
  await expect(domain).toBeFocused();
  await expect(domain).toBeInViewport();

  await domain.fill('refused.demo.example');
  await save.click();
  await expect(script).toBeFocused();
  await expect(script).toBeInViewport();
  await script.fill('result = [c["ip"] for c in candidates]');
  await save.click();
  await expect(page.getByText('Saved. Queries are answered by it now.')).toBeVisible();
});

test('a chain in which a step has no effect says so', async ({ page, daemon }) => {
  await logIn(page, daemon);
  await page.goto('/services/new');
  await alive(page, true);
  await page.getByRole('button', { name: 'Use filter chain' }).click();
  await page.getByRole('button', { name: 'Add Random' }).click();
  await page.getByRole('button', { name: 'Add Geo IP' }).click();
  await expect(page.getByText('`geo-ip` never runs')).toBeVisible();
  await page.getByRole('button', { name: 'Move Geo IP up' }).click();
  await expect(page.getByText('`geo-ip` never runs')).toBeHidden();
  await page.getByRole('button', { name: 'Use single algorithm' }).click();
  await expect(page.getByLabel('Algorithm')).toBeVisible();
  await page.getByRole('button', { name: 'Use filter chain' }).click();
  await expect(page.locator('.preview-chain')).toHaveText('Geo IP → Random');
});

test('a stray click does not lose what is not saved', async ({ page, daemon }) => {
  await logIn(page, daemon);
  await page.goto('/services/new');
  await alive(page, true);
  await page.getByLabel('Name').fill('half typed');
  page.once('dialog', (dialog) => dialog.dismiss());
  await page.getByRole('link', { name: 'Pools' }).click();
  await expect(page).toHaveURL(/\/services\/new$/);
  await expect(page.getByLabel('Name')).toHaveValue('half typed');
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('link', { name: 'Pools' }).click();
  await expect(page).toHaveURL(/\/pools$/);
});

test('seven tabs live from one stream', async ({ context, daemon }) => {
  const first = await context.newPage();
  await logIn(first, daemon);
  const streams: string[] = [];
  context.on('request', (request) => {
    if (request.url().endsWith('/api/v1/events')) {
      streams.push(request.url());
    }
  });
  const pages = [];
  for (let tab = 0; tab < 7; tab += 1) {
    const page = await context.newPage();
    await page.goto('/');
    await alive(page, true);
    pages.push(page);
  }
  for (const page of pages) {
    const figure = page.locator('.legend b').first();
    await expect(figure).toBeVisible();
    await expect(page.getByText('Not live since')).toBeHidden();
  }
  // The log-in's own tab leads; the others listen to it.
  expect(streams.length).toBeLessThanOrEqual(1);
});
