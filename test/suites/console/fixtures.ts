import AxeBuilder from '@axe-core/playwright'
import { test as base, expect, type Page } from '@playwright/test'

interface Fixtures {
  /** Errors that a page threw or wrote to its console. Every test must end without any. */
  faults: string[]
}

/** The tests of the console. Each fails if its page throws, or if the page's policy refuses something. */
export const test = base.extend<Fixtures>({
  faults: [
    async ({ page }, use) => {
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(String(error)))
      page.on('console', (message) => {
        // The screens show a refused request, but the browser also logs it as an error.
        if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(message.text()))
          faults.push(message.text())
      })
      await use(faults)
      // A request that is still answered when a test ends is no fault of the page.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      expect(faults).toEqual([])
    },
    { auto: true },
  ],
})
export { expect }

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Checks that the page does not scroll sideways. */
export async function expectToFit(page: Page): Promise<void> {
  const wider = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    return scrollWidth - clientWidth
  })
  expect(wider).toBeLessThanOrEqual(0)
}

export const PHONE = { width: 390, height: 844 }

/** Checks the page against WCAG 2.2 AA, in both themes. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await new AxeBuilder({ page }).withTags(RULES).analyze()
    expect(
      violations.map(({ id, nodes }) => `${colorScheme}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`),
    ).toEqual([])
  }
  await page.emulateMedia({ colorScheme: 'light' })
}
