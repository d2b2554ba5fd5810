import { readFile } from 'node:fs/promises'
import { answer, signInAs } from './answers.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { runExample } from './world.ts'

const SUMMARY = '**/api/v1/admin/sessions/summary*'
const USERS = /\/api\/v1\/admin\/users/
const AUDIT = /\/api\/v1\/admin\/audit/

const TOTALS = {
  total: 412,
  in_flight: 3,
  locked: 2,
  statuses: {
    started: 1,
    filtering: 0,
    generating: 1,
    validating: 1,
    report: 0,
    apply: 0,
    completed: 380,
    uncompleted: 20,
    failed: 9,
  },
  waiting: 1,
  oldest_waiting_at: '2026-01-31T23:59:59.000000Z',
  spend_30_days: {
    rounds: 96,
    cost_usd: 11.482,
    rounds_of_unknown_cost: 4,
    input_tokens: 4_628_160,
    cached_tokens: 2_889_600,
    output_tokens: 491_520,
    engine_s: 2_054.4,
    model_s: 6_134.4,
  },
}

test('the overview reads its figures again where it could not, and leads to the sessions that it counts', async ({
  page,
}) => {
  let isAway = true
  await page.route(SUMMARY, (route) => (isAway ? answer(route, { detail: 'Busy.' }, 500) : answer(route, TOTALS)))
  await page.goto('/console/admin')
  await expect(page.getByText('The overview could not be read')).toBeVisible({ timeout: 15_000 })
  isAway = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('heading', { name: 'Queue' })).toBeVisible()
  await expect(page.getByText('$11.48')).toBeVisible()
  await expect(page.getByText('without 4 rounds of unknown cost')).toBeVisible()
  await expect(page.getByText('4,628,160')).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('link', { name: '9', exact: true }).click()
  await expect(page).toHaveURL(/sessions\?view=all&status=failed$/)
  await expect(page.getByRole('combobox', { name: 'Status' })).toHaveValue('failed')
})

test('every part says which role it needs', async ({ page }) => {
  await signInAs(page, null)
  for (const [path, role] of [
    ['admin', 'viewer'],
    ['admin/audit', 'viewer'],
    ['admin/users', 'admin'],
  ]) {
    await page.goto(`/console/${path}`)
    await expect(page.getByText(`You need the panel role ${role} to`)).toBeVisible()
  }
})

const user = (id: number, changes: object = {}) => ({
  id,
  email: `user${id}@example.org`,
  display_name: `User ${id}`,
  operation_role: 'developer',
  panel_role: null,
  issuer: 'https://login.example.org',
  subject: `s${id}`,
  created_at: '2026-01-31T23:59:59.000000Z',
  ...changes,
})

test('roles are changed after a confirmation, one page and one search at a time', async ({ page }) => {
  const sent: unknown[] = []
  await page.route(USERS, async (route) => {
    const request = route.request()
    if (request.method() === 'PUT') {
      sent.push([new URL(request.url()).pathname, request.postDataJSON()])
      return answer(route, user(2, request.postDataJSON()))
    }
    const query = new URL(request.url()).searchParams
    const number = Number(query.get('page') ?? 1)
    const items = query.get('search') === 'nobody' ? [] : [user(1), user(number + 1, { display_name: '<b>Grace</b>' })]
    return answer(route, { items, total: items.length * 20, page: number, page_size: 20, total_pages: 2 })
  })
  await page.goto('/console/admin/users')
  await expect(page.getByText('<b>Grace</b>', { exact: true })).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Change roles… of <b>Grace</b>' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Panel role').selectOption('editor')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Assign these roles' }).click()
  await expect(page.getByText('User 2 now has the roles developer and editor.')).toBeVisible()
  expect(sent).toEqual([['/api/v1/admin/users/2/roles', { operation_role: 'developer', panel_role: 'editor' }]])
  await page.getByRole('button', { name: 'Next' }).click()
  await expect(page).toHaveURL(/page=2/)
  await page.getByRole('searchbox', { name: 'Search' }).fill('nobody')
  await expect(page.getByText('No user matches')).toBeVisible()
  await expect(page).toHaveURL(/search=nobody$/)
  await page.getByRole('button', { name: 'Show all users' }).click()
  await expect(page.getByText('<b>Grace</b>', { exact: true })).toBeVisible()
})

