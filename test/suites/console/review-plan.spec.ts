import type { Page } from '@playwright/test'
import type { Round, Session } from '../../../console/client/api/client.ts'
import { changeSession, planDocument, plannedResource, serveArtifact, servePlan } from './answers.ts'
import { expect, expectAccessible, expectToFit, PHONE, test } from './fixtures.ts'
import { runExample } from './world.ts'

let generated: Session
let locked: Session

test.beforeAll(async ({ request }) => {
  generated = await runExample(request, 'generate')
  locked = await runExample(request, 'blocked')
})

const open = (page: Page, session: Session, search = '') =>
  page.goto(`/console/sessions/${session.uuid}/review${search}`)
const DOCUMENT = /\/plans\/[^/]+\.json/
const row = (page: Page, name: RegExp | string) => page.getByRole('heading', { level: 4, name }).getByRole('button')

test('shows what a generate round would make, and what it was held against', async ({ page }) => {
  await open(page, generated)
  const glance = page.getByRole('region', { name: 'At a glance' })
  await expect(glance.getByRole('link', { name: '3 create' })).toBeVisible()
  await expect(glance).toContainText('5 of 5 met')
  await expect(glance).toContainText('Not locked.')
  await expect(page.getByRole('list', { name: 'Resources of the plan' }).getByRole('listitem')).toHaveCount(3)
  const queue = row(page, /queue_alarm/)
  await queue.click()
  await expect(queue).toHaveAttribute('aria-expanded', 'true')
  await expect(page.getByRole('row', { name: /threshold 300/ })).toBeVisible()
  await expect(page.getByRole('row', { name: /^id known after the apply/ })).toBeVisible()
  await expect(page).toHaveURL(/resource=terraform_data/)
  await expectAccessible(page)
})

test('says why a session is locked, and shows what is destroyed first', async ({ page }) => {
  await open(page, locked)
  const glance = page.getByRole('region', { name: 'At a glance' })
  await expect(glance).toContainText('High impact Something is destroyed: The plan touches 1 resource.')
  await expect(row(page, /destroy/)).toHaveCount(1)
  await row(page, /destroy/).click()
  await expect(page.getByText('Its module is no longer in the code.')).toBeVisible()
  await expect(page.getByRole('status').filter({ hasText: '1 of 3 resources' })).toBeVisible()
  await page.getByRole('button', { name: /unchanged 2/ }).click()
  await expect(page).toHaveURL(/action=none/)
  await expect(row(page, /unchanged/)).toHaveCount(2)
  await page.getByText('Engine output').click()
  await expect(page.getByText('will be destroyed')).toBeVisible()
})

test('has a link to each part', async ({ page }) => {
  await open(page, generated, '?part=plan')
  const parts = page.getByRole('navigation', { name: 'Parts of the review' })
  for (const part of ['Code', 'Report and cost', 'Compliance', 'Plan']) {
    await parts.getByRole('link', { name: part }).click()
    await expect(parts.getByRole('link', { name: part })).toHaveAttribute('aria-current', 'page')
  }
})

const RULE = {
  rule_id: 'data-replaced',
  severity: 'critical',
  message: 'Its data is lost.',
  suggested_fix: 'Keep it.',
} as const

