import type { APIRequestContext, Page } from '@playwright/test'
import { refuseSession, serveArtifact } from './answers.ts'
import { expect, expectAccessible, expectToFit, PHONE, test } from './fixtures.ts'
import { readSession, resetSample, runExample, waitForEnd } from './world.ts'

const FLOW_LOGS = 'terraform_data.flow_logs'
const TUNNEL = 'terraform_data.office_tunnel'

// All tests use one sample, so they run one after the other.
test.describe.configure({ mode: 'serial' })

let previewed = ''

async function lookForDrift(request: APIRequestContext): Promise<string> {
  await resetSample(request, 'full-drift')
  return (await runExample(request, 'drift-preview')).uuid
}

const open = (page: Page, id: string) => page.goto(`/console/sessions/${id}/drift`)
const entry = (page: Page, address: string) => page.getByRole('article', { name: address })
const roundOf = (page: Page, id: string, number: number) =>
  expect(page).toHaveURL(new RegExp(`/sessions/${id}/?\\?round=${number}$`))

/** Replaces the report of the first round with another document. */
const withReport = async (page: Page, request: APIRequestContext, json: object) =>
  serveArtifact(page, (await readSession(request, previewed)).rounds[0]?.reports[0]?.url ?? '', { json })

test('a look shows what either side says and changes nothing', async ({ page, request }) => {
  previewed = await lookForDrift(request)
  await open(page, previewed)
  await expect(page.getByText('Preview', { exact: true })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Differs 2' })).toBeVisible()
  await expect(entry(page, FLOW_LOGS).getByRole('row', { name: 'input.retention_days 90 30' })).toBeVisible()
  await expect(entry(page, TUNNEL).getByRole('row', { name: 'input.idle_timeout_minutes 30 240' })).toBeVisible()
  await page.getByRole('button', { name: 'Drift', exact: true }).click()
  await expect(page.getByText('A difference between the code and the cloud.')).toBeVisible()
  await page.keyboard.press('Escape')
  await expectAccessible(page)
})

test('mends only what is ticked; the ticks outlive a reload', async ({ page }) => {
  await open(page, previewed)
  await page.getByRole('checkbox', { name: `Remediate ${FLOW_LOGS}` }).check()
  await page.reload()
  await expect(page.getByRole('checkbox', { name: `Remediate ${FLOW_LOGS}` })).toBeChecked()
  await expect(page.getByRole('checkbox', { name: `Remediate ${TUNNEL}` })).not.toBeChecked()
  const asked = page.waitForRequest('**/iac/drift')
  await page.getByRole('button', { name: 'Remediate the 1 selected resource' }).click()
  expect((await asked).postDataJSON()).toEqual({
    session_id: previewed,
    is_partial: true,
    q: `Bring only ${FLOW_LOGS} in line with what really runs.`,
  })
  await roundOf(page, previewed, 2)
  await waitForEnd(page.request, previewed)
  await open(page, previewed)
  await expect(page.getByText('Succeeded')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Remediated 1' })).toBeVisible()
  const mended = entry(page, FLOW_LOGS)
  await expect(mended.getByRole('columnheader', { name: 'Code, before' })).toBeVisible()
  await expect(mended.getByRole('row', { name: 'input.retention_days 90 30' })).toBeVisible()
  await expect(mended).toContainText('logging.tf')
  await expect(mended).toContainText('sampling_percent')
  await expect(page.getByText(`update ${TUNNEL}`)).toBeVisible()
  await expect(page.getByRole('link', { name: 'All code changes of this round' })).toHaveAttribute(
    'href',
    `/console/sessions/${previewed}/review?part=code&round=2`,
  )
  await expectAccessible(page)
  await page.getByLabel('Round').selectOption('1')
  await expect(page.getByText('Preview', { exact: true })).toBeVisible()
})

test('mends everything, each resource beside its own code', async ({ page, request }) => {
  const id = await lookForDrift(request)
  await open(page, id)
  await page.getByRole('button', { name: 'Remediate everything' }).click()
  await roundOf(page, id, 2)
  await waitForEnd(request, id)
  await open(page, id)
  await expect(page.getByRole('heading', { name: 'Remediated 2' })).toBeVisible()
  const tunnel = entry(page, TUNNEL)
  await expect(tunnel).toContainText('aes256-gcm')
  await expect(tunnel).not.toContainText('address_space')
  await page.getByRole('button', { name: 'Check again' }).click()
  await roundOf(page, id, 3)
  await waitForEnd(request, id)
  await open(page, id)
  await expect(page.getByText('No drift was found')).toBeVisible()
  await page.getByText('Stored engine output').click()
  await page.getByText('Engine output 1').click()
  await expect(page.getByRole('region', { name: 'Engine output 1' })).toContainText('No changes.')
})

test('names resources in a sentence; what was typed stays when the platform refuses', async ({ page }) => {
  await open(page, previewed)
  await page.route('**/iac/drift', (route) =>
    route.fulfill({ status: 422, json: { detail: [{ loc: ['body', 'q'], msg: 'too vague', type: 'value_error' }] } }),
  )
  const sentence = page.getByLabel('Remediate only what a sentence names')
  await expect(page.getByRole('button', { name: 'Remediate what is named' })).toBeDisabled()
  await sentence.fill('أصلح السجلات 🙂')
  await page.getByRole('button', { name: 'Remediate what is named' }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'too vague' }).first()).toBeVisible()
  await page.reload()
  await expect(sentence).toHaveValue('أصلح السجلات 🙂')
})

