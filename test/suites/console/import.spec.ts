import type { APIRequestContext, Page } from '@playwright/test'
import type { Session } from '../../../console/client/api/client.ts'
import { refuseSession, serveArtifact, servePlan, streamOf } from './answers.ts'
import { expect, expectAccessible, expectToFit, PHONE, test } from './fixtures.ts'
import { readSession, resetSample, runExample, waitForEnd } from './world.ts'

const QUEUES = ['invoices-dead-letter', 'invoices-incoming'].map(
  (name) => `arn:aws:sqs:eu-central-1:123456789012:${name}`,
)
const TABLE = 'arn:aws:dynamodb:eu-central-1:123456789012:table/invoices'

// All tests use one sample, so they run one after the other.
test.describe.configure({ mode: 'serial' })

let previewed = ''

const open = (page: Page, id: string) => page.goto(`/console/sessions/${id}/import`)
const inventory = (page: Page) => page.getByRole('region', { name: 'Inventory of the scope' })
const result = (page: Page) => page.getByRole('region', { name: /^Result of round/ })

/** Makes the store answer otherwise for the inventory of a session. */
const withInventory = async (page: Page, request: APIRequestContext, answer: { status: number } | { json: object }) =>
  serveArtifact(page, (await readSession(request, previewed)).rounds[0]?.previews[0]?.url ?? '', answer)
const inventoryOf = (unmanaged: object[], left_out: object[] = []) => ({
  json: { version: 1, managed: [], unmanaged, left_out },
})

test('a look lists the scope by kind; the queues are ticked and imported; an empty plan proves it', async ({
  page,
  request,
}) => {
  await resetSample(request, 'full-import')
  previewed = (await runExample(request, 'import-preview')).uuid
  await open(page, previewed)
  await expect(inventory(page).getByRole('button', { name: 'Unmanaged 6' })).toHaveAttribute('aria-pressed', 'true')
  await expect(page.getByText('Select resources above to import only these.')).toBeVisible()
  await expectAccessible(page)
  await inventory(page).getByRole('button', { name: 'Managed 2' }).click()
  await expect(inventory(page).getByText('mail-outgoing')).toBeVisible()
  await expect(inventory(page).getByRole('checkbox')).toHaveCount(0)
  await inventory(page).getByRole('button', { name: 'Unmanaged 6' }).click()
  await page.getByRole('checkbox', { name: 'All of sqs' }).check()
  await page.reload()
  for (const queue of QUEUES) await expect(page.getByRole('checkbox', { name: queue })).toBeChecked()
  await expect(page.getByRole('checkbox', { name: TABLE })).not.toBeChecked()
  const asked = page.waitForRequest('**/iac/import')
  await page.getByRole('button', { name: 'Import the 2 selected resources' }).click()
  expect((await asked).postDataJSON()).toEqual({
    session_id: previewed,
    q: 'Import 2 chosen resources.',
    resource_ids: QUEUES,
  })
  await expect(page.getByText('Round 2 was accepted.')).toBeVisible()
  await expect(result(page).getByText('2 resources imported, 0 refused')).toBeVisible({ timeout: 90_000 })
  await expect(result(page).getByText('Proof: the last plan is empty')).toBeVisible()
  for (const queue of QUEUES) await expect(result(page).getByRole('rowheader', { name: queue })).toBeVisible()
  await expect(result(page).getByRole('link', { name: 'Code changes' })).toHaveAttribute(
    'href',
    `/console/sessions/${previewed}/review?part=code&round=2`,
  )
  await expect(page.getByText('A later round may have imported some of these')).toBeVisible()
  await expect(page.getByRole('checkbox', { name: 'All of sqs' })).not.toBeChecked()
  await expectAccessible(page)
})

test('everything at once, beside what a sentence names', async ({ page, request }) => {
  // Two imports, one resource after the other.
  test.setTimeout(300_000)
  await resetSample(request, 'full-import')
  const { uuid } = await runExample(request, 'import-preview')
  await open(page, uuid)
  await expect(page.getByRole('button', { name: 'Import what is named' })).toBeDisabled()
  await page.getByLabel('Import only what a sentence names').fill('Import the queues of the invoices service.')
  const named = page.waitForRequest('**/iac/import')
  await page.getByRole('button', { name: 'Import what is named' }).click()
  expect((await named).postDataJSON()).toMatchObject({ is_partial: true })
  await expect(result(page).getByText('2 resources imported, 0 refused')).toBeVisible({ timeout: 90_000 })
  await result(page).getByText('4 resources were excluded').click()
  await expect(result(page).getByText('Not selected by the request.').first()).toBeVisible()
  await waitForEnd(request, uuid)
  const everything = page.waitForRequest('**/iac/import')
  await page.getByRole('button', { name: 'Import everything' }).click()
  expect((await everything).postDataJSON()).not.toHaveProperty('is_partial')
  await expect(result(page).getByText('4 resources imported, 0 refused')).toBeVisible({ timeout: 90_000 })
  await expect(result(page).getByText('Proof: the last plan is empty')).toBeVisible()
})

