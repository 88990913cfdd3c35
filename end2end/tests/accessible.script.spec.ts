// Every page, checked by axe against WCAG 2.2 AA: in light and dark, on a desk and on a small telephone.

import { AxeBuilder } from '@axe-core/playwright';

import { alive, logIn, walk } from '../fixtures/console.ts';
import { expect, test } from '../fixtures/test.ts';

const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 768, height: 1024 } },
  { name: 'telephone', colorScheme: 'light', viewport: { width: 360, height: 740 } },
] as const;

for (const { name, colorScheme, viewport } of LOOKS) {
  test.describe(name, () => {
    test.use({ colorScheme, viewport });

    test(`pages are accessible, ${name}`, async ({ page, daemon }) => {
      test.setTimeout(300_000);
      const faults: string[] = [];
      const look = async (route: string) => {
        const { violations } = await new AxeBuilder({ page })
          .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
          .analyze();
        for (const { id, help, nodes } of violations) {
          faults.push(...nodes.map((node) => `${route}: ${id}: ${help}: ${node.target.join(' ')}`));
        }
      };
      await page.goto('/login');
      await alive(page, true);
      await look('/login');
      await logIn(page, daemon);
      await walk(page, true, ({ route }) => look(route));
      expect(faults).toEqual([]);
    });
  });
}
