import type { Page } from '@playwright/test'
import { changeSession } from './answers.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { findOrRunExample, readSession } from './world.ts'

const option = (page: Page) => page.getByRole('checkbox', { name: 'Notify me when a round ends' })

/** Mocks the browser's permission prompt, which a headless browser does not show. */
const answerPermission = (page: Page, before: string, after: string) =>
  page.addInitScript(
    ([first, then]: [string, string]) => {
      const shown: string[] = []
      class Shown {
        static permission = sessionStorage.getItem('permission') ?? first
        static async requestPermission() {
          Shown.permission = then
          sessionStorage.setItem('permission', then)
          return then
        }
        close() {}
        constructor(title: string, { body }: { body: string }) {
          shown.push(`${title}: ${body}`)
        }
      }
      Object.assign(window, { Notification: Shown, shownNotifications: shown })
    },
    [before, after] as [string, string],
  )

test('theme and density apply at once, and at the next visit', async ({ page }) => {
  await page.goto('/console/settings')
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await ground()
  await page.getByRole('radio', { name: 'Dark' }).check()
  await expect.poll(ground).not.toBe(light)
  await page.getByRole('radio', { name: /^Compact/ }).check()
  await page.reload()
  await expect(page.getByRole('radio', { name: 'Dark' })).toBeChecked()
  await expect(page.getByRole('radio', { name: /^Compact/ })).toBeChecked()
  expect(await ground()).not.toBe(light)
  await page.getByRole('radio', { name: /^As the system/ }).check()
  await expect.poll(ground).toBe(light)
  await expectAccessible(page)
})

test('says who is signed in, and with which roles', async ({ page }) => {
  await page.goto('/console/settings')
  const account = page.getByRole('region', { name: 'Signed in' })
  for (const fact of ['dev@platform.local', 'devops', 'admin', 'Sign-in is not configured'])
    await expect(account).toContainText(fact)
})

test('asks for the permission on the click, and explains a refusal', async ({ page }) => {
  await answerPermission(page, 'default', 'denied')
  await page.goto('/console/settings')
  await expect(option(page)).not.toBeChecked()
  await option(page).click()
  await expect(page.getByText('Your browser blocks notifications of this page')).toBeVisible()
  await expect(option(page)).not.toBeChecked()
  await expect(option(page)).toBeDisabled()
  await expectAccessible(page)
})

test('tells by the browser when a round ends behind a hidden page', async ({ page, request }) => {
  await answerPermission(page, 'default', 'granted')
  await page.goto('/console/settings')
  await option(page).click()
  await expect(option(page)).toBeChecked()

  const session = await readSession(request, await findOrRunExample(request, 'generate'))
  let running = true
  await changeSession(page, () => (running ? { in_flight: true, current_status: 'generating' } : {}))
  await page.route('**/api/v1/events/**', (route) => route.abort())
  await page.goto(`/console/sessions/${session.uuid}`)
  await expect(page.getByText('Writing code').first()).toBeVisible()
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { get: () => true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  running = false
  const shown = () => page.evaluate(() => (window as never as { shownNotifications: string[] }).shownNotifications)
  await expect.poll(shown, { timeout: 30_000 }).toHaveLength(1)
  expect((await shown())[0]).toContain(session.rounds.at(-1)?.query.slice(0, 100))
})
