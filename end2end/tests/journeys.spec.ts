// What people do with the console: build a chain, repair a form, meet somebody else's change, watch a member die.

import type { Page } from '@playwright/test';

import { alive, logIn } from '../fixtures/console.ts';
import { type Daemon, expect, test } from '../fixtures/test.ts';

/** Asks the API, as the administrator. */
async function api<T>(daemon: Daemon, path: string, init: RequestInit = {}): Promise<T> {
  const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' };
  const response = await fetch(`${daemon.url}/api/v1${path}`, { ...init, headers: { ...headers, ...init.headers } });
  expect(response.ok, `${path}: ${response.status}`).toBe(true);
  return (await response.json()) as T;
}

interface Item {
  readonly id: string;
  readonly name: string;
}

async function find(daemon: Daemon, list: 'services' | 'pools', name: string): Promise<Item> {
  const page = await api<{ items: Item[] }>(daemon, `/${list}?search=${name}`);
  const item = page.items.find((one) => one.name === name);
  expect(item, `${list} has ${name}`).toBeDefined();
  return item as Item;
}

/** Opens the form of a new service with the chain builder shown. */
async function newChain(page: Page, name: string, scripted: boolean): Promise<void> {
  await page.goto('/services/new');
  await alive(page, scripted);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Domain').fill(`${name}.demo.example`);
  await page.getByLabel('Pool').selectOption({ label: 'web' });
  await page.getByRole('button', { name: 'Use filter chain' }).click();
}

const titles = (page: Page) => page.locator('#chain-steps .step-title');
const preview = (page: Page) => page.locator('.preview-chain');

test('a chain is built, ordered and saved', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  const name = scripted ? 'built' : 'built-plain';
  await logIn(page, daemon);
  await newChain(page, name, scripted);
  for (const filter of ['Weighted Round Robin', 'Geo IP', 'Sticky']) {
    await page.getByRole('button', { name: `Add ${filter}` }).first().click();
    await expect(titles(page).last()).toContainText(filter);
  }
  await page.getByRole('button', { name: 'Move Geo IP up' }).click();
  await expect(preview(page)).toHaveText('Geo IP → Weighted Round Robin → Sticky');
  await page.getByRole('button', { name: 'Remove Sticky' }).click();
  await expect(preview(page)).toHaveText('Geo IP → Weighted Round Robin');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page).toHaveURL(/\/services\/[0-9a-f-]{36}/);
  const { id } = await find(daemon, 'services', name);
  const stored = await api<{ filterChain: string[]; algorithm: string }>(daemon, `/services/${id}`);
  expect(stored).toMatchObject({ algorithm: '', filterChain: ['geo-ip', 'weighted-round-robin'] });
});

test('steps are dragged by pointer and by keyboard', async ({ page, daemon, javaScriptEnabled }) => {
  test.skip(javaScriptEnabled === false, 'without scripts there are the buttons');
  await logIn(page, daemon);
  await newChain(page, 'dragged', true);
  for (const filter of ['Geo IP', 'ASN', 'Failover']) {
    await page.getByRole('button', { name: `Add ${filter}` }).first().click();
  }
  await expect(preview(page)).toHaveText('Geo IP → ASN → Failover');
  const grip = (title: string) => page.getByRole('button', { name: new RegExp(`^${title}, step`) });
  // Adding from the palette has scrolled the rows away.
  await grip('Geo IP').scrollIntoViewIfNeeded();
  const from = await grip('Geo IP').boundingBox();
  const to = await page.locator('#chain-steps .step').last().boundingBox();
  if (!from || !to) {
    throw new Error('the rows have no place on the page');
  }
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(from.x + from.width / 2, to.y + to.height - 4, { steps: 12 });
  await page.mouse.up();
  await expect(preview(page)).toHaveText('ASN → Failover → Geo IP');
  await grip('Geo IP').focus();
  await page.keyboard.press('ArrowUp');
  await expect(preview(page)).toHaveText('ASN → Geo IP → Failover');
  await expect(grip('Geo IP')).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await expect(preview(page)).toHaveText('Geo IP → ASN → Failover');
  await expect(grip('Geo IP')).toBeFocused();
});

test('a wrong form names its fields and keeps what was typed', async ({ page, daemon, javaScriptEnabled }) => {
  await logIn(page, daemon);
  await page.goto('/services/new');
  await alive(page, javaScriptEnabled !== false);
  await page.getByLabel('Name').fill('wrong');
  await page.getByLabel('Domain').fill('two..dots');
  await page.getByLabel('Pool').selectOption({ label: 'web' });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('empty label').first()).toBeVisible();
  await expect(page.getByLabel('Domain')).toHaveValue('two..dots');
  await expect(page.getByLabel('Name')).toHaveValue('wrong');
});

test('who saves second learns of the first and loses nothing', async ({ page, daemon, javaScriptEnabled }) => {
  const scripted = javaScriptEnabled !== false;
  await logIn(page, daemon);
  const { id } = await find(daemon, 'services', 'fastest');
  await page.goto(`/services/${id}/edit`);
  await alive(page, scripted);
  await api(daemon, `/services/${id}`, { method: 'PATCH', body: JSON.stringify({ ttl: scripted ? 41 : 42 }) });
  await page.getByLabel('TTL').fill('77');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText(/changed/i).first()).toBeVisible();
  await expect(page.getByLabel('TTL')).toHaveValue('77');
  const stored = await api<{ ttl: number }>(daemon, `/services/${id}`);
  expect(stored.ttl).toBe(scripted ? 41 : 42);
});

test('the tracer explains an answer', async ({ page, daemon, javaScriptEnabled }) => {
  await logIn(page, daemon);
  await page.goto('/trace');
  await alive(page, javaScriptEnabled !== false);
  await page.getByLabel('Domain').fill('www.demo.example');
  await page.getByLabel('Client').fill('203.0.113.0/24');
  await page.getByRole('button', { name: 'Trace', exact: true }).click();
  await expect(page).toHaveURL(/client=203/);
  await expect(page.getByText('keeps the candidates in DE').first()).toBeVisible();
  await expect(page.getByText(/127\.0\.20\.[12]/).first()).toBeVisible();
});

test('a member that dies is seen without a reload', async ({ page, daemon, resolve4, javaScriptEnabled }) => {
  test.skip(javaScriptEnabled === false, 'live values need scripts');
  const fail = /POST (http:\/\/127\.0\.20\.1:\d+)\/fail/.exec(daemon.output())?.[1];
  expect(fail, 'the greeting tells how to let a member fail').toBeDefined();
  await logIn(page, daemon);
  const { id } = await find(daemon, 'pools', 'web');
  await page.goto(`/pools/${id}`);
  await alive(page, true);
  const row = page.getByRole('row').filter({ hasText: '127.0.20.1' });
  await expect(row).toContainText('Up');
  await page.evaluate(() => Object.assign(window, { stayed: true }));
  await fetch(`${fail}/fail`, { method: 'POST' });
  await expect(row).toContainText('Down');
  await expect
    .poll(async () => (await Promise.all(Array.from({ length: 8 }, () => resolve4('green.demo.example')))).flat())
    .not.toContain('127.0.20.1');
  await fetch(`${fail}/recover`, { method: 'POST' });
  await expect(row).toContainText('Up');
  expect(await page.evaluate(() => 'stayed' in window), 'the page was not loaded again').toBe(true);
});