test('own roles are warned about, and what the platform refuses is shown', async ({ page }) => {
  await page.goto('/console/admin/users')
  await page.getByRole('button', { name: /Change roles… of Local Developer/ }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('These are your own roles')).toBeVisible()
  await dialog.getByLabel('Panel role').selectOption('viewer')
  await dialog.getByRole('button', { name: 'Assign these roles' }).click()
  await expect(dialog.getByRole('alert')).toContainText('cannot remove their own admin role')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(dialog).toHaveCount(0)
})

test('the audit is filtered by its address, and downloaded as the API gives it', async ({ page, request }) => {
  const { uuid } = await runExample(request, 'question')
  for (const locked of [true, false])
    await request.patch(`/api/v1/admin/sessions/${uuid}/toggle_lock`, { data: { locked, reason: 'Checked' } })
  await page.goto('/console/admin/audit')
  await page.getByLabel('Action').selectOption('Locked a session')
  await expect(page).toHaveURL(/action=session_locked/)
  await expect(page.getByRole('cell', { name: 'Locked a session' }).first()).toBeVisible()
  await expect(page.getByRole('cell', { name: 'Requested a round' })).toHaveCount(0)
  await page.reload()
  await expect(page.getByLabel('Action')).toHaveValue('session_locked')
  await expectAccessible(page)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe('audit.csv')
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
  expect(lines[0]).toBe('id,at,action,actor,user_id,session_id,address,detail,subject')
  for (const line of lines.slice(1)) expect(line).toContain('session_locked')
  expect(lines.length).toBeGreaterThan(1)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(page).toHaveURL(/admin\/audit$/)
})

test('the audit explains counts that stop, shows refusals, and keeps hostile text as text', async ({ page }) => {
  const record = {
    id: 1,
    at: '2026-01-31T23:59:59.123456Z',
    action: 'roles_changed',
    actor: '<script>1</script>\u202eada',
    user_id: 1,
    session_id: null,
    address: '203.0.113.7',
    detail: { user: '<img src=x>', from: { panel_role: null }, to: { panel_role: 'admin' } },
  }
  let isAway = true
  await page.route(AUDIT, (route) =>
    isAway
      ? answer(route, { detail: 'Busy.' }, 500)
      : answer(route, {
          items: [record],
          total: 5_000,
          page: 1,
          page_size: 50,
          total_pages: 100,
          total_is_exact: false,
          sign_in_refusals: {
            from: '2026-01-30T23:00:00.000Z',
            until: '2026-01-31T23:59:59.999Z',
            total: 12,
            reasons: [{ reason: 'token has expired', refusals: 12 }],
            addresses: [{ address_prefix: '203.0.113.0/24', refusals: 12 }],
          },
        }),
  )
  await page.goto('/console/admin/audit')
  await expect(page.getByText('The audit could not be read')).toBeVisible({ timeout: 15_000 })
  isAway = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('<script>1</script>⟨U+202E⟩ada')).toBeVisible()
  await expect(page.getByText('panel role: admin')).toBeVisible()
  await page.getByText('12 sign-ins refused').click()
  await expect(page.getByText('token has expired')).toBeVisible()
  await expect(page.locator('main img, main script')).toHaveCount(0)
  await expect(page.getByText('5,000 entries and more, page 1 of 100')).toBeVisible()
  await page.getByRole('button', { name: 'Only entries older than this page' }).click()
  await expect(page).toHaveURL(/before=2026-01-31T23/)
})
