import type { APIRequestContext, Page } from '@playwright/test'
import type { Session } from '../../../console/client/api/client.ts'
import { FOLLOW_UPS } from '../../../dev/scripted-model/examples.ts'
import { changeSession, END, refuseSession, streamOf } from './answers.ts'
import { expect, expectAccessible, expectToFit, PHONE, test } from './fixtures.ts'
import { exampleBody, runExample, waitForEnd } from './world.ts'

const API = '/api/v1'

let finished: Session
test.beforeAll(async ({ request }) => {
  finished = await runExample(request, 'generate')
})

async function begin(request: APIRequestContext, data: object): Promise<string> {
  const answer = await request.post(`${API}/iac/generate`, { data })
  expect(answer.status()).toBe(202)
  return (await answer.json()).session_id
}

/** Makes a round seem to run: it has no end, and its streams give these events. */
async function pretendToRun(page: Page, activity: object[] = []): Promise<void> {
  await changeSession(page, ({ rounds: [round, ...others] }) => ({
    in_flight: true,
    current_status: 'generating',
    rounds: round ? [{ ...round, statuses: round.statuses.slice(0, 3), usage: null, attempts: [] }, ...others] : [],
  }))
  const status = { status_msg: 'GENERATING', detail: { message: 'The code is being written.' } }
  await page.route('**/events/subscribe/*', (route) => route.fulfill(streamOf([status])))
  await page.route('**/events/activity/**', (route) => route.fulfill(streamOf(activity)))
}

test('a round is followed live from its start to its end', async ({ page, request }) => {
  // The console is open before the round begins, because a recorded round takes two seconds.
  await page.goto(`/console/sessions/${finished.uuid}`)
  await page.getByRole('heading', { name: 'Review and report' }).waitFor()
  const id = await begin(request, await exampleBody(request, 'generate'))
  await page.evaluate((path) => {
    history.pushState({}, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
  }, `/console/sessions/${id}`)
  const main = page.getByRole('main')
  await expect(main.getByRole('button', { name: 'Stop', exact: true })).toBeVisible()
  await expect(main.getByRole('status').getByText('Live', { exact: true })).toBeVisible()
  await expect(main.getByRole('heading', { level: 2, name: 'Round 1' })).toBeVisible()
  await expect(main.getByRole('heading', { name: 'Attempt 1 of 5' })).toBeVisible()
  await expect(main.getByRole('heading', { name: 'Attempt 2 of 5' })).toBeVisible()
  await expect(main.getByText('Completed').first()).toBeVisible({ timeout: 90_000 })
  await expect(main.getByText('Refused', { exact: true })).toBeVisible()
  await expect(main.getByText('Accepted', { exact: true })).toBeVisible()
  await expectAccessible(page)
})

test('what is left of the budgets stands with the round and below the form', async ({ page }) => {
  const budgets = [
    { budget: 'round', unit: 'dollars', limit: 2, used: 0.35, left: 1.65 },
    { budget: 'user_day', unit: 'tokens', limit: 2_000_000, used: 1_250_400, left: 749_600 },
    { budget: 'platform_day', unit: 'dollars', limit: 40, used: 31.5, left: 8.5 },
  ]
  await pretendToRun(page, [{ id: 1, round: 1, at: finished.created_at, type: 'budget.left', budgets }])
  await page.goto(`/console/sessions/${finished.uuid}`)
  const main = page.getByRole('main')
  for (const text of [
    '$1.65 of $2.00 left for this round',
    '749,600 of 2,000,000 tokens left for you today (UTC)',
    '$8.50 of $40.00 left for all users today (UTC)',
  ])
    await expect(main.getByText(text, { exact: true })).toBeVisible()
  await expectAccessible(page)
  await page.route('**/users/me/usage', async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ json: { ...(await answer.json()), budgets: budgets.slice(1) } })
  })
  await page.goto('/console/')
  await expect(page.getByText('749,600 of 2,000,000 tokens left for you today (UTC)')).toBeVisible()
  await expectToFit(page)
})

