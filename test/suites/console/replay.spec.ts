import type { Page } from '@playwright/test'
import { END, streamOf } from './answers.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { findOrRunExample } from './world.ts'

let finished: string
test.beforeAll(async ({ request }) => {
  finished = await findOrRunExample(request, 'generate')
})

const serve = (page: Page, events: object[]) =>
  page.route('**/events/activity/**', (route) => route.fulfill(streamOf(events, END)))

test('a round is played back at speed', async ({ page }) => {
  await page.goto(`/console/sessions/${finished}`)
  await page.getByRole('link', { name: 'Replay' }).click()
  await expect(page.getByRole('heading', { level: 2, name: 'Replay of round 1' })).toBeVisible()
  await expect(page.getByText('Nothing has happened yet.')).toBeVisible()
  await expect(page.getByText(/^event 0 of/)).toBeVisible()
  await page.getByRole('button', { name: '16×' }).click()
  await expect(page.getByRole('button', { name: '16×' })).toHaveAttribute('aria-pressed', 'true')
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Play again' })).toBeVisible()
  await expect(page.getByText('Accepted', { exact: true })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Review and report' })).toBeVisible()
  await expectAccessible(page)
})

test('it is stepped by buttons and keys, and shows what was known at that moment', async ({ page }) => {
  await page.goto(`/console/sessions/${finished}/replay/1`)
  const slider = page.getByRole('slider')
  await page.getByRole('button', { name: 'Next event' }).click()
  await expect(page.getByText(/^event 1 of/)).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Before the first attempt' })).toBeVisible()
  await expect(page.getByRole('heading', { name: /Attempt 1/ })).toHaveCount(0)
  await page.getByRole('heading', { level: 2 }).click()
  await page.keyboard.press('ArrowRight')
  await expect(page.getByText(/^event 2 of/)).toBeVisible()
  await page.keyboard.press('ArrowLeft')
  await expect(page.getByText(/^event 1 of/)).toBeVisible()
  await page.keyboard.press('Space')
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible()
  await page.keyboard.press('Space')
  await expect(page.getByRole('button', { name: /^Play/ })).toBeVisible()
  await slider.focus()
  await page.keyboard.press('End')
  const [count, all] = (await slider.getAttribute('aria-valuetext'))?.match(/\d+/g) ?? []
  expect(count).toBe(all)
  await page.keyboard.press('ArrowLeft')
  await expect(slider).toHaveAttribute('aria-valuetext', new RegExp(`^event ${Number(all) - 1} of`))
})

test('keys that come faster than the page is drawn all count', async ({ page }) => {
  await page.goto(`/console/sessions/${finished}/replay/1`)
  await expect(page.getByText(/^event 0 of/)).toBeVisible()
  const press = (...keys: string[]) =>
    page.evaluate((all) => {
      for (const key of all) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
    }, keys)
  await press('ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft')
  await expect(page.getByText(/^event 2 of/)).toBeVisible()
  await press(' ', ' ', 'ArrowRight')
  await expect(page.getByText(/^event 3 of/)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Play', exact: true })).toBeVisible()
})

test('an address leads to a moment', async ({ page, request }) => {
  const text = await (await request.get(`/api/v1/events/activity/${finished}?round=1`)).text()
  const id = /^id: (\d+)\nevent: attempt\.began/m.exec(text)?.[1]
  expect(id).toBeDefined()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`/console/sessions/${finished}/replay/1?at=${id}`)
  await expect(page.getByRole('heading', { name: 'Attempt 1 of 5' })).toBeVisible()
  await expect(page.getByText('Refused', { exact: true })).toHaveCount(0)
  await expect(page.getByText('Running', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Copy address at this moment' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url())
})

test('long waits are shortened, and the page says so', async ({ page }) => {
  const event = { type: 'engine.began', step: 'plan' }
  await serve(page, [event, { ...event, at: '2026-01-01T01:00:00Z' }])
  await page.goto(`/console/sessions/${finished}/replay/1`)
  await expect(page.getByText('Pauses of more than two seconds are shortened: 59 min 58 s were skipped.')).toBeVisible()
  await page.getByRole('button', { name: '4×' }).click()
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Play again' })).toBeVisible({ timeout: 3_000 })
})

test('a round of which nothing is left, and one that never was', async ({ page }) => {
  await serve(page, [])
  await page.goto(`/console/sessions/${finished}/replay/1`)
  await expect(page.getByText('The events of this round are gone')).toBeVisible()
  await expect(page.getByText('are kept for 30 days')).toBeVisible()
  await page.goto(`/console/sessions/${finished}/replay/7`)
  await expect(page.getByText('This round does not exist')).toBeVisible()
})
