// The configuration as a document: given out, looked at, taken over.

import { alive, logIn } from '../fixtures/console.ts';
import { type Daemon, expect, test } from '../fixtures/test.ts';

const headers = (daemon: Daemon) => ({ authorization: `Bearer ${daemon.token}` });

async function exported(daemon: Daemon): Promise<string> {
  const answer = await fetch(`${daemon.url}/api/v1/config/export`, { headers: headers(daemon) });
  expect(answer.status).toBe(200);
  return answer.text();
}

/** The document with another TTL of one service. */
function changed(document: string, ttl: number): string {
  const at = document.indexOf('\nservices:');
  return document.slice(0, at) + document.slice(at).replace(/ttl: \d+/, `ttl: ${ttl}`);
}

test('a document is looked at, and then taken over', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const ttl = scripted ? 4321 : 4322;
  await logIn(page, daemon);
  await page.goto('/settings/configuration');
  await alive(page, scripted);
  const look = page.getByRole('button', { name: 'Show what it changes' });
  await look.click();
  await expect(page.getByText('paste a document, or choose a file')).toBeVisible();
  await alive(page, scripted);
  await page.getByLabel('Document', { exact: true }).fill('zones: [');
  await look.click();
  await expect(page.getByText('the document cannot be read')).toBeVisible();
  await expect(page.getByLabel('Document', { exact: true })).toHaveValue('zones: [');
  await alive(page, scripted);

  const document = changed(await exported(daemon), ttl);
  await page.getByLabel('Document', { exact: true }).fill(document);
  await look.click();
  await expect(page.getByRole('heading', { name: 'What the document changes' })).toBeVisible();
  await expect(page.getByText('0 created, 1 updated, 0 deleted')).toBeVisible();
  await alive(page, scripted);
  const row = page.getByRole('row').filter({ hasText: 'updated service' });
  await row.getByText('ttl', { exact: true }).first().click();
  await expect(row.locator('ins')).toHaveText(String(ttl));
  expect(await exported(daemon)).not.toContain(`ttl: ${ttl}`);

  // Somebody else changes something meanwhile: the look is shown anew, and nothing is done.
  const touched = await fetch(`${daemon.url}/api/v1/users`, {
    method: 'POST',
    headers: { ...headers(daemon), 'content-type': 'application/json' },
    body: JSON.stringify({ name: `meanwhile-${ttl}`, password: 'a password of twelve and more' }),
  });
  expect(touched.status).toBe(201);
  await page.getByRole('button', { name: 'Take over 1 change' }).click();
  await expect(page.getByText('Something was changed since you looked.')).toBeVisible();
  expect(await exported(daemon)).not.toContain(`ttl: ${ttl}`);
  await alive(page, scripted);
  await page.getByRole('button', { name: 'Take over 1 change' }).click();
  await expect(page.getByText('1 change is made.')).toBeVisible();
  expect(await exported(daemon)).toContain(`ttl: ${ttl}`);
});