test('a round that stopped for a state elsewhere is started again with the choice', async ({ page }) => {
  const state_question = { mode: 'generate' as const, is_partial: false, backend: 's3', serial: 7, resources: 12 }
  await changeSession(page, ({ rounds: [round] }) => {
    if (!round) return {}
    const statuses = [
      { status: 'uncompleted' as const, message: 'Its state lies elsewhere.', created_at: round.created_at },
    ]
    const choices = ['adopt' as const, 'keep' as const]
    const stopped = { ...round, statuses, reports: [], plans: [], state_question: { ...state_question, choices } }
    return { current_status: 'uncompleted', in_flight: false, history: [], rounds: [stopped] }
  })
  let sent: unknown
  await page.route('**/api/v1/iac/generate', async (route) => {
    sent = route.request().postDataJSON()
    await route.fulfill({ status: 202, json: { session_id: finished.uuid } })
  })
  await page.goto(`/console/sessions/${finished.uuid}`)
  const card = page.getByRole('region', { name: 'Where the state is kept' })
  await expect(card.getByRole('button', { name: "Keep the repository's backend" })).toBeVisible()
  await expectAccessible(page)
  await card.getByRole('button', { name: 'Adopt the state' }).click()
  await expect(card.getByText('No round was started')).toBeVisible()
  expect(sent).toMatchObject({ session_id: finished.uuid, q: finished.rounds[0]?.query, state: 'adopt' })
})

test('the finished conversation, as a reader of the screen hears it', async ({ page }) => {
  await page.goto(`/console/sessions/${finished.uuid}`)
  await expect(page.getByRole('heading', { name: 'Review and report' })).toBeVisible()
  await expect(page.getByRole('main')).toMatchAriaSnapshot(`
    - heading /Add a work queue for the orders service/ [level=1]
    - list:
      - listitem: 1 round
    - paragraph:
      - text: The plan is made and saved.
      - link "Review the plan"
    - navigation "Parts of the session":
      - link "Rounds"
    - list:
      - listitem:
        - group:
          - heading "Round 1" [level=2]
          - paragraph: /Added a work queue for the orders service/
          - text: written by a model, completed by code
          - link "Review"
          - link "Replay"
          - term: Tokens
          - definition: /[\\d,]+/
          - heading /Attempts/ [level=3]
          - list:
            - listitem:
              - heading "Before the first attempt" [level=4]
            - listitem:
              - heading "Attempt 1 of 5" [level=4]
              - text: /Refused \\d/
              - list "Steps":
                - listitem: /Write done/
                - listitem: /Prepare not needed or not reached/
                - listitem: /Validate failed/
                - listitem: /Plan not needed or not reached/
                - listitem: /Check not needed or not reached/
              - list "What was found":
                - listitem:
                  - paragraph: /orders-queue\\.tf:2/
            - listitem:
              - heading "Attempt 2 of 5" [level=4]
              - text: /Accepted \\d/
              - paragraph: /Began because. The engine does not accept/
          - heading /Line by line/ [level=3]
          - region "Events, line by line"
          - group:
            - heading "Engine output" [level=3]
    - form "Next request":
      - textbox "Next request"
      - group "Kind of round":
        - radio "Change writes code for the request, and plans it" [checked]
      - button "Send"
  `)
})

