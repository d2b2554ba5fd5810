import type { Page } from '@playwright/test'
import type { Session } from '../../../console/client/api/client.ts'
import { serveArtifact } from './answers.ts'
import { expect, expectAccessible, expectToFit, PHONE, test } from './fixtures.ts'
import { findOrRunExample, readSession } from './world.ts'

/** A finished generate round with a new file and a changed one. */
let session: Session

test.beforeAll(async ({ request }) => {
  session = await readSession(request, await findOrRunExample(request, 'generate'))
})

const open = (page: Page, part: 'code' | 'report' | 'compliance', more = '') =>
  page.goto(`/console/sessions/${session.uuid}/review?round=1&part=${part}${more}`)

const CHANGE = /\/changes\/[^/]*outputs\.tf/
const REPORT = /\/reports\/generate-/
const answerDiff = (page: Page, body: string) =>
  serveArtifact(page, CHANGE, { body, headers: { 'x-amz-meta-new_file': 'false' } })
const serveJson = (page: Page, path: RegExp, json: object) => serveArtifact(page, path, { json })

const lines = (count: number, sign = ' ') =>
  Array.from({ length: count }, (_, index) => `${sign}  argument_${index} = ${index}`).join('\n')
/** Only line 61 changes. */
const LONG_DIFF = `diff --git outputs.tf outputs.tf
--- outputs.tf
+++ outputs.tf
@@ -1,100 +1,100 @@
 locals {
${lines(59)}
-  size = "small-one"
+  size = "large-one"
${lines(39)}
 }
`

test.describe('code', () => {
  test('shows each file of a round with what was counted, and can be read by everybody', async ({ page }) => {
    await open(page, 'code')
    const part = page.getByRole('region', { name: 'Code', exact: true })
    const names = [...new Set(session.rounds[0]?.code_changes.map(({ file_name }) => file_name))]
    for (const name of names) await expect(part.getByRole('article', { name })).toBeVisible()
    const created = part.getByRole('article', { name: 'outputs.tf' })
    await expect(created.getByText('+5 lines added')).toBeVisible()
    await expect(created.getByRole('table', { name: 'Changes of outputs.tf' })).toContainText('orders_queue_id')
    await expect(part.getByRole('navigation', { name: 'Changed files' }).getByRole('link')).toHaveCount(names.length)
    await expectAccessible(page)
  })

  test('folds what is unchanged, and opens it with the focus on the first line of it', async ({ page }) => {
    await answerDiff(page, LONG_DIFF)
    await open(page, 'code')
    const table = page.getByRole('table', { name: 'Changes of outputs.tf' })
    await expect(table.getByText('"small-one"')).toBeVisible()
    await expect(table.getByText('argument_10 ')).toHaveCount(0)
    await expect(table.getByText('in locals')).toHaveCount(1)
    await table.getByRole('button', { name: 'Show 57 unchanged lines' }).press('Enter')
    await expect(table.getByText('argument_10 ')).toBeVisible()
    const first = table.getByRole('link', { name: 'Line 1', exact: true })
    await expect(first).toBeFocused()
    await first.press('ArrowDown')
    await expect(table.getByRole('link', { name: 'Line 2', exact: true })).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/file=outputs\.tf&line=2|line=2.*file=outputs\.tf/)
  })

  test('opens at the line of the address, also where it is folded', async ({ page }) => {
    await answerDiff(page, LONG_DIFF)
    await open(page, 'code', '&file=outputs.tf&line=20')
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Line 20', exact: true }) })
    const selected = row.and(page.locator('[aria-current="true"]'))
    await expect(selected).toContainText('argument_18')
    await expect(selected).toBeInViewport()
  })

  test('puts both versions beside each other on a wide screen only', async ({ page }) => {
    await answerDiff(page, LONG_DIFF)
    await open(page, 'code')
    await page.getByRole('radio', { name: 'Side by side' }).check()
    const table = page.getByRole('table', { name: 'Changes of outputs.tf' })
    await expect(table.getByRole('row').filter({ hasText: 'small-one' })).toContainText('large-one')
    await expectAccessible(page)
    await page.setViewportSize(PHONE)
    await expect(page.getByRole('radio', { name: 'Side by side' })).toHaveCount(0)
    await expect(table.getByRole('row').filter({ hasText: 'small-one' })).not.toContainText('large-one')
    await expectToFit(page)
    await expectAccessible(page)
  })

  test('keeps which files were viewed, and folds them', async ({ page }) => {
    await open(page, 'code')
    const file = page.getByRole('article', { name: 'outputs.tf' })
    await file.getByRole('checkbox', { name: 'Viewed' }).check()
    await expect(file.getByRole('table')).toHaveCount(0)
    await page.reload()
    await expect(file.getByRole('checkbox', { name: 'Viewed' })).toBeChecked()
    await expect(file.getByRole('table')).toHaveCount(0)
    await file.getByRole('button', { name: 'Lines of outputs.tf' }).click()
    await expect(file.getByRole('table')).toBeVisible()
  })

  test('shows hostile lines as text, and long ones in part', async ({ page }) => {
    const hostile = [
      '+<img src=x onerror="alert(1)"><script>alert(1)</script>',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how HCL writes it
      '+\u202eevil\u0007 = "${</span>}"',
      `+${'x'.repeat(1_000_000)}`,
      `+${'<<A'.repeat(300)}`,
      ...Array.from({ length: 3_000 }, () => '+a <<EOT'),
    ]
    await answerDiff(page, `diff --git outputs.tf outputs.tf\n@@ -0,0 +1 @@\n${hostile.join('\n')}\n`)
    await open(page, 'code')
    const table = page.getByRole('table', { name: 'Changes of outputs.tf' })
    await expect(table).toContainText('<img src=x onerror="alert(1)"><script>alert(1)</script>')
    await expect(table).toContainText('⟨U+202E⟩evil␇')
    await expect(table).toContainText('998,000 more characters')
    await expect(table.locator('img, script')).toHaveCount(0)
    await page.getByRole('button', { name: 'Show 1,000 more lines' }).click()
    await expect(table.getByRole('row')).toHaveCount(2_001)
    await expectToFit(page)
  })

  test('shows what is no diff as it is, and says what could not be read', async ({ page }) => {
    await answerDiff(page, 'diff --git a b\nBinary files a and b differ\n')
    await open(page, 'code')
    await expect(page.getByRole('article', { name: 'outputs.tf' })).toContainText('Binary files a and b differ')
    await page.unrouteAll({ behavior: 'wait' })
    await serveArtifact(page, CHANGE, { status: 403 })
    await page.reload()
    const error = page.getByRole('article', { name: 'outputs.tf' }).getByRole('alert')
    await expect(error).toContainText('This file could not be read.')
    await page.unrouteAll({ behavior: 'wait' })
    await error.getByRole('button', { name: 'Try again' }).click()
    await expect(page.getByRole('table', { name: 'Changes of outputs.tf' })).toBeVisible()
  })
})

