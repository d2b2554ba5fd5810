import { answer, answerPage, listed, signInAs } from './answers.ts'
import { expect, expectAccessible, expectToFit, test } from './fixtures.ts'
import { runExample } from './world.ts'

const LIST = /\/api\/v1\/(admin\/)?sessions\/list/
const MANY = 10_000

test('filters stand in the address, are asked of the API, and survive a reload and the way back', async ({
  page,
  request,
}) => {
  await runExample(request, 'question')
  await runExample(request, 'declined')
  const asked: URLSearchParams[] = []
  page.on('request', (sent) => LIST.test(sent.url()) && asked.push(new URL(sent.url()).searchParams))
  await page.goto('/console/sessions?view=all')
  const rows = page.getByRole('region', { name: 'Sessions' }).getByRole('link')
  await expect(rows.first()).toBeVisible()
  await page.getByLabel('Last round').selectOption('Generate')
  await page.getByLabel('Cloud').selectOption('AWS')
  await expect(page).toHaveURL(/mode=generate&cloud=aws/)
  await page.getByRole('searchbox', { name: 'Search' }).fill('everything in')
  await expect(page).toHaveURL(/search=everything/)
  await expect(page.getByText('Delete the production network').first()).toBeVisible()
  await expect(page.getByText('How many queues are there?')).toHaveCount(0)
  expect(Object.fromEntries(asked.at(-1) ?? [])).toMatchObject({
    mode: 'generate',
    cloud: 'aws',
    search: 'everything in',
    include_cost: 'true',
  })
  await page.reload()
  await expect(page.getByRole('searchbox', { name: 'Search' })).toHaveValue('everything in')
  await expect(page.getByLabel('Last round')).toHaveValue('generate')
  await page.getByText('Delete the production network').first().click()
  await expect(page).toHaveURL(/sessions\/[0-9a-f-]{36}/)
  await page.goBack()
  await expect(page.getByLabel('Cloud')).toHaveValue('aws')
  await page.getByRole('button', { name: 'Clear all 3 filters' }).click()
  await expect(page).toHaveURL(/sessions\?view=all$/)
  await expect(page.getByRole('searchbox', { name: 'Search' })).toHaveValue('')
})

test('every filter of the API is offered', async ({ page }) => {
  await page.route(LIST, (route) => answerPage(route, 1))
  await page.goto('/console/sessions?view=all')
  await page.getByText('More filters').click()
  await page.getByLabel('First round').selectOption('Drift')
  await page.getByRole('combobox', { name: 'Lock' }).selectOption('Not locked')
  await page.getByRole('textbox', { name: 'Repository' }).fill('https://github.com/acme/infrastructure.git')
  await page.getByLabel('Created from').fill('2026-01-02')
  await page.getByLabel('Created before').fill('2026-02-03')
  await page.getByRole('combobox', { name: 'Status' }).selectOption('Failed')
  const last = page.waitForRequest((request) => request.url().includes('user_email'))
  await page.getByLabel('Owner').fill('ada@')
  const query = Object.fromEntries(new URL((await last).url()).searchParams)
  expect(query).toMatchObject({
    operation: 'drift',
    locked: 'false',
    repo_uri: 'https://github.com/acme/infrastructure.git',
    status: 'failed',
    user_email: 'ada@',
  })
  expect(query.created_after).toMatch(/^2026-01-0[12]T/)
  expect(query.created_before).toMatch(/^2026-02-0[23]T/)
})

test('moves by keys', async ({ page }) => {
  await page.route(LIST, (route) => answerPage(route, 300))
  await page.goto('/console/sessions?view=all')
  const rows = page.getByRole('region', { name: 'Sessions' }).getByRole('link')
  await expect(rows.first()).toHaveText('Request number 0')
  await rows.first().focus()
  for (let step = 0; step < 29; step++) await page.keyboard.press('j')
  for (const [key, index] of [
    ['j', 30],
    ['k', 29],
    ['End', 299],
    ['Home', 0],
  ] as const) {
    await page.keyboard.press(key)
    await expect(page.getByRole('link', { name: `Request number ${index}`, exact: true })).toBeFocused()
  }
  await expectAccessible(page)
})

