import { expect, test } from './fixtures.ts'
import { findOrRunExample } from './world.ts'

test('leads a browser from / to the console, and everybody else to the API answers as they were', async ({
  page,
  request,
}) => {
  await page.goto('/')
  await expect(page).toHaveURL(/\/console\/$/)
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible()
  const other = await request.get('/', { headers: { accept: '*/*' }, maxRedirects: 0 })
  expect(other.status()).toBe(404)
  expect(await other.json()).toEqual({ detail: 'Not Found' })
})

test('moves nothing for whoever asked their system for little motion', async ({ page }) => {
  const motion = () =>
    page.evaluate(() => {
      const spinner = document.createElement('span')
      spinner.className = 'spinner'
      document.body.append(spinner)
      const { animationDuration, animationIterationCount } = getComputedStyle(spinner)
      spinner.remove()
      return { seconds: Number.parseFloat(animationDuration), count: animationIterationCount }
    })
  await page.goto('/console/')
  expect(await motion()).toEqual({ seconds: 0.8, count: 'infinite' })
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const still = await motion()
  expect(still.count).toBe('1')
  expect(still.seconds).toBeLessThan(0.001)
})

test('says that the network is gone, keeps what was typed, and comes back by itself', async ({ page, context }) => {
  await page.goto('/console/')
  const sentence = page.getByRole('textbox', { name: 'Your request' })
  await sentence.fill('Add a bucket for build logs.')
  await context.setOffline(true)
  await expect(page.getByText(/No connection to the platform/)).toBeVisible()
  await expect(sentence).toHaveValue('Add a bucket for build logs.')
  await context.setOffline(false)
  await expect(page.getByText(/No connection to the platform/)).toBeHidden({ timeout: 20_000 })
  await expect(sentence).toHaveValue('Add a bucket for build logs.')
})

test('tells ages by the clock of the platform when that of the machine is a day behind', async ({ page, request }) => {
  const id = await findOrRunExample(request, 'generate')
  await page.addInitScript(() => {
    const real = Date.now
    Date.now = () => real() - 86_400_000
  })
  await page.goto('/console/sessions')
  const row = page.locator(`a[href*="${id}"]`).first()
  await expect(row).toBeVisible()
  await expect(page.getByText(/in \d+ (sec|min|hr|day)/)).toHaveCount(0)
})

test('a part that cannot be loaded any more offers to load the page again', async ({ page }) => {
  await page.goto('/console/')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await page.route('**/console/assets/settings-*', (route) => route.abort())
  await page.getByRole('link', { name: 'Settings' }).click()
  await expect(page.getByRole('button', { name: 'Load the page again' })).toBeVisible()
  await page.unroute('**/console/assets/settings-*')
  await page.getByRole('button', { name: 'Load the page again' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible()
})

test('a platform that does not answer at all is told, and asked again until it does', async ({ page }) => {
  let down = true
  await page.route('**/console/config.json', (route) => (down ? route.abort() : route.continue()))
  await page.goto('/console/')
  await expect(page.getByRole('heading', { name: 'The platform does not answer' })).toBeVisible()
  down = false
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible({ timeout: 15_000 })
})