test.describe('report', () => {
  const part = (page: Page) => page.getByRole('region', { name: 'Report', exact: true })

  test('tells impact, checks and costs, each with where it comes from', async ({ page }) => {
    await open(page, 'report')
    await expect(part(page).getByText('low', { exact: true })).toBeVisible()
    const checked = part(page).getByRole('listitem').filter({ hasText: 'Checked against the request' })
    await expect(checked).toContainText('computed by code')
    await expect(part(page).getByRole('row', { name: /Total of the fixed amounts/ })).toContainText('$0.00')
    const resource = part(page).getByRole('link', { name: 'terraform_data.orders_queue', exact: true })
    await expect(resource).toHaveAttribute('href', /part=plan.*resource=|resource=.*part=plan/)
    await expectAccessible(page)
  })

  test('shows hostile words of a model as text', async ({ page }) => {
    await serveJson(page, REPORT, {
      summary: { create: 1 },
      detailed_changes: [{ name: 'a.b', action: 'create', summary: '[x](javascript:alert(1))', details: '<b>x</b>' }],
      potential_impact: {
        banner: { level: 'none of these', title: '<script>alert(1)</script>', description: 'x'.repeat(1_000_000) },
        bullet_points: [{ title: 'Outside the targets', description: 'Lead:\n- create a.b' }, null, 'text'],
      },
      estimated_costs: { currency: '<i>', total_fixed_monthly_cost: 3, breakdown: [{ resource_type: '<u>' }] },
    })
    await open(page, 'report')
    await expect(part(page)).toContainText('<script>alert(1)</script>')
    await expect(part(page)).toContainText('[x](javascript:alert(1))')
    await expect(part(page)).toContainText('3.00 <i>')
    await expect(part(page).getByText('high', { exact: true })).toBeVisible()
    await expect(part(page).locator('script, i, u, a[href^="javascript"]')).toHaveCount(0)
    await expectToFit(page)
  })

  test('says when a report cannot be read or has another form', async ({ page }) => {
    await serveArtifact(page, REPORT, { body: 'no JSON' })
    await open(page, 'report')
    await expect(part(page)).toContainText('The format of the')
    await page.unrouteAll({ behavior: 'wait' })
    await page.route(REPORT, (route) => route.abort())
    await page.reload()
    await expect(part(page).getByRole('alert')).toContainText('The report could not be read.')
  })
})

test.describe('compliance', () => {
  const part = (page: Page) => page.getByRole('region', { name: 'Compliance', exact: true })

  test('says that a round passed, and which rules code has checked', async ({ page }) => {
    await open(page, 'compliance')
    await expect(part(page)).toContainText(/Passed\s*\d+ rules checked in the plan, 0 findings\s*computed by code/)
    await expect(part(page).getByText('url password')).toBeVisible()
    await expectAccessible(page)
  })

  test('lists what failed first, with its resource and its line in the code', async ({ page }) => {
    const found = (rule_id: string, severity: string, resource: string | null) => ({
      rule_id,
      severity,
      resource,
      message: `<b>${severity}</b> message`,
      suggested_fix: `Mend the ${severity}.`,
    })
    await serveJson(page, /\/compliance\/check-/, {
      passed: false,
      summary: 'Code checked 2 rules: 1 warning, 1 error.',
      violations: [
        found('common.secrets.known-token', 'warning', null),
        found('scope_exceeded', 'error', 'terraform_data.orders_queue'),
      ],
      checked_rules: ['common.secrets.known-token', 'scope_exceeded', 'common.secrets.url-password'],
    })
    await open(page, 'compliance')
    await expect(part(page)).toContainText('Failed')
    const cards = part(page).getByRole('listitem').filter({ hasText: 'message' })
    await expect(cards.first()).toContainText('<b>error</b> message')
    await expect(cards.first()).toContainText('written by a model')
    await expect(cards.first()).toContainText('Mend the error.')
    await expect(cards.nth(1)).toContainText('common.secrets.known-token')
    await expectAccessible(page)
    const line = cards.first().getByRole('link', { name: /\.tf:\d+$/ })
    await expect(line).toHaveAttribute('href', /part=code/)
    await expect(cards.first().getByRole('link', { name: 'terraform_data.orders_queue', exact: true })).toHaveAttribute(
      'href',
      /resource=terraform_data\.orders_queue/,
    )
  })
})
