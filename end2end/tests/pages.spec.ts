// Every page opens, has a heading, and comes to life without a complaint of the browser.

import { alive, logIn, walk } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

test('the log-in page comes to life', async ({ page, javaScriptEnabled }) => {
  await page.goto('/login');
  await alive(page, javaScriptEnabled !== false);
  await expect(page.getByRole('button', { name: 'Log in' })).toBeEnabled();
});

test('every page opens', async ({ page, daemon, javaScriptEnabled }) => {
  test.slow();
  await logIn(page, daemon);
  const visits = await walk(page, javaScriptEnabled !== false, async ({ path }) => {
    await expect(page.getByRole('heading', { level: 1 }), `heading of ${path}`).toHaveCount(1);
  });
  const routes = visits.map((visit) => visit.route);
  expect(routes).toEqual(expect.arrayContaining(['/', '/services', '/services/:id', '/pools', '/pools/:id']));
});