test('shows the progress of each resource while the round runs', async ({ page, request }) => {
  const session = await readSession(request, previewed)
  await page.route('**/api/v1/sessions?*', (route) => route.fulfill({ json: running(session) }))
  const job = (job_id: string) => ({ step: 'import', job_id })
  const lines = (id: string, stream: string, text: string) => ({ type: 'lines', ...job(id), stream, text })
  await page.route('**/events/subscribe/**', (route) => route.fulfill(streamOf([])))
  await page.route('**/events/activity/**', (route) =>
    route.fulfill(streamOf([{ type: 'attempt.began', attempt: 1, max_attempts: 5, task: 'import', reason: null }])),
  )
  await page.route('**/events/output/**', (route) =>
    route.fulfill(
      streamOf([
        { type: 'step.began', ...job('1') },
        lines('1', 'stdout', 't.one: Importing from ID "queue-one"...'),
        { type: 'step.ended', ...job('1'), exit_code: 0, seconds: 1 },
        { type: 'step.began', ...job('2') },
        lines('2', 'stdout', 't.two: Importing from ID "queue-two"...'),
        lines('2', 'stderr', '│ Error: Cannot import <b>non-existent</b> remote object'),
        { type: 'step.ended', ...job('2'), exit_code: 1, seconds: 1 },
        { type: 'step.began', ...job('3') },
        lines('3', 'stdout', 't.three: Importing from ID "queue-three"...'),
      ]),
    ),
  )
  await open(page, previewed)
  const progress = page.getByRole('region', { name: 'Import running' })
  await expect(progress.getByRole('listitem')).toHaveText([
    /imported.*queue-one/,
    /refused.*queue-two.*Cannot import <b>non-existent<\/b> remote object/,
    /importing.*queue-three/,
  ])
  await expect(progress.getByText('1 of 7 imported')).toBeVisible()
  await expect(page.getByText('A round of this session is running. Wait for it to end, or stop it.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Import everything' })).toBeHidden()
  await expectAccessible(page)
})

const running = (session: Session): Session => {
  const [first, second] = session.rounds
  if (!first || !second) throw new Error('the session has two rounds')
  const status = { status: 'validating' as const, message: 'Imported 1 of 7 resources.', created_at: second.created_at }
  const round = { ...second, statuses: [status], reports: [], plans: [], code_changes: [], outputs: [] }
  return { ...session, in_flight: true, current_status: 'validating', rounds: [first, round] }
}

test('marks what the platform refuses, and keeps the rest', async ({ page }) => {
  await open(page, previewed)
  await page.getByRole('checkbox', { name: 'All of sqs' }).check()
  await page.getByRole('checkbox', { name: TABLE }).check()
  await page.route('**/iac/import', async (route) => {
    const { resource_ids } = route.request().postDataJSON() as { resource_ids: string[] }
    const loc = ['body', 'resource_ids', resource_ids.indexOf(TABLE)]
    await route.fulfill({ status: 422, json: { detail: [{ loc, msg: 'it is gone', type: 'value_error' }] } })
  })
  await page.getByRole('button', { name: 'Import the 3 selected resources' }).click()
  await expect(page.getByText('1 selected resource was refused')).toBeVisible()
  await expect(inventory(page).getByRole('listitem').filter({ hasText: TABLE })).toContainText('Refused: it is gone')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Deselect the refused resources' }).click()
  await expect(page.getByRole('checkbox', { name: TABLE })).not.toBeChecked()
  await expect(page.getByRole('button', { name: 'Import the 2 selected resources' })).toBeVisible()
})

