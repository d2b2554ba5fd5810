import type { APIRequestContext, Page } from '@playwright/test'
import type { PlannedResource } from '../../../console/client/api/client.ts'
import { plannedResource, serveArtifact } from './answers.ts'
import { expect, expectAccessible, expectToFit, PHONE, test } from './fixtures.ts'
import { findOrRunExample } from './world.ts'

/** Returns a session with a plan, whose document each test replaces. */
const sessionWithPlan = (request: APIRequestContext) => findOrRunExample(request, 'generate')
const PLAN = /\/plans\/[^/]+\.json/
const drawing = (page: Page) => page.getByRole('region', { name: 'Drawing' })

const resource = (address: string, depends_on: string[] = [], more: Partial<PlannedResource> = {}) =>
  plannedResource(address, {
    module_address: /^(.*)\.[^.]+\.[^.]+$/.exec(address)?.[1] ?? null,
    type: address.split('.').at(-2) ?? 'x',
    name: address.split('.').at(-1) ?? 'x',
    action: 'none',
    attributes: [],
    depends_on,
    ...more,
  })

/** Opens the graph of a plan with these resources. */
async function openGraph(page: Page, request: APIRequestContext, resources: object[], search = ''): Promise<void> {
  await serveArtifact(page, PLAN, { json: { schema_version: 1, summary: {}, targets: [], resources } })
  await page.goto(`/console/sessions/${await sessionWithPlan(request)}/graph${search}`)
  await expect(page.getByRole('heading', { name: 'Dependencies' })).toBeVisible()
}

const SHOP = [
  resource('net.vpc'),
  resource('net.subnet', ['net.vpc'], { action: 'update' }),
  resource('app.vm', ['net.subnet'], { action: 'create' }),
  resource('app.log', ['app.vm']),
  resource('db.orders', [], { action: 'delete', is_critical: true, critical_reason: 'data' }),
]

test('draws what a round really planned, and lists the same in a table', async ({ page, request }) => {
  await page.goto(`/console/sessions/${await sessionWithPlan(request)}/graph`)
  await expect(drawing(page).getByRole('button', { name: /orders_queue_alarm/ })).toBeVisible()
  await expect(page.getByRole('table').getByRole('row')).toHaveCount(4)
  await expectAccessible(page)
})

test('shows the blast radius of what is chosen by the keyboard alone', async ({ page, request }) => {
  await openGraph(page, request, SHOP)
  const table = page.getByRole('table')
  await page.getByLabel('Find a resource').focus()
  await page.keyboard.type('NET.VPC')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/resource=net\.vpc/)
  const chosen = page.getByRole('region', { name: 'net.vpc' })
  await expect(chosen).toContainText('3 resources depend on it, directly or indirectly. This plan changes 2 of them.')
  await page.getByLabel('Find a resource').fill('')
  const hits = table.getByRole('row').filter({ hasText: 'yes' })
  await expect(hits).toHaveCount(3)
  await expect(table.getByRole('row', { name: /db\.orders/ })).toContainText('no')
  await expect(drawing(page).getByRole('button', { name: /affected/ })).toHaveCount(3)
  await expect(chosen.getByRole('link', { name: 'See its changes' })).toHaveAttribute(
    'href',
    /\/review\?.*part=plan.*resource=net\.vpc/,
  )
  await expectAccessible(page)
})

test('moves in the drawing by arrow keys and chooses there', async ({ page, request }) => {
  await openGraph(page, request, SHOP, '?resource=net.vpc')
  await drawing(page).getByRole('button', { name: /vpc/ }).focus()
  await page.keyboard.press('ArrowRight')
  await expect(drawing(page).getByRole('button', { name: /subnet/ })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/resource=net\.subnet/)
  await expect(drawing(page).getByRole('button', { name: /subnet/ })).toHaveAttribute('aria-pressed', 'true')
  await expect(drawing(page).getByRole('button', { name: /affected/ })).toHaveCount(2)
})

test('marks critical losses, and filters by action and by what changes', async ({ page, request }) => {
  await openGraph(page, request, SHOP)
  await expect(page.getByRole('row', { name: /db\.orders/ })).toContainText('critical')
  await expect(drawing(page).getByRole('button', { name: /critical/ })).toHaveCount(1)
  const rows = page.getByRole('table').locator('tbody').getByRole('row')
  await page.getByLabel('Only changes and their neighbours').check()
  await expect(rows).toHaveCount(5)
  await page.getByRole('button', { name: /^destroy 1$/ }).click()
  await expect(rows).toHaveCount(1)
  await expect(page).toHaveURL(/action=delete/)
})

test('bears a cycle, missing addresses and hostile names', async ({ page, request }) => {
  const hostile = 'x.<img src=x onerror=alert(1)>\u202e["\u0007"]'
  await openGraph(page, request, [
    resource('a.a', ['a.b', 'gone.one']),
    resource('a.b', ['a.a']),
    resource(hostile, ['a.a'], { name: hostile, type: `t${'y'.repeat(1_000_000)}` }),
    resource(`long.${'z'.repeat(1_000_000)}`),
  ])
  await expect(page.getByRole('row', { name: /a\.a/ }).first()).toContainText('1 outside this plan')
  const button = page.getByRole('table').getByRole('button', { name: 'onerror' })
  await expect(button).toContainText('<img src=x onerror=alert(1)>⟨U+202E⟩["␇"]')
  await button.click()
  await expect(page.getByText('Nothing in this plan depends on it.')).toBeVisible()
  await page.getByRole('table').getByRole('button', { name: 'a.b' }).click()
  await expect(page.getByText(/2 resources depend on it/)).toBeVisible()
  await expect(page.locator('img')).toHaveCount(0)
})

test('collapses ten thousand resources and stays quick', async ({ page, request }) => {
  const many = Array.from({ length: 10_000 }, (_, index) =>
    resource(`module.m${index % 20}.t.r${index}`, index === 0 ? [] : [`module.m${(index - 1) % 20}.t.r${index - 1}`], {
      action: index % 2 ? 'create' : 'none',
    }),
  )
  await openGraph(page, request, many)
  await expect(drawing(page).getByRole('button', { name: /Open.*module\.m0/ })).toBeVisible()
  await page.getByLabel('Find a resource').fill('r9000')
  const began = Date.now()
  await page.keyboard.press('Enter')
  await expect(page.getByText(/^999 resources depend on it/)).toBeVisible()
  expect(Date.now() - began).toBeLessThan(5_000)
  await expect(drawing(page).getByRole('button', { name: /r9000/ })).toBeVisible()
})

test('comes as a table first on a phone, with the drawing on demand', async ({ page, request }) => {
  await page.setViewportSize(PHONE)
  await openGraph(page, request, SHOP)
  await expect(page.getByRole('table')).toBeVisible()
  await expect(drawing(page)).toHaveCount(0)
  await page.getByText('Show the graph').click()
  await expect(drawing(page).getByRole('button', { name: /vpc/ })).toBeVisible()
  await expectToFit(page)
  await expectAccessible(page)
})

test('says when the document of a plan is damaged or cannot be read', async ({ page, request }) => {
  const id = await sessionWithPlan(request)
  await serveArtifact(page, PLAN, { body: '{"resources":' })
  await page.goto(`/console/sessions/${id}/graph`)
  await expect(page.getByText('This plan cannot be read')).toBeVisible()
  await page.unroute(PLAN)
  await page.route(PLAN, (route) => route.abort())
  await page.goto(`/console/sessions/${id}/graph`)
  await expect(page.getByText('The plan could not be read')).toBeVisible()
  await page.unroute(PLAN)
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('table')).toBeVisible()
})