test('says what is missing, and what to do: nothing yet, no match, no role, and no answer', async ({ page }) => {
  await signInAs(page, null)
  let total = 0
  await page.route(LIST, (route) => answerPage(route, total))
  await page.goto('/console/sessions')
  await expect(page.getByText('You have no sessions yet')).toBeVisible()
  await expect(page.getByRole('navigation', { name: 'Whose sessions' })).toHaveCount(0)
  await page.goto('/console/sessions?status=failed')
  await expect(page.getByText('No session matches')).toBeVisible()
  total = 3
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(page.getByText('3 sessions')).toBeVisible()
  await page.goto('/console/sessions?view=all')
  await expect(page.getByText('You need the panel role viewer to see all sessions')).toBeVisible()
  await page.unroute(LIST)
  let isAway = true
  await page.route(LIST, (route) => (isAway ? answer(route, { detail: 'Busy.' }, 500) : answerPage(route, 3)))
  await page.goto('/console/sessions')
  await expect(page.getByText('The sessions could not be loaded')).toBeVisible({ timeout: 15_000 })
  isAway = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('3 sessions')).toBeVisible()
})

test('a filter that the API refuses is named, and can be cleared', async ({ page }) => {
  await page.goto('/console/sessions?status=perhaps')
  await expect(page.getByText('The sessions could not be loaded')).toBeVisible()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await expect(page.getByText(/^[\d,]+ sessions?$/)).toBeVisible()
})

test('texts of others are text', async ({ page }) => {
  const hostile = '<img src=x onerror="document.title=1">\u202etxt.exe \u0007 مرحبا 😀'
  await page.route(LIST, (route) =>
    answerPage(route, 3, (index) =>
      listed(index, {
        first_query: index === 0 ? hostile : index === 1 ? 'x'.repeat(1_000_000) : null,
        workspace: { uri: `javascript:alert(1)//${hostile}`, branch: 'b', root_path: '<b>root</b>' },
        username: '<script>1</script>',
      }),
    ),
  )
  await page.goto('/console/sessions?view=all')
  await expect(page.getByText('<img src=x', { exact: false }).first()).toBeVisible()
  await expect(page.getByText('⟨U+202E⟩txt.exe').first()).toBeVisible()
  await expect(page.getByRole('link', { name: 'Without a request' })).toBeVisible()
  await expect(page.locator('main img, main script')).toHaveCount(0)
  await expect(page.locator('main a[href^="javascript"]')).toHaveCount(0)
  await expectToFit(page)
})

test('follows what runs, and new sessions move nothing under a reader in the middle', async ({ page }) => {
  let fresh = 0
  let running = true
  const make = (index: number) =>
    index < fresh
      ? listed(9_000 + index, { first_query: `Fresh ${index}`, created_at: '2026-03-01T00:00:00.000000Z' })
      : listed(
          index - fresh,
          index === fresh ? { in_flight: running, current_status: running ? 'generating' : 'failed' } : {},
        )
  await page.route(LIST, (route) => {
    const isBehind = new URL(route.request().url()).searchParams.has('created_before')
    return isBehind ? answerPage(route, 500) : answerPage(route, 500 + fresh, make)
  })
  await page.goto('/console/sessions')
  await expect(page.getByRole('listitem').getByText('Writing code')).toBeVisible()
  running = false
  await expect(page.getByRole('listitem').getByText('Failed')).toBeVisible({ timeout: 8_000 })
  running = true
  await page.reload()
  await expect(page.getByRole('listitem').getByText('Writing code')).toBeVisible()
  await page.mouse.wheel(0, 9_000)
  const middle = page.getByRole('link', { name: 'Request number 150', exact: true })
  await expect(middle).toBeVisible()
  const before = await middle.boundingBox()
  fresh = 2
  const news = page.getByRole('button', { name: '2 new sessions: go to the top' })
  await expect(news).toBeVisible({ timeout: 8_000 })
  expect(await middle.boundingBox()).toEqual(before)
  await news.click()
  await expect(page.getByRole('link', { name: 'Fresh 0' })).toBeVisible()
})

test('a list of 10,000 sessions scrolls to its end without reading all of it', async ({ page }) => {
  let reads = 0
  await page.route(LIST, (route) => {
    reads++
    return answerPage(route, MANY)
  })
  await page.goto('/console/sessions')
  await expect(page.getByText('10,000 sessions')).toBeVisible()
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  await expect(page.getByRole('link', { name: 'Request number 9999', exact: true })).toBeVisible()
  expect(await page.getByRole('region', { name: 'Sessions' }).getByRole('listitem').count()).toBeLessThan(80)
  expect(reads).toBeLessThan(30)
})
