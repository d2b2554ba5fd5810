import { expect, test } from './fixtures.ts'
import { exampleBody, waitForEnd } from './world.ts'

test('two people see the same round: one asks, the other watches it begin and end without touching anything', async ({
  browser,
  request,
}) => {
  const first = await request.post('/api/v1/iac/generate', { data: await exampleBody(request, 'question') })
  const { session_id } = await first.json()
  await waitForEnd(request, session_id)
  const [asking, watching] = [await browser.newPage(), await browser.newPage()]
  for (const page of [asking, watching]) {
    await page.goto(`/console/sessions/${session_id}`)
    await expect(page.getByText('Ended early').first()).toBeVisible()
  }
  await request.post('/api/v1/iac/generate', { data: { session_id, q: 'How many queues are there?' } })
  for (const page of [asking, watching])
    await expect(page.getByText(/Round 2/).first()).toBeVisible({ timeout: 90_000 })
  await waitForEnd(request, session_id)
  for (const page of [asking, watching]) await page.close()
})
