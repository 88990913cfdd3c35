// Zones: what is wrong is said at its field and nothing typed is lost; records, files, transfers and keys come and go.

import type { Page } from '@playwright/test';

import { alive, logIn } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

/** Makes a zone of its own and opens its records. */
async function newZone(page: Page, name: string, scripted: boolean): Promise<void> {
  await page.goto('/zones');
  await alive(page, scripted);
  await page.getByRole('textbox', { name: /^Zone/ }).fill(name);
  await page.getByRole('button', { name: 'Create zone' }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
}

/** Goes to another page of the zone. */
async function tab(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages of the zone' }).getByRole('link', { name }).click();
  await expect(page.getByRole('link', { name, exact: true })).toHaveAttribute('aria-current', 'page');
}

test('SOA and name servers are changed, and a zone is deleted', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  await logIn(page, daemon);
  await newZone(page, `settings-${scripted ? 'live' : 'plain'}.example`, scripted);
  await tab(page, 'SOA and name servers');
  await page.getByLabel('Refresh, seconds').fill('often');
  await page.getByLabel('Responsible mailbox').fill('dns.team@example.com');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('`often` is no whole number')).toBeVisible();
  await expect(page.getByLabel('Refresh, seconds')).toHaveValue('often');
  await page.getByLabel('Refresh, seconds').fill('3600');
  await page.getByRole('textbox', { name: 'Name servers', exact: true }).fill('ns1.example.net.\nnot..a.name');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText(/^2: .*empty label/)).toBeVisible();
  await page.getByRole('textbox', { name: 'Name servers', exact: true }).fill('ns1.example.net.\nns2.example.net.');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  await expect(page.getByLabel('Responsible mailbox')).toHaveValue('dns\\.team.example.com.');
  await page.getByText('Delete', { exact: true }).click();
  await page.getByRole('button', { name: 'Delete the zone' }).click();
  await expect(page).toHaveURL(/\/zones\?done=deleted/);
});

test('record sets are added, refused at their field, changed and deleted', async ({ page, daemon, resolve4, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const zone = `records-${scripted ? 'live' : 'plain'}.example`;
  await logIn(page, daemon);
  await newZone(page, zone, scripted);
  await page.getByRole('link', { name: 'Add a record set' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('mail');
  await page.getByLabel('Type').fill('A');
  await page.getByLabel('Data').fill('192.0.2.7\n192.0.2.300');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText(/^2: /)).toBeVisible();
  await expect(page.getByLabel('Data')).toHaveValue('192.0.2.7\n192.0.2.300');
  await page.getByLabel('Data').fill('192.0.2.7\n192.0.2.8');
  await page.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row').filter({ hasText: 'mail' });
  await expect(row).toContainText('192.0.2.8');
  expect((await resolve4(`mail.${zone}`)).sort()).toEqual(['192.0.2.7', '192.0.2.8']);

  await row.getByRole('link').click();
  await page.getByLabel('Data').fill('192.0.2.9');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('192.0.2.9');
  await page.getByRole('searchbox').fill('nothing like it');
  await page.getByRole('searchbox').press('Enter');
  await expect(page.getByRole('heading', { name: 'Nothing found' })).toBeVisible();
  await page.getByRole('link', { name: 'Show all record sets' }).click();
  await row.getByRole('link').click();
  await page.getByText('Delete', { exact: true }).click();
  await page.getByRole('button', { name: 'Delete the record set' }).click();
  await expect(page.getByRole('heading', { name: 'No static records' })).toBeVisible();
});

test('a zone file is looked at before it is taken over', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  await logIn(page, daemon);
  await newZone(page, `file-${scripted ? 'live' : 'plain'}.example`, scripted);
  await tab(page, 'Zone file');
  await page.getByLabel('Zone file').fill('www IN A 192.0.2.1\nbad IN A nowhere\n');
  await page.getByRole('button', { name: 'Show what it changes' }).click();
  await expect(page.getByRole('alert')).toContainText('line 2');
  await expect(page.getByLabel('Zone file')).toHaveValue(/nowhere/);
  await page.getByLabel('Zone file').fill('www IN A 192.0.2.1\ntext IN TXT "two words"\n');
  await page.getByRole('button', { name: 'Show what it changes' }).click();
  await expect(page.getByText('2 added, 0 changed, 0 removed')).toBeVisible();
  await page.getByRole('button', { name: 'Take it over' }).click();
  await expect(page.getByRole('row').filter({ hasText: 'TXT' })).toContainText('"two words"');
  await tab(page, 'Zone file');
  await expect(page.getByRole('link', { name: 'Download the zone file' })).toHaveAttribute('href', /\/export$/);
});

test('a key is made, shown once, and names a peer', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const end = scripted ? 'live' : 'plain';
  await logIn(page, daemon);
  await page.goto('/zones/keys');
  await alive(page, scripted);
  await page.getByRole('textbox', { name: 'Name' }).fill('not..a.name');
  await page.getByRole('button', { name: 'Make the key' }).click();
  await expect(page.getByText(/empty label/)).toBeVisible();
  await page.getByRole('textbox', { name: 'Name' }).fill(`second-${end}.example`);
  await page.getByRole('button', { name: 'Make the key' }).click();
  await expect(page.locator('.copy-text')).toContainText(`hmac-sha256:second-${end}.example`);
  await page.reload();
  await expect(page.getByText('Its secret was shown before')).toBeVisible();

  await newZone(page, `transfer-${end}.example`, scripted);
  await tab(page, 'Transfers');
  await page.getByLabel('Network of peer 1').fill('192.0.2.1/24');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('the network is 192.0.2.0/24')).toBeVisible();
  await expect(page.getByLabel('Network of peer 1')).toHaveValue('192.0.2.1/24');
  await page.getByLabel('Network of peer 1').fill('192.0.2.0/24');
  await page.getByLabel('Key of peer 1').selectOption({ index: 1 });
  await page.getByLabel('Address of target 1').fill('192.0.2.53');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  await expect(page.getByLabel('Address of target 1')).toHaveValue('192.0.2.53:53');
});

