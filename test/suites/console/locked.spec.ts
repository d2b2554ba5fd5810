import { answer, answerPage, listed, signInAs } from './answers.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { exampleBody, findOrRunExample, runExample, runRound } from './world.ts'

const LIST = '**/api/v1/admin/sessions/list*'

test('locks a session and unlocks it, with what that means, and the API knows', async ({ page, request }) => {
  const { uuid } = await runRound(request, 'generate', {
    ...(await exampleBody(request, 'question')),
    q: 'To be locked',
  })
  const isLocked = async () => (await (await request.get(`/api/v1/admin/sessions?id=${uuid}`)).json()).is_blocked
  await page.goto('/console/locked')
  await page.getByText('Lock a session').click()
  const find = async (text: string) => {
    await page.getByRole('textbox', { name: 'Session' }).fill(text)
    await page.getByRole('button', { name: 'Lock…', exact: true }).click()
  }
  await find('nonsense')
  await expect(page.getByRole('alert')).toContainText('No session id found')
  await find(`https://example.org/console/sessions/${uuid}/review`)
  const lock = page.getByRole('dialog', { name: 'Lock this session?' })
  await expect(lock).toContainText('To be locked')
  await lock.getByRole('button', { name: 'Lock', exact: true }).click()
  await expect(page.getByText('Locked: To be locked')).toBeFocused()
  expect(await isLocked()).toBe(true)
  const card = page.getByRole('article', { name: 'To be locked' }).first()
  await expect(card.getByRole('list', { name: 'Reasons of the lock' })).toContainText('by dev@platform.local')
  await expect(card.getByRole('link', { name: 'Review' })).toHaveAttribute('href', new RegExp(uuid))
  await expectAccessible(page)
  await card.getByRole('button', { name: 'Unlock…' }).press('Enter')
  const unlock = page.getByRole('dialog', { name: 'Unlock this session?' })
  await expect(unlock).toContainText('Nothing is applied or merged automatically')
  await unlock.getByRole('button', { name: 'Cancel' }).click()
  expect(await isLocked()).toBe(true)
  await card.getByRole('button', { name: 'Unlock…' }).click()
  await expect(unlock.getByRole('button', { name: 'Unlock', exact: true })).toBeDisabled()
  await unlock.getByRole('textbox', { name: 'Reason' }).fill('Asked the data team')
  await expectAccessible(page)
  await unlock.getByRole('button', { name: 'Unlock', exact: true }).click()
  await expect(page.getByText('Unlocked: To be locked')).toBeFocused()
  expect(await isLocked()).toBe(false)
  const detail = await (await request.get(`/api/v1/sessions?id=${uuid}`)).json()
  expect(detail.last_lock_change).toMatchObject({ locked: false, reason: 'Asked the data team' })
})

test('the review shows who unlocked the session, and why', async ({ page, request }) => {
  const { uuid } = await runExample(request, 'generate')
  for (const data of [{ locked: true }, { locked: false, reason: 'Asked the data team' }])
    expect((await request.patch(`/api/v1/admin/sessions/${uuid}/toggle_lock`, { data })).ok()).toBe(true)
  await page.goto(`/console/sessions/${uuid}/review`)
  await expect(page.getByText('Unlocked by dev@platform.local')).toContainText('“Asked the data team”')
})

test('shows why the platform locked a session', async ({ page, request }) => {
  await findOrRunExample(request, 'blocked')
  await page.goto('/console/locked')
  const card = page.getByRole('article', { name: /Remove the clicks dataset/ }).first()
  await expect(card.getByRole('list', { name: 'Reasons of the lock' })).toContainText('High impact')
  await expect(card).toContainText("by the platform's review of round 1")
  await page.goto('/console/sessions?locked=true')
  await expect(page.getByRole('listitem').filter({ hasText: 'Remove the clicks dataset' }).first()).toContainText(
    'High impact:',
  )
})

test('says who may look, and who may unlock', async ({ page }) => {
  await signInAs(page, null)
  await page.goto('/console/locked')
  await expect(page.getByText('You need the panel role viewer to see locked sessions')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Locked' })).toHaveCount(0)
  await page.unroute('**/api/v1/users/me')
  await signInAs(page, 'viewer')
  await page.reload()
  await expect(page.getByText('You can read locked sessions, not unlock them')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Review' }).first()).toBeVisible()
  await expect(page.getByRole('button', { name: 'Unlock…' })).toHaveCount(0)
})

test('empty, in error and refused: each says what to do', async ({ page }) => {
  let total = 0
  let isAway = false
  await page.route(LIST, (route) =>
    isAway
      ? answer(route, { detail: 'Busy.' }, 500)
      : answerPage(route, total, (index) =>
          listed(index, { is_blocked: true, first_query: '<img src=x onerror=alert(1)>\u202eevil' }),
        ),
  )
  await page.goto('/console/locked')
  await expect(page.getByText('Nothing is locked')).toBeVisible()
  isAway = true
  await page.reload()
  await expect(page.getByText('The list of locked sessions could not be read')).toBeVisible({ timeout: 15_000 })
  isAway = false
  total = 1
  await page.getByRole('button', { name: 'Try again' }).first().click()
  const card = page.getByRole('article')
  await expect(card.getByRole('heading')).toHaveText('<img src=x onerror=alert(1)>⟨U+202E⟩evil')
  await expect(card.getByText('The reasons of this lock were not recorded')).toBeVisible()
  // The session does not exist, so the platform refuses to unlock it.
  await card.getByRole('button', { name: 'Unlock…' }).click()
  await page.getByRole('textbox', { name: 'Reason' }).fill('Because')
  await page.getByRole('dialog').getByRole('button', { name: 'Unlock', exact: true }).click()
  await expect(page.getByRole('dialog').getByText('This failed')).toBeVisible()
  await expect(page.locator('main img')).toHaveCount(0)
})
