import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DIST } from '../../../console/build/build.ts'
import { readConsoleFiles } from '../../../src/runtime/console-files.ts'
import { expect, test } from './fixtures.ts'
import { type Platform, startPlatform } from './sign-in/platform.ts'

let platform: Platform
let server: Server
let url: string

/** Starts a static host: the built folder at `/console/`, the page for every other address below it. */
test.beforeAll(async () => {
  const files = await readConsoleFiles(DIST)
  server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://host').pathname.replace('/console/', '')
    if (path === 'config.json') return void response.end(JSON.stringify({ api_url: `${platform.url}/api/v1/` }))
    const file = files?.get(path) ?? files?.get('index.html')
    response.setHeader('content-type', file?.content_type ?? 'text/plain').end(file?.identity)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  platform = await startPlatform('', [url])
})
test.afterAll(async () => {
  server.close()
  await platform?.close()
})

test('a console on another origin works with the API alone', async ({ page }) => {
  const apiAnswer = page.waitForResponse(`${platform.url}/api/v1/users/me`)
  await page.goto(`${url}/console/help`)
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible()
  expect((await apiAnswer).status()).toBe(200)
  await expect(page.getByRole('link', { name: 'Administration' })).toBeVisible()
})

test('its event streams may say where they go on, with a token', async ({ page }) => {
  await page.goto(`${url}/console/help`)
  const status = await page.evaluate(async (api) => {
    const headers = { accept: 'text/event-stream', 'last-event-id': '7', authorization: 'Bearer none' }
    const id = '00000000-0000-4000-8000-000000000000'
    return (await fetch(`${api}/api/v1/events/activity/${id}?round=1`, { headers })).status
  }, platform.url)
  expect(status).toBe(404)
})

test('an origin that is not named may not read', async ({ page, faults }) => {
  await page.goto(`${url.replace('127.0.0.1', 'localhost')}/console/help`)
  await expect(page.getByRole('heading', { name: 'The platform does not answer' })).toBeVisible()
  expect(faults.splice(0)).toEqual([expect.stringContaining('blocked by CORS policy')])
})
