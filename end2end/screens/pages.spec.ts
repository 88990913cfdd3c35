// A picture of every page in light, in dark, and at the width of a small telephone.

import { alive, logIn, walk } from '../fixtures/console.ts';
import { test } from '../fixtures/test.ts';

const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { name: '768', colorScheme: 'dark', viewport: { width: 768, height: 1024 } },
  { name: '360', colorScheme: 'light', viewport: { width: 360, height: 740 } },
] as const;

for (const { name, colorScheme, viewport } of LOOKS) {
  test.describe(name, () => {
    test.use({ colorScheme, viewport });

    test(`pages, ${name}`, async ({ page, daemon }) => {
      test.setTimeout(300_000);
      const shoot = async (route: string) => {
        const file = route === '/' ? 'dashboard' : route.slice(1).replaceAll('/', '-').replaceAll(':', '');
        await page.screenshot({ path: `screenshots/${file}-${name}.png`, fullPage: true, animations: 'disabled' });
      };
      await page.goto('/login');
      await alive(page, true);
      await shoot('/login');
      await logIn(page, daemon);
      await walk(page, true, ({ route }) => shoot(route));
    });
  });
}
