import AxeBuilder from '@axe-core/playwright'
import { test as base, expect, type Page, type Route } from '@playwright/test'
import type { Session } from '../../../console/client/api/schemas.ts'

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

/** Changes a session on its way to the page. */
export const changeSession = (page: Page, change: (session: Session) => object | undefined) =>
  page.route('**/api/v1/sessions?*', async (route) => {
    const response = await route.fetch()
    const session: Session = await response.json()
    const changes = change(session)
    await route.fulfill({ response, json: { ...session, ...changes } })
  })

/** Makes every session one of somebody else. */
export const refuseSessions = (page: Page) =>
  page.route('**/api/v1/sessions?*', (route) => route.fulfill({ status: 403, json: { detail: 'Not yours.' } }))

const HEADERS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' }

/** Replaces the answer of the object store for a link, whatever its signature, or for all links that match. */
export const serveDocument = (page: Page, link: string | RegExp, answer: Parameters<Route['fulfill']>[0]) =>
  page.route(typeof link === 'string' ? `${link.replace(/\?.*$/, '')}*` : link, (route) =>
    route.fulfill({ ...answer, headers: { ...HEADERS, ...answer?.headers } }),
  )

/** Replaces the document of a session's plan. */
export const servePlan = (page: Page, { rounds }: Session, json: unknown) =>
  serveDocument(
    page,
    rounds.flatMap(({ plans }) => plans.flatMap(({ document_url }) => document_url ?? [])).at(-1) ?? '',
    {
      json,
    },
  )

/** Answers the event stream of a session with these events, then with an end if one is given. */
export const serveEvents = (
  page: Page,
  stream: 'activity' | 'output',
  events: readonly (object & { id: number })[],
  end = '',
) => {
  const body = events.map((event) => `id: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`).join('') + end
  return page.route(`**/events/${stream}/**`, (route) => route.fulfill({ contentType: 'text/event-stream', body }))
}

/** Expects that the page does not scroll sideways. */
export const expectFit = async (page: Page): Promise<void> =>
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
