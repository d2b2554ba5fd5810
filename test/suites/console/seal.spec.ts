import type { Page } from '@playwright/test'
import { changeSession, refuseSession, serveArtifact, streamOf } from './answers.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { readSession, resetSample, runExample } from './world.ts'

test.describe.configure({ mode: 'serial' })

/** Made by the first test, and applied by the second. */
let applied = ''

const open = (page: Page, id: string) => page.goto(`/console/sessions/${id}/seal`)
const checks = (page: Page) => page.getByRole('list', { name: 'Checks of the saved plan' }).getByRole('listitem')

const progress = (page: Page) => page.getByRole('list', { name: 'Progress of each resource' }).getByRole('listitem')
const PLAN = /\/plans\/[^/]+\.json/
const REPORT = /\/reports\/apply-/

test('shows the saved plan, and verifies it with six checks in words', async ({ page, request }) => {
  await resetSample(request, 'apply')
  const { uuid, seal } = await runExample(request, 'apply')
  applied = uuid
  await open(page, uuid)
  const facts = page.getByRole('region', { name: 'The saved plan' })
  await expect(facts).toContainText(seal?.plan_sha256.slice(0, 16) ?? 'none')
  await expect(facts).toContainText(seal?.engine?.version ?? 'none')
  await expect(facts).toContainText('valid')
  await expect(checks(page)).toHaveCount(6)
  await expect(checks(page).first()).toContainText('not checked')
  await page.getByRole('button', { name: 'Verify now' }).click()
  await expect(checks(page).filter({ hasText: 'holds' })).toHaveCount(5)
  await expect(checks(page).filter({ hasText: 'unknown' })).toContainText('encrypted copy')
  await expectAccessible(page)
})

test('asks for a typed confirmation where something critical goes away', async ({ page }) => {
  const bodies: unknown[] = []
  await page.route('**/api/v1/iac/apply', (route) => {
    bodies.push(route.request().postDataJSON())
    return route.fulfill({ status: 409, json: { detail: 'Session is blocked; apply is not allowed.' } })
  })
  const lost = (address: string, is_critical: boolean) => ({
    ...{ address, deposed: null, action: 'delete', is_critical },
    criticality_known: is_critical,
  })
  const resources = [lost('aws_db.orders', true), lost('aws_x.<b>y</b>', false)]
  await serveArtifact(page, PLAN, { json: { summary: { delete: 2 }, resources } })
  await open(page, applied)
  await page.getByRole('button', { name: 'Apply the saved plan' }).click()
  const dialog = page.getByRole('dialog', { name: 'Apply the saved plan?' })
  await expect(dialog).toContainText(
    '2 resources will be destroyed or replaced, 1 of them critical, 1 of them of unknown content',
  )
  await expect(dialog).toContainText('aws_x.<b>y</b>')
  await expectAccessible(page)
  await dialog.getByLabel('Type 2 to confirm').fill('3')
  await dialog.getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(dialog.getByRole('alert')).toContainText('This is not 2. Nothing was applied.')
  expect(bodies).toEqual([])
  await dialog.getByLabel('Type 2 to confirm').fill('2')
  await page.keyboard.press('Enter')
  await expect(dialog).toContainText('Session is blocked; apply is not allowed.')
  expect(bodies).toEqual([{ session_id: applied }])
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
})

test('wants a typed word where the plan cannot be read, so that nobody knows what goes away', async ({ page }) => {
  await page.route(PLAN, (route) => route.abort())
  await open(page, applied)
  await page.getByRole('button', { name: 'Apply the saved plan' }).click()
  await expect(page.getByRole('dialog').getByLabel('Type apply to confirm')).toBeVisible()
})