test('tells a developer, and who does not own the session, why they cannot ask', async ({ page, request }) => {
  const me = await (await request.get('/api/v1/users/me')).json()
  await page.route('**/users/me', (route) => route.fulfill({ json: { ...me, operation_role: 'developer' } }))
  await open(page, previewed)
  await expect(page.getByText('Drift needs the operation role devops')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Remediate everything' })).toBeHidden()
  await expect(entry(page, FLOW_LOGS)).toBeVisible()
  await expectAccessible(page)
  await refuseSession(page)
  await page.reload()
  await expect(page.getByText('Only the owner of this session can request rounds.')).toBeVisible()
})

test('shows hostile texts as texts, and every state of a report', async ({ page, request }) => {
  const hostile = '<script>alert(1)</script>\u202e\u0007'
  await withReport(page, request, {
    status: 'Partial',
    summary: `![x](https://evil.example/x.png) <img src=x onerror=alert(1)> [a](javascript:alert(1)) **bold**`,
    remediated_resources: [
      {
        resource_address: hostile,
        file_path: hostile,
        changes: [{ attribute_modified: hostile, change_description: 'x'.repeat(1_000_000), details: [hostile] }],
      },
    ],
    unreconciled_drift: [
      { resource_address: '', reason: 'The drift could not be read.', details: ['Error: denied'] },
      { resource_address: 't.left', reason: hostile, details: [hostile] },
    ],
    whitelisted_exceptions: [{ resource_address: 't.expected', change: 'size differs', rule: 'Sizes may differ.' }],
  })
  await page.goto(`/console/sessions/${previewed}/drift?round=1`)
  await expect(page.getByRole('heading', { name: 'Expected to differ 1' })).toBeVisible()
  await expect(entry(page, 't.expected')).toContainText('Rule: Sizes may differ.')
  await expect(entry(page, 'The drift check as a whole')).toContainText('Error: denied')
  await expect(entry(page, 'The drift check as a whole').getByRole('checkbox')).toHaveCount(0)
  await expect(entry(page, 't.left')).toContainText('<script>alert(1)</script>⟨U+202E⟩␇')
  await expect(page.getByText('bold', { exact: true })).toHaveCSS('font-weight', /[6-9]00/)
  const main = page.getByRole('main')
  await expect(main.locator('img, script')).toHaveCount(0)
  await expect(main.getByRole('link', { name: 'a', exact: true })).toHaveCount(0)
  await expectAccessible(page)
})

test('on a phone nothing runs over the edge; a broken report can be read again', async ({ page, request }) => {
  await page.setViewportSize(PHONE)
  await open(page, previewed)
  await expect(entry(page, FLOW_LOGS)).toBeVisible()
  await expectToFit(page)
  await withReport(page, request, { status: 'Great' })
  await page.goto(`/console/sessions/${previewed}/drift?round=1`)
  await expect(page.getByText('The format of the report of this round is unknown')).toBeVisible()
})

test('a session without drift says what to do', async ({ page, request }) => {
  await open(page, (await runExample(request, 'question')).uuid)
  await expect(page.getByText('No drift check in this session yet')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Check for drift' })).toBeVisible()
})
