import { expect, test } from './fixtures.ts'

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

test('every screen of the navigation opens by its address', async ({ page }) => {
  for (const path of ['', 'sessions', 'locked', 'admin', 'admin/users', 'admin/audit', 'help', 'settings']) {
    await page.goto(`/console/${path}`)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  }
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
