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
