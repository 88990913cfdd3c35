// The daemon is up with its sample configuration: the console greets, DNS answers, the API lets nobody in unasked.

import { expect, test } from '../fixtures/test.ts';

test('the console asks who one is before it shows anything', async ({ page, complaints }) => {
  complaints.allow(/401/);
  const response = await page.goto('/');
  expect(response?.status()).toBe(200);
  await expect(page).toHaveTitle(/GSLB/);
  await expect(page.getByLabel(/password/i)).toBeVisible();
});

test('DNS answers for a sample service', async ({ resolve4 }) => {
  const addresses = await resolve4('www.demo.example');
  expect(addresses.length).toBeGreaterThan(0);
});

test('the API knows its token and refuses everything else', async ({ request, daemon }) => {
  const answer = async (headers: Record<string, string>) =>
    (await request.get('/api/v1/services', { headers })).status();
  expect(await answer({})).toBe(401);
  expect(await answer({ authorization: 'Bearer gslb_wrong' })).toBe(401);
  expect(await answer({ authorization: `Bearer ${daemon.token}` })).toBe(200);
});
