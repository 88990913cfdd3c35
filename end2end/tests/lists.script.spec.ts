// Lists that the server writes, once they are alive: searched while one types, and true while one looks.

import { alive, logIn } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

test('a list is searched while one types, and the focus stays', async ({ page, daemon }) => {
  await logIn(page, daemon);
  await page.goto('/services?sort=-name');
  await alive(page, true);
  const box = page.getByRole('searchbox');
  const names = page.locator('tbody th[scope=row]');
  await box.pressSequentially('gre');
  await expect(names).toHaveText(['green']);
  await expect(page).toHaveURL(/q=gre&sort=-name/);
  await expect(box).toBeFocused();
  await page.keyboard.type('x');
  await expect(page.getByRole('heading', { name: 'Nothing found' })).toBeVisible();
  await expect(box).toHaveValue('grex');
  await page.keyboard.press('Backspace');
  await expect(names).toHaveText(['green']);
  await expect(box).toBeFocused();
});

test('the table of pools follows what happens', async ({ page, daemon }) => {
  const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' };
  const address = `${daemon.url}/api/v1/pools`;
  const made = await fetch(address, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'followed', members: [{ ipAddress: '192.0.2.77', port: 80 }] }),
  });
  const { id } = (await made.json()) as { id: string };
  await logIn(page, daemon);
  await page.goto('/pools?q=followed');
  await alive(page, true);
  const row = page.getByRole('row', { name: /^followed/ });
  await expect(row).toContainText('1 / 1');
  const added = await fetch(`${address}/${id}/members`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ipAddress: '192.0.2.78', port: 80 }),
  });
  expect(added.status).toBe(201);
  await expect(row).toContainText('2 / 2');
});