test('leads to a resource and to a finding, and finds by the address', async ({ page }) => {
  const many = Array.from({ length: 300 }, (_, index) => plannedResource(`aws_s3_bucket.b${index}`))
  const target = plannedResource('module.store["eu"].aws_s3_bucket.logs', {
    module_address: 'module.store["eu"]',
    action: 'replace',
    is_critical: true,
    critical_reason: 'data',
    replace: { order: 'delete_first', keeps_old: false, reasons: [{ path: ['bucket'] }] },
    attributes: [{ path: ['bucket'], change: 'changed', before: 'logs-eu', after: 'logs-west' }],
    findings: [RULE],
  })
  await servePlan(page, generated, planDocument([...many, target]))
  await open(page, generated, '?resource=aws_s3_bucket.b250')
  await expect(row(page, /bucket\.b250/)).toBeFocused()
  await expect(row(page, /bucket\.b250/)).toHaveAttribute('aria-expanded', 'true')
  await expect(row(page, /bucket\.b250/)).toBeInViewport()

  await open(page, generated, `?resource=${encodeURIComponent(target.address)}&finding=data-replaced`)
  await expect(page.getByRole('listitem').filter({ hasText: 'Its data is lost.' }).last()).toBeFocused()
  await expect(page.getByText('The old one is destroyed first, then the new one is created')).toBeVisible()
  await expect(page.getByRole('row', { name: /bucket forces replacement logs-eu logs-west/ })).toBeVisible()

  await open(page, generated, '?search=logs-west&action=replace')
  await expect(page.getByRole('status').filter({ hasText: '1 of 301 resources' })).toBeVisible()
  await page.getByRole('searchbox').fill('b25')
  await expect(page.getByText('No resource matches')).toBeVisible()
  await expect(page).toHaveURL(/search=b25/)
  await page.getByRole('button', { name: 'Clear the filter' }).last().click()
  await expect(page.getByRole('status').filter({ hasText: '301 resources' })).toBeVisible()

  await open(page, generated, '?resource=aws_s3_bucket.b1&critical=true')
  await page.getByRole('button', { name: 'Show it' }).click()
  await expect(row(page, /bucket\.b1$|bucket\.b1 /)).toBeFocused()
  await open(page, generated, '?resource=aws_s3_bucket.gone')
  await expect(page.getByText('The linked resource is not in this plan')).toBeVisible()
})

test('works by the keyboard in a plan of 10,000 resources, and draws only what is in sight', async ({ page }) => {
  const resources = Array.from({ length: 10_000 }, (_, index) => plannedResource(`aws_s3_bucket.b${index}`))
  await servePlan(page, generated, planDocument(resources))
  await open(page, generated)
  const items = page.getByRole('list', { name: 'Resources of the plan' }).getByRole('listitem')
  await expect(items.first()).toBeVisible()
  expect(await items.count()).toBeLessThan(80)
  await row(page, /bucket\.b0 /).focus()
  for (const key of ['ArrowDown', 'j', 'j', 'k']) await page.keyboard.press(key)
  await expect(row(page, /bucket\.b2 /)).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(row(page, /bucket\.b2 /)).toHaveAttribute('aria-expanded', 'true')
  await page.keyboard.press('End')
  await expect(row(page, /bucket\.b9999 /)).toBeFocused()
  await expect(row(page, /bucket\.b9999 /)).toBeInViewport()
  expect(await items.count()).toBeLessThan(80)
  await page.keyboard.press('Home')
  await expect(row(page, /bucket\.b0 /)).toBeFocused()
  await page.getByRole('button', { name: 'Expand all' }).click()
  await expect(page.getByRole('table').first()).toBeVisible()
  expect(await items.count()).toBeLessThan(80)
})

const HOSTILE = '<script>document.title="x"</script><img src=x onerror="document.title=1">\u202eabc\u0007'