test('what the engine printed is read when it is asked for', async ({ page }) => {
  const reads: string[] = []
  page.on('request', (made) => /events\/output|\/outputs\//.test(made.url()) && reads.push(made.url()))
  await page.goto(`/console/sessions/${finished.uuid}`)
  await page.getByRole('heading', { name: 'Engine output' }).waitFor()
  expect(reads).toEqual([])
  await page.getByRole('heading', { name: 'Engine output' }).click()
  await page.getByText('Validate exit 1').click()
  await expect(page.getByRole('region', { name: 'Output of Validate' })).toContainText('undeclared local value')
})

test('a round whose attempts are all refused says why, and its session takes nothing more', async ({
  page,
  request,
}) => {
  const { uuid } = await runExample(request, 'exhausted')
  await page.goto(`/console/sessions/${uuid}`)
  await expect(page.getByText('The round failed')).toBeVisible()
  await expect(page.getByText(/All 3 attempts at the code were refused.*orders-mirror\.tf:4/)).toBeVisible()
  await expect(page.getByText('Refused', { exact: true })).toHaveCount(3)
  await expect(page.getByText('A local value with the name "region_b" has not been declared.')).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Next request' })).toHaveCount(0)
  await expect(page.getByRole('link', { name: 'Open a new session' })).toBeVisible()
  await expectAccessible(page)
})

test('asking further makes a second round, and stopping it ends it', async ({ page, request }) => {
  const { uuid } = await runExample(request, 'generate')
  await page.goto(`/console/sessions/${uuid}?round=1`)
  await page.getByRole('textbox', { name: 'Next request' }).fill(FOLLOW_UPS[0] as string)
  await page.getByRole('textbox', { name: 'Next request' }).press('Control+Enter')
  await expect(page.getByRole('heading', { level: 2, name: 'Round 2' })).toBeVisible()
  await expect(page).not.toHaveURL(/round=/)
  await expect(page.getByRole('textbox', { name: 'Next request' })).toHaveValue('')
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await expect(page.getByRole('dialog')).toContainText('saved plan stay as they were')
  await page.getByRole('button', { name: 'Stop the round' }).click()
  await expect(page.getByText(/Cancelled by/).first()).toBeVisible({ timeout: 90_000 })
  const ended = await waitForEnd(request, uuid)
  expect(ended.rounds[1]?.statuses.at(-1)?.status).toBe('uncompleted')
  // The session goes on, and each round opens by its address.
  await page.goto(`/console/sessions/${uuid}?round=1`)
  await expect(page.getByText('Added a work queue for the orders service', { exact: false })).toBeVisible()
  await expect(page.getByText(/Cancelled by/)).toBeHidden()
})

test('a stop that comes too late says so', async ({ page }) => {
  await pretendToRun(page)
  const reason = 'The round seals its plan and ends now; it cannot be cancelled any more.'
  await page.route('**/iac/cancel', (route) => route.fulfill({ status: 409, json: { detail: reason } }))
  await page.goto(`/console/sessions/${finished.uuid}`)
  await expect(page.getByText('The code is being written.')).toBeVisible()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByRole('button', { name: 'Stop the round' }).click()
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText(reason)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('dialog')).toBeHidden()
  // While a round runs, the user can write and sees why nothing can be sent.
  await page.getByRole('textbox', { name: 'Next request' }).fill('Something more')
  await expect(page.getByText('A round is running. You can write the next request now')).toBeVisible()
})

test('what the platform refuses stands at its field, and what was typed survives a reload', async ({ page }) => {
  await page.goto(`/console/sessions/${finished.uuid}`)
  const field = page.getByRole('textbox', { name: 'Next request' })
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await expect(field).toHaveAttribute('aria-invalid', 'true')
  await expect(page.getByRole('alert')).toBeVisible()
  await page.getByRole('radio', { name: /Drift/ }).check()
  await page.getByRole('checkbox', { name: /Preview only/ }).check()
  await field.fill('مرحبا 🚀 what differs?')
  await page.route('**/iac/drift', (route) => route.abort())
  await page.getByRole('button', { name: 'Preview' }).click()
  await expect(page.getByText('The request was not sent')).toBeVisible()
  await page.reload()
  await expect(field).toHaveValue('مرحبا 🚀 what differs?')
  await expect(page.getByRole('checkbox', { name: /Preview only/ })).toBeChecked()
})

test('a stream that dies goes on behind the last event', async ({ page, request }) => {
  const path = `${API}/events/activity/${finished.uuid}?round=1`
  const all = (await (await request.get(path)).text()).split('\n\n')
  const asked: (string | undefined)[] = []
  await page.route('**/events/activity/**', async (route) => {
    asked.push(route.request().headers()['last-event-id'])
    if (asked.length === 1) return route.fulfill(streamOf([], `${all.slice(0, 9).join('\n\n')}\n\n`))
    return route.continue()
  })
  await page.goto(`/console/sessions/${finished.uuid}`)
  await expect(page.getByRole('heading', { name: 'Review and report' })).toBeVisible()
  const last = /^id: (\d+)/m.exec(all[8] as string)?.[1]
  expect(last).toBeDefined()
  expect(asked).toEqual([undefined, last])
  await expect(page.getByText('checks the request', { exact: true })).toHaveCount(1)
})

