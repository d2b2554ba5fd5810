import type { Page, Route } from '@playwright/test'
import { expect, expectAccessible, test } from './fixtures.ts'

const MESSAGES = '**/api/v1/notifications'
const SUBJECT = 'لماذا قُفلت جلستي؟ 🔒'
const BODY = 'The audit names a bucket that I did not touch.\n<script>alert(1)</script>'

const subject = (page: Page) => page.getByRole('textbox', { name: 'Subject' })
const body = (page: Page) => page.getByRole('textbox', { name: 'Your question' })

/** Fills in and sends a question, which the platform answers so, or as it does. Returns what was sent. */
async function ask(page: Page, answer?: Parameters<Route['fulfill']>[0]) {
  const sent: unknown[] = []
  await page.route(MESSAGES, (route) => {
    sent.push(route.request().postDataJSON())
    return answer ? route.fulfill(answer) : route.continue()
  })
  await subject(page).fill(SUBJECT)
  await body(page).fill(BODY)
  await page.getByRole('button', { name: 'Send question' }).click()
  return sent
}

test('says what the platform may do, its words and its keys', async ({ page }) => {
  await page.goto('/console/help')
  await expect(page.getByRole('heading', { name: 'What the platform does, and what it never does' })).toBeVisible()
  await expect(page.getByRole('term').filter({ hasText: /^saved plan$/ })).toBeVisible()
  await expect(page.getByRole('row', { name: /Go anywhere/ })).toBeVisible()
  const docs = await page.getByRole('link', { name: 'API' }).getAttribute('href')
  expect((await page.request.get(String(docs))).status()).toBe(200)
  await page.getByRole('link', { name: 'Contact an administrator' }).click()
  await expect(page.getByRole('heading', { name: 'Contact an administrator' })).toBeInViewport()
})

test('sends a question about a session, and forgets the draft', async ({ page }) => {
  const id = '5f0c3b0e-8f57-4a52-9f0b-0d9f3c1f7a11'
  await page.goto(`/console/help?session=${id}`)
  const sent = await ask(page, { status: 202, json: { delivery_id: 'delivery-1' } })
  await expect(page.getByRole('status')).toContainText('was sent')
  expect(sent).toEqual([
    {
      kind: 'support.user_question',
      severity: 'info',
      subject: SUBJECT,
      body: BODY,
      links: [{ label: 'Session', url: `${new URL(page.url()).origin}/console/sessions/${id}` }],
      context: { from: 'dev@platform.local', session_id: id },
    },
  ])
  await page.reload()
  await expect(subject(page)).toHaveValue('')
})

test('where messages are switched off it says so, and what to do', async ({ page }) => {
  await page.goto('/console/help')
  // The embedded stack has no such service and says so.
  await ask(page)
  await expect(page.getByText('Messages are disabled')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Copy the question' })).toBeVisible()
  await expectAccessible(page)
  await page.reload()
  await expect(body(page)).toHaveValue(BODY)
})

test('a message that was not delivered is kept, and problems stand at their fields', async ({ page }) => {
  await page.goto('/console/help')
  await page.getByRole('button', { name: 'Send question' }).click()
  await expect(subject(page)).toBeFocused()
  await expect(subject(page)).toHaveAccessibleDescription(/Enter a subject/)
  await ask(page, { status: 502, json: { detail: 'Notification was not delivered.' } })
  await expect(page.getByRole('alert')).toContainText('Notification was not delivered.')
  await expect(body(page)).toHaveValue(BODY)
  await page.unroute(MESSAGES)
  const msg = 'String should have at most 256 characters'
  await ask(page, { status: 422, json: { detail: [{ type: 'string_too_long', loc: ['body', 'subject'], msg }] } })
  await expect(subject(page)).toHaveAccessibleDescription(msg)
})