test('applies the saved plan end to end, and says that it was applied', async ({ page, request }) => {
  await open(page, applied)
  await expect(page.getByText('It will create 3.')).toBeVisible()
  await page.getByRole('button', { name: 'Apply the saved plan' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Apply', exact: true }).click()
  await expect(page.getByText('Applied', { exact: true })).toBeVisible({ timeout: 90_000 })
  await expect(progress(page)).toHaveCount(3)
  await expect(progress(page).filter({ hasText: 'done' })).toHaveCount(3)
  await expect(page.getByText('3 of 3 steps done.')).toBeVisible()
  await expect(page.getByText('The saved plan was applied')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Apply the saved plan' })).toHaveCount(0)
  expect((await readSession(request, applied)).seal?.reason).toBe('used')
  await expectAccessible(page)
})

const change = (name: string, action: string, error: string | null = null) => ({
  resource_type: 'aws_x',
  resource_name: name,
  action,
  status: action === 'no_change' || error ? 'failed' : 'success',
  details: 'Details.',
  error_message: error,
})
const report = (status: string, resource_changes: object[]) => ({
  status,
  summary: { total_resources: resource_changes.length, created: 1, updated: 0, destroyed: 0, failed: 1 },
  execution_summary: 'In words.\u202e <script>alert(1)</script>',
  resource_changes,
  recommendations: ['Look at <b>it</b>.'],
})
const OUTCOMES: [title: string, document: object, advice: RegExp][] = [
  ['Partly applied', report('Partial', [change('a', 'created'), change('b', 'no_change')]), /plans what is left/],
  ['The apply failed', report('Failed', [change('a', 'created', 'Error: no quota')]), /Fix the cause/],
  ['Nothing was applied', report('Failed', [change('a', 'no_change')]), /The cloud is unchanged/],
  ['The outcome is unknown', report('Failed', []), /Check the cloud/],
]

for (const [title, document, advice] of OUTCOMES)
  test(`tells what to do: ${title}`, async ({ page }) => {
    await serveArtifact(page, REPORT, { json: document })
    await open(page, applied)
    await expect(page.getByText(title, { exact: true })).toBeVisible()
    await expect(page.getByText(advice)).toBeVisible()
    await expect(page.getByText('In words.⟨U+202E⟩ <script>alert(1)</script>')).toBeVisible()
    await expect(page.getByText('Look at <b>it</b>.')).toBeVisible()
    await expectAccessible(page)
  })

test('a report that is damaged or cannot be read is said to be so', async ({ page }) => {
  await serveArtifact(page, REPORT, { json: { status: 'Fine' } })
  await open(page, applied)
  await expect(page.getByText('The report cannot be read')).toBeVisible()
})

test('follows an apply that runs, resource by resource', async ({ page }) => {
  await changeSession(page, ({ rounds }) => ({
    in_flight: true,
    current_status: 'apply',
    rounds: rounds.map((round) =>
      round.number === 2
        ? { ...round, reports: [], statuses: round.statuses.slice(1, 2).map((each) => ({ ...each, status: 'apply' })) }
        : round,
    ),
  }))
  const lines = 'a.one: Creating...\na.one: Creation complete after 3s\na.two: Creating...\n'
  const data = { round: 2, type: 'lines', step: 'apply', stream: 'stdout', job_id: 'j', text: lines }
  await page.route('**/events/output/**', (route) => route.fulfill(streamOf([data])))
  await open(page, applied)
  await expect(progress(page).nth(0)).toContainText(/done.*create.*a\.one.*3s/)
  await expect(progress(page).nth(1)).toContainText(/running.*create.*a\.two/)
  await expect(page.getByText('A round of this session is running.')).toBeVisible()
})

test('refuses with the reason: locked, of somebody else, failed', async ({ page, request }) => {
  const { uuid, is_blocked } = await runExample(request, 'blocked')
  expect(is_blocked).toBe(true)
  const saved = (await readSession(request, applied)).seal
  const seal = saved && { ...saved, valid: true, reason: null, explanation: null }
  await changeSession(page, () => ({ seal }))
  await open(page, uuid)
  await expect(page.getByText('This session is locked.')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Locked sessions' }).last()).toBeVisible()
  await expect(page.getByRole('button', { name: 'Apply the saved plan' })).toHaveCount(0)
  await expectAccessible(page)
  await page.unrouteAll({ behavior: 'wait' })
  await changeSession(page, () => ({ seal, is_blocked: false, current_status: 'failed' }))
  await open(page, uuid)
  await expect(page.getByText('The last round failed.')).toBeVisible()
  await page.unrouteAll({ behavior: 'wait' })
  await refuseSession(page)
  await open(page, applied)
  await expect(page.getByText('This session belongs to somebody else.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Verify now' })).toBeVisible()
})

test('says so in a session that never saved a plan', async ({ page, request }) => {
  const { uuid } = await runExample(request, 'declined')
  await open(page, uuid)
  await expect(page.getByText('There is no saved plan')).toBeVisible()
})