test('ten thousand resources: search, arrow keys, a thousand at most', async ({ page, request }) => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({
    kind: index < 4 ? null : `kind-${index % 3}`,
    resource_id: `resource-${index}`,
  }))
  await withInventory(page, request, inventoryOf(many))
  await open(page, previewed)
  await expect(inventory(page).getByText('10,000 resources', { exact: true })).toBeVisible()
  expect(await inventory(page).getByRole('listitem').count()).toBeLessThan(100)
  await page.getByRole('checkbox', { name: 'All of Unknown kind' }).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await expect(page.getByRole('checkbox', { name: 'resource-0', exact: true })).toBeChecked()
  for (let step = 0; step < 40; step++) await page.keyboard.press('ArrowDown')
  await expect(page.locator(':focus')).toHaveAccessibleName(/^resource-1\d\d$/)
  await page.getByRole('button', { name: 'Select all shown' }).click()
  await expect(page.getByText('One request takes 1,000 resources at most')).toBeVisible()
  await expect(page.getByText('9,000 more are not selected.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Import the 1,000 selected resources' })).toBeVisible()
  await page.getByRole('searchbox', { name: 'Search resources' }).fill('resource-9999')
  await expect(inventory(page).getByText('1 resource found')).toBeVisible()
  const last = page.getByRole('checkbox', { name: 'resource-9999' })
  await last.click()
  await expect(last).not.toBeChecked()
  await page.getByRole('button', { name: 'Deselect all' }).click()
  await last.check()
  await expect(page.getByRole('button', { name: 'Import the 1 selected resource' })).toBeVisible()
})

test('hostile identifiers and reasons are texts; ticks of an older list are told', async ({ page, request }) => {
  const id = '<img src=x onerror=alert(1)>\u202egnp\u0000'
  const hostile = inventoryOf(
    [
      { kind: '<b>kind</b>', resource_id: id },
      { kind: 7, resource_id: 'x'.repeat(1_000_000) },
    ],
    [{ kind: 'k', resource_id: 'left', reason: '<script>alert(1)</script>' }],
  )
  await withInventory(page, request, hostile)
  await page.addInitScript(
    ([key = '']) => sessionStorage.setItem(key, '{"ids":["gone"],"sentence":""}'),
    [`platform.draft.import.${previewed}`],
  )
  await open(page, previewed)
  await expect(page.getByRole('checkbox', { name: '<img src=x onerror=alert(1)>⟨U+202E⟩gnp␀' })).toBeVisible()
  await expect(page.getByRole('checkbox', { name: 'All of <b>kind</b>' })).toBeVisible()
  await expect(page.getByText('1 selected resource is no longer in this list')).toBeVisible()
  await page.getByRole('button', { name: 'Deselect them' }).click()
  await expect(page.getByText('Select resources above to import only these.')).toBeVisible()
  await inventory(page).getByRole('button', { name: 'Excluded 1' }).click()
  await expect(inventory(page).getByText('<script>alert(1)</script>')).toBeVisible()
  await expect(page.getByRole('main').locator('img, script')).toHaveCount(0)
  await expectAccessible(page)
})

test('on a phone; without a document; of another person', async ({ page, request }) => {
  await page.setViewportSize(PHONE)
  await withInventory(page, request, { status: 500 })
  await open(page, previewed)
  await expect(page.getByText('The inventory could not be read')).toBeVisible()
  await expectToFit(page)
  await page.unrouteAll({ behavior: 'wait' })
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('checkbox', { name: TABLE })).toBeVisible()
  await expectToFit(page)
  await refuseSession(page)
  await page.reload()
  await expect(page.getByText('Only the owner of this session can request rounds.')).toBeVisible()
  await expect(inventory(page).getByText(TABLE)).toBeVisible()
  await expect(page.getByRole('checkbox')).toHaveCount(0)
})

test('tells what was refused and why, and when the last plan is not empty', async ({ page, request }) => {
  const session = await readSession(request, previewed)
  const round = session.rounds[1]
  await servePlan(page, session, { summary: { update: 2 }, outputs: [] })
  await serveArtifact(page, round?.reports[0]?.url ?? '', {
    json: {
      status: 'Partial',
      execution_summary: '[here](https://example.org/) and ![there](https://example.org/x.png)',
      imported_resources: [
        { resource_id: 'good', resource_address: 't.good', status: 'imported' },
        { resource_id: 'bad', resource_address: '', status: 'failed', error_message: '<b>Error</b>: denied' },
      ],
    },
  })
  await open(page, previewed)
  await expect(result(page).getByText('1 resource imported, 1 refused')).toBeVisible()
  await expect(result(page).getByText('The last plan is not empty: 2 changes')).toBeVisible()
  await expect(result(page).getByRole('row', { name: 'bad not written <b>Error</b>: denied' })).toBeVisible()
  await expect(result(page).getByRole('link', { name: 'here' })).toHaveAttribute('rel', /noreferrer/)
  await expect(result(page).locator('img')).toHaveCount(0)
  await expectAccessible(page)
})

test('without a preview the screen offers one', async ({ page, request }) => {
  await open(page, (await runExample(request, 'question')).uuid)
  await expect(page.getByText('No inventory in this session yet')).toBeVisible()
  await page.getByRole('button', { name: 'List what exists' }).click()
  await expect(inventory(page).getByText('Unmanaged')).toBeVisible({ timeout: 90_000 })
})