test('a zone is signed, its key rolled, and the DS shown', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  await logIn(page, daemon);
  await newZone(page, `signed-${scripted ? 'live' : 'plain'}.example`, scripted);
  await tab(page, 'DNSSEC');
  await page.getByRole('button', { name: 'Sign the zone' }).click();
  await expect(page.locator('.copy-text')).toContainText(/ DS \d+ 13 2 /);
  await page.getByRole('button', { name: 'New key' }).click();
  const fresh = page.getByRole('row').filter({ hasText: 'Published' });
  await expect(fresh).toBeVisible();
  await fresh.getByText('Activate', { exact: true }).first().click();
  await fresh.getByRole('button', { name: 'Activate' }).click();
  // Caches do not know it yet.
  await expect(fresh.getByRole('alert')).not.toBeEmpty();
  await fresh.getByText('Remove', { exact: true }).first().click();
  await fresh.getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByText('The key is removed.')).toBeVisible();
});

test('what two change in one record set at once is told to the second', async ({ page, daemon, browser, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  await logIn(page, daemon);
  await newZone(page, `twice-${scripted ? 'live' : 'plain'}.example`, scripted);
  await page.getByRole('link', { name: 'Add a record set' }).click();
  await alive(page, scripted);
  await page.locator('#record-name').fill('www');
  await page.locator('#record-type').fill('A');
  await page.locator('#record-data').fill('192.0.2.1');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'www A' }).click();
  await expect(page.locator('#record-data')).toHaveValue('192.0.2.1');
  await alive(page, scripted);

  const other = await browser.newContext({ javaScriptEnabled: scripted });
  const theirs = await other.newPage();
  await logIn(theirs, daemon);
  await theirs.goto(page.url());
  await alive(theirs, scripted);
  await page.locator('#record-data').fill('192.0.2.1\n192.0.2.2');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved. Queries are answered by it now.')).toBeVisible();

  await theirs.locator('#record-ttl').fill('77');
  await theirs.getByRole('button', { name: 'Save' }).click();
  const told = theirs.locator('.conflict');
  await expect(told.getByRole('row', { name: /^Data/ })).toContainText('192.0.2.2');
  await expect(told.getByRole('row', { name: /^TTL/ })).toContainText('77');
  await expect(theirs.locator('#record-ttl')).toHaveValue('77');
  await alive(theirs, scripted);
  await theirs.locator('#record-data').fill('192.0.2.1\n192.0.2.2');
  await theirs.getByRole('button', { name: 'Save' }).click();
  await expect(theirs.getByText('Saved. Queries are answered by it now.')).toBeVisible();
  await expect(theirs.getByRole('row', { name: /^www A/ })).toContainText('77 s');
  await other.close();
});