test('shows hostile text as text', async ({ page }) => {
  const hostile = plannedResource(`aws_s3_bucket.${HOSTILE}`, {
    action: 'update',
    attributes: [
      { path: [HOSTILE], change: 'changed', before: HOSTILE, after: `${HOSTILE}!` },
      { path: ['long'], change: 'changed', before: 'a'.repeat(1_000_000), after: 'b'.repeat(1_000_000) },
      { path: ['words'], change: 'changed', before: 'a b '.repeat(250_000), after: 'c b '.repeat(250_000) },
      { path: ['policy'], change: 'changed', before: '{"Action":"get"}', after: '{"Action":"*"}' },
      { path: ['secret'], change: 'changed', before: '(sensitive value)', after: '(sensitive value)', sensitive: true },
    ],
    findings: [{ ...RULE, message: HOSTILE, suggested_fix: HOSTILE }],
    depends_on: [`javascript:${HOSTILE}`],
  })
  const plan = planDocument([hostile], {
    targets: [HOSTILE],
    findings: [{ ...RULE, resource: null, message: HOSTILE }],
    statements: [{ id: 's', text: HOSTILE, verdict: 'unknown', finding: HOSTILE }],
    outside_targets: { made: true, changes: [{ address: HOSTILE, type: 'x', action: 'delete' }], changes_left_out: 3 },
    drift: [{ address: HOSTILE, action: 'update', paths: [[HOSTILE]], paths_left_out: 0 }],
    outputs: [{ name: HOSTILE, action: 'update', before: HOSTILE, after: null, unknown: true }],
  })
  await servePlan(page, generated, plan)
  await page.setViewportSize(PHONE)
  await open(page, generated)
  await row(page, /change/).click()
  await expect(page.getByText('⟨U+202E⟩abc␇').first()).toBeVisible()
  await expect(page.getByRole('row', { name: /policy/ })).toContainText('+')
  expect(await page.title()).not.toMatch(/^[x1]$/)
  expect(await page.locator('img, main script').count()).toBe(0)
  await expectToFit(page)
  await expectAccessible(page)
})

test('reads the session again when the link to the plan has expired', async ({ page }) => {
  let refused = 0
  await page.route(DOCUMENT, (route) => {
    if (refused++ > 0) return route.continue()
    return route.fulfill({ status: 403, headers: { 'access-control-allow-origin': '*' } })
  })
  await open(page, generated)
  await expect(row(page, /queue_alarm/)).toBeVisible()
  expect(refused).toBe(2)
})

test('says that a plan cannot be read, and tries again', async ({ page }) => {
  await serveArtifact(page, DOCUMENT, { status: 403 })
  await open(page, generated)
  await expect(page.getByRole('alert')).toContainText('The plan could not be read')
  await expect(page.getByText('will be created').first()).toBeVisible()
  await page.unroute(DOCUMENT)
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(row(page, /queue_alarm/)).toBeVisible()
  await servePlan(page, generated, { schema_version: 99 })
  await page.reload()
  await expect(page.getByText('The format of the plan is unknown')).toBeVisible()
})

test('lets choose among rounds and plans, and shows the text of a plan that has no data', async ({ page }) => {
  const [round] = generated.rounds as [Round]
  const [plan] = round.plans as [Round['plans'][number]]
  const earlier = { ...plan, id: plan.id + 100_000 }
  const failed = { ...round, id: round.id + 1, number: 2, plans: [{ ...plan, document_url: null }] }
  const without = { ...round, id: round.id + 2, number: 3, plans: [] }
  const first = { ...round, plans: [earlier, plan] }
  await changeSession(page, () => ({ rounds: [first, failed, without] }))
  await open(page, generated)
  await expect(page.getByText('This round has no plan', { exact: true })).toBeVisible()
  await page.getByRole('combobox', { name: 'Round', exact: true }).selectOption('2')
  await expect(page).toHaveURL(/round=2/)
  await expect(page.getByText('This plan is available as text only')).toBeVisible()
  await expect(page.getByText('will be created').first()).toBeVisible()
  await page.getByRole('combobox', { name: 'Round', exact: true }).selectOption('1')
  await page.getByRole('combobox', { name: 'Plan', exact: true }).selectOption(String(earlier.id))
  await expect(page).toHaveURL(new RegExp(`plan=${earlier.id}`))
  await expect(row(page, /queue_alarm/)).toBeVisible()
  await expectAccessible(page)
})

test('says what to do when there is nothing to review', async ({ page }) => {
  await changeSession(page, () => ({ rounds: [] }))
  await open(page, generated)
  await expect(page.getByText('There is nothing to review')).toBeVisible()
  await page.getByRole('link', { name: 'See the rounds' }).click()
  await expect(page).toHaveURL(new RegExp(`${generated.uuid}/?$`))
})