test('a session of somebody else is read, and nothing can be asked in it', async ({ page }) => {
  await refuseSession(page)
  await page.goto(`/console/sessions/${finished.uuid}`)
  await expect(page.getByText('This session belongs to somebody else')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Attempt 2 of 5' })).toBeVisible()
  await expect(page.getByRole('textbox')).toHaveCount(0)
  await page.route('**/api/v1/admin/sessions?*', (route) => route.fulfill({ status: 404, json: { detail: 'None.' } }))
  await page.reload()
  await expect(page.getByText('This session does not exist')).toBeVisible()
})

test('hostile text is shown as text, on a phone too', async ({ page }) => {
  const evil = '<img src=x onerror="document.title=1"><script>document.title=1</script>\u001b[31m\u202e'
  const query = `${evil} ${'x'.repeat(1_000_000)}`
  const finding = { summary: evil, file: evil, snippet: 'y'.repeat(1_000_000) }
  await changeSession(page, ({ rounds }) => ({
    rounds: rounds.map((round) => ({
      ...round,
      query,
      attempts: round.attempts.map((attempt) => ({
        ...attempt,
        diagnostics: attempt.diagnostics.map((found) => ({ ...found, ...finding })),
      })),
    })),
    history: [{ user: query, assistant: evil }],
  }))
  const written = { type: 'file.written', path: evil, lines_added: 1, lines_removed: 0 }
  await page.route('**/events/activity/**', (route) => route.fulfill(streamOf([written], END)))
  await page.setViewportSize(PHONE)
  await page.goto(`/console/sessions/${finished.uuid}`)
  await expect(page.getByText('<script>document.title=1</script>␛[31m⟨U+202E⟩').first()).toBeVisible()
  await expect(page.getByRole('button', { name: /Show all 1,000,0\d\d characters/ })).toBeVisible()
  expect(await page.locator('main img').count()).toBe(0)
  expect(await page.title()).not.toBe('1')
  await expectToFit(page)
})

test('5,000 events and 20,000 lines of output stay smooth', async ({ page }) => {
  const called = { type: 'tool.called', chain: 'IAC_GENERATOR', tool: 'read_file', outcome: 'ok', seconds: 0 }
  const printed = { type: 'lines', step: 'plan', job_id: 'j', stream: 'stdout' }
  const events = Array.from({ length: 5_000 }, (_, index) => ({ ...called, path: `file-${index}.tf` }))
  const lines = Array.from({ length: 20_000 }, (_, index) => ({ ...printed, text: `line number ${index}\n` }))
  await pretendToRun(page, events)
  await page.route('**/events/output/**', (route) => route.fulfill(streamOf(lines)))
  await page.goto(`/console/sessions/${finished.uuid}`)
  await expect(page.getByText('file-4999.tf')).toBeVisible()
  await expect(page.getByText('file-0.tf')).toHaveCount(0)
  await page.getByRole('heading', { name: 'Engine output' }).click()
  const output = page.getByRole('region', { name: 'Engine output' })
  await expect(output).toContainText('line number 19999')
  expect(await output.locator('*').count()).toBeLessThan(300)
  // The user scrolls to the beginning, stays there, and returns with the button.
  await output.evaluate((box) => box.scrollTo({ top: 0 }))
  await output.scrollIntoViewIfNeeded()
  await page.getByRole('button', { name: 'Jump to the end' }).click()
  await expect
    .poll(() => output.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight))
    .toBeLessThan(40)
})

test('who may not stop a round or ask for drift is told so', async ({ page }) => {
  const roles = { operation_role: 'developer', panel_role: 'viewer' }
  await page.route('**/users/me', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), ...roles } })
  })
  await page.goto(`/console/sessions/${finished.uuid}`)
  await page.getByRole('radio', { name: /Drift/ }).check()
  await expect(page.getByText('Drift needs the operation role devops')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeDisabled()
  await pretendToRun(page)
  const rounds = finished.rounds.map((round) => ({ ...round, statuses: round.statuses.slice(0, 3) }))
  const running = { ...finished, in_flight: true, rounds }
  await page.route('**/api/v1/admin/sessions?*', (route) => route.fulfill({ json: running }))
  await refuseSession(page)
  await page.reload()
  await expect(page.getByText('Its owner or a panel editor can stop it.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toHaveCount(0)
})

test('two people see the same round: one asks, the other watches it begin and end without touching anything', async ({
  browser,
  request,
}) => {
  const { uuid: session_id } = await runExample(request, 'question')
  const [asking, watching] = [await browser.newPage(), await browser.newPage()]
  for (const page of [asking, watching]) {
    await page.goto(`/console/sessions/${session_id}`)
    await expect(page.getByText('Ended early').first()).toBeVisible()
  }
  await begin(request, { session_id, q: 'How many queues are there?' })
  for (const page of [asking, watching])
    await expect(page.getByText(/Round 2/).first()).toBeVisible({ timeout: 90_000 })
  await waitForEnd(request, session_id)
  for (const page of [asking, watching]) await page.close()
})
