import type { Page, Request } from '@playwright/test'
import { answerPage, signInAs } from './answers.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { exampleBody, readSession } from './world.ts'

const API = '**/api/v1'
const SENTENCE = 'Add a private bucket 🪣 — ثم أرسل السجلات إليه'
const AWAY = { status: 502, json: { detail: 'The mapping service did not answer.' } }

const sentence = (page: Page) => page.getByRole('textbox', { name: 'Your request' })
const repository = (page: Page) => page.getByRole('combobox', { name: 'Repository' })
const root = (page: Page) => page.getByRole('combobox', { name: /^Engine root/ })
const scope = (page: Page) => page.getByRole('textbox', { name: 'Scope' })
const cloud = (page: Page) => page.getByRole('combobox', { name: 'Cloud' })
const send = (page: Page) => page.getByRole('button', { name: 'Send request' })

/** Fills in a place in the embedded stack, with a sentence of the test. */
async function fill(page: Page, q = SENTENCE) {
  const { repo_uri, scope_id } = await exampleBody(page.request, 'generate')
  await page.goto('/console/')
  await sentence(page).fill(q)
  await repository(page).fill(repo_uri)
  await cloud(page).selectOption('aws')
  await scope(page).fill(scope_id)
  await expect(page.getByText('You have permission to work here.')).toBeVisible()
}

/** Refuses the calls that would open a session, and records them. */
async function refuse(page: Page, answer: { status: number; json?: unknown }, wait = 0) {
  const sent: Request[] = []
  await page.route(`${API}/iac/*`, async (route) => {
    sent.push(route.request())
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    await route.fulfill(answer)
  })
  return sent
}

test('opens a session from a sentence by the keyboard alone, whatever script it is in', async ({ page, request }) => {
  await fill(page)
  await page.reload()
  await expect(sentence(page)).toBeFocused()
  await expect(sentence(page)).toHaveValue(SENTENCE)
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await expect(sentence(page)).toHaveValue(/\n/)
  await page.keyboard.press('Tab')
  await expect(repository(page)).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/sessions\/[0-9a-f-]{36}$/)
  const { first_query, rounds } = await readSession(request, page.url().slice(-36))
  expect(first_query).toContain(SENTENCE)
  expect(rounds).toHaveLength(1)
  await page.goto('/console/')
  await expect(sentence(page)).toHaveValue('')
})

test('Control and Enter send from the sentence, once', async ({ page }) => {
  const sent = await refuse(page, { status: 502, json: { detail: 'Later.' } }, 3_000)
  await fill(page)
  await sentence(page).focus()
  await page.keyboard.press('Control+Enter')
  await page.keyboard.press('Control+Enter')
  // A person can click before a program would.
  await page.getByRole('button', { name: 'Sending' }).click({ force: true })
  await expect(page.getByRole('alert')).toContainText('Later.')
  expect(sent).toHaveLength(1)
  expect(sent[0]?.postDataJSON()).toMatchObject({ q: SENTENCE, engine_providers: 'aws' })
  expect(sent[0]?.postDataJSON()).not.toHaveProperty('iac_path')
})

test('every example fills in the whole form, and the text that it replaced comes back', async ({ page }) => {
  await page.goto('/console/')
  await sentence(page).fill('My own words')
  const { examples } = await (await page.request.get('/console/config.json')).json()
  for (const example of examples) {
    await page.getByRole('button', { name: 'Examples' }).click()
    await page.getByRole('region', { name: 'Examples' }).getByRole('button', { name: example.text }).click()
    await expect(sentence(page)).toHaveValue(example.text)
    await expect(repository(page)).toHaveValue(example.repo_uri)
    await expect(scope(page)).toHaveValue(example.scope_id)
  }
  await expect(page.getByRole('radio', { name: 'Import everything' })).toBeChecked()
  await page.getByRole('button', { name: 'Restore my text' }).click()
  await expect(sentence(page)).toHaveValue('My own words')
})

test('knows the place: recent repositories, engine roots, cloud and scope; what was typed wins', async ({ page }) => {
  const { repo_uri } = await exampleBody(page.request, 'blocked')
  const place = { repo_url: repo_uri, identifier: repo_uri, engine_provider: 'gcp', scope_id: 'acme-production' }
  await page.route(`${API}/mapping/resolve`, (route) => route.fulfill({ json: place }))
  await page.goto('/console/')
  await expect(repository(page)).not.toHaveValue('')
  await scope(page).fill('mine')
  await repository(page).fill(repo_uri)
  await expect(cloud(page)).toHaveValue('gcp')
  await expect(scope(page)).toHaveValue('mine')
  await page.getByRole('button', { name: 'ingest/batch' }).click()
  await expect(root(page)).toHaveValue('ingest/batch')
  await expect(page.getByText('ingest/batch is an engine root')).toBeVisible()
  await page.getByRole('button', { name: 'Use acme-production' }).click()
  await expect(scope(page)).toHaveValue('acme-production')
  await root(page).fill('nowhere')
  await expect(page.getByText('nowhere does not look like an engine root')).toBeVisible()
})

test('names examples, and code that the platform does not run', async ({ page }) => {
  const root_modules = [
    { path: 'live', kind: 'root' },
    { path: 'examples/full', kind: 'example' },
  ]
  const providers = [{ source: 'linode/linode', cloud: null }]
  const json = { roots: ['live'], root_modules, unread_files: 2, providers, tools: ['terragrunt', 'pulumi'] }
  await page.route(`${API}/repository/parse`, (route) => route.fulfill({ json }))
  const { repo_uri } = await exampleBody(page.request, 'generate')
  await page.goto('/console/')
  await repository(page).fill(`${repo_uri}?other`)
  await expect(root(page)).toHaveValue('live')
  await expect(page.getByText('live is an engine root')).toBeVisible()
  await expect(page.getByText('code for Terragrunt and Pulumi, which the platform does not run')).toBeVisible()
  await expect(page.getByText('The code uses linode/linode.')).toBeVisible()
  await expect(page.getByText('2 files could not be read')).toBeVisible()
  await page.getByRole('button', { name: 'examples/full' }).click()
  await expect(page.getByText('examples/full is an example')).toBeVisible()
  await expectAccessible(page)
})

test('services that do not answer are told and block nothing', async ({ page }) => {
  for (const path of ['mapping/resolve', 'auth/authorize', 'repository/parse'])
    await page.route(`${API}/${path}`, (route) => route.fulfill(AWAY))
  const sent = await refuse(page, { status: 502, json: { detail: 'Reached.' } })
  const { repo_uri } = await exampleBody(page.request, 'generate')
  await page.goto('/console/')
  await sentence(page).fill('x')
  await repository(page).fill(`${repo_uri}?other`)
  await expect(page.getByText('mapping service does not answer')).toBeVisible()
  await cloud(page).selectOption('aws')
  await scope(page).fill('1')
  await expect(page.getByText('the service for it does not answer')).toBeVisible()
  await expect(page.getByText('You can send the request all the same, with the engine root')).toBeVisible()
  await expectAccessible(page)
  await page.unroute(`${API}/auth/authorize`)
  await page.getByRole('listitem').filter({ hasText: 'Your permission' }).getByRole('button', { name: 'Retry' }).click()
  await expect(page.getByText('You have permission to work here.')).toBeVisible()
  await send(page).click()
  await expect(page.getByRole('alert')).toContainText('Reached.')
  expect(sent).toHaveLength(1)
})

test('a refusal of the authorization is shown before anything is sent', async ({ page }) => {
  const message = 'Ask the group <b>infrastructure</b>.'
  await page.route(`${API}/auth/authorize`, (route) =>
    route.fulfill({ json: { result: false, message, portalUrl: 'javascript:alert(1)' } }),
  )
  const sent = await refuse(page, { status: 202, json: {} })
  const { repo_uri } = await exampleBody(page.request, 'generate')
  await page.goto('/console/')
  await sentence(page).fill(SENTENCE)
  await repository(page).fill(repo_uri)
  await cloud(page).selectOption('aws')
  await expect(page.getByRole('alert')).toContainText(message)
  await expect(page.getByRole('link', { name: /Open the cloud console/ })).toHaveCount(0)
  await send(page).click()
  await expect(page.locator('#start-refused')).toBeFocused()
  expect(sent).toHaveLength(0)
  await expect(sentence(page)).toHaveValue(SENTENCE)
  await expectAccessible(page)
  await page.unroute(`${API}/auth/authorize`)
  await page.getByRole('button', { name: 'Retry' }).click()
  await expect(page.getByText('You have permission to work here.')).toBeVisible()
})

test('every problem is told at its field', async ({ page }) => {
  const problem = (field: string, msg: string) => ({ type: 'value_error', loc: ['body', field], msg })
  const detail = [
    problem('q', 'Value error, the text must not contain NUL characters.'),
    problem('repo_uri', 'Value error, repo_uri must be an https:// URL.'),
    problem('engine_providers', 'Input should be another cloud'),
    problem('scope_id', 'String should have at most 1016 characters'),
    problem('iac_path', 'Value error, iac_path must be relative'),
  ]
  await refuse(page, { status: 422, json: { detail } })
  await fill(page)
  await send(page).click()
  await expect(sentence(page)).toBeFocused()
  await expect(sentence(page)).toHaveAccessibleDescription(/The text must not contain NUL characters\./)
  await expect(repository(page)).toHaveAccessibleDescription(/Repo_uri must be an https:/)
  await expect(cloud(page)).toHaveAccessibleDescription(/another cloud/)
  await expect(scope(page)).toHaveAccessibleDescription(/at most 1016/)
  await expect(root(page)).toHaveAccessibleDescription(/must be relative/)
  await expectAccessible(page)
  await sentence(page).fill('Another')
  await expect(sentence(page)).not.toHaveAccessibleDescription(/NUL/)
  await expect(scope(page)).toHaveAccessibleDescription(/at most 1016/)
})

test('asks nothing of the platform while fields are empty, and never with a password', async ({ page }) => {
  const sent = await refuse(page, { status: 202, json: {} })
  await page.route(`${API}/sessions/list*`, (route) => answerPage(route, 0))
  const asked: string[] = []
  page.on('request', (request) => request.postData() && asked.push(String(request.postData())))
  await page.goto('/console/')
  await expect(page.getByText('The platform starts a')).toBeVisible()
  await expectAccessible(page)
  await send(page).click()
  await expect(sentence(page)).toHaveAccessibleDescription(/Describe the change/)
  await expect(cloud(page)).toHaveAccessibleDescription(/Choose the cloud/)
  await repository(page).fill('https://me:hunter2@github.com/acme/infrastructure.git')
  await expect(repository(page)).toHaveAccessibleDescription(/Leave out the password/)
  await sentence(page).fill('x')
  await cloud(page).selectOption('aws')
  await scope(page).fill('1')
  await send(page).click()
  await expect(repository(page)).toBeFocused()
  await page.reload()
  await expect(sentence(page)).toHaveValue('x')
  await expect(repository(page)).toHaveValue('')
  expect(sent).toHaveLength(0)
  expect(asked.join()).not.toContain('hunter2')
})

test('signed out in the middle of typing loses nothing', async ({ page }) => {
  await refuse(page, { status: 401, json: { detail: 'Token validation failed: expired' } })
  await fill(page)
  await page.getByRole('radio', { name: 'Remediate what I name' }).check()
  await send(page).click()
  await expect(page.getByRole('alert')).toContainText('You are signed out')
  await expectAccessible(page)
  await page.reload()
  await expect(sentence(page)).toHaveValue(SENTENCE)
  await expect(scope(page)).toHaveValue('123456789012')
  await expect(page.getByRole('radio', { name: 'Remediate what I name' })).toBeChecked()
})

test('an answer that never came may have been taken, and the page says so', async ({ page }) => {
  await fill(page)
  await page.route(`${API}/iac/generate`, (route) => route.abort())
  await send(page).click()
  await expect(page.getByRole('alert')).toContainText('may have arrived')
  await expect(page.getByRole('link', { name: 'Check your sessions' })).toBeVisible()
  await expect(sentence(page)).toHaveValue(SENTENCE)
})

test('drift says which role it needs', async ({ page }) => {
  await signInAs(page, null)
  await page.goto('/console/')
  const drift = page.getByRole('group', { name: 'drift' })
  await expect(drift).toContainText('Needs the operation role devops; yours is developer.')
  await expect(drift.getByRole('radio', { name: 'Remediate everything' })).toBeDisabled()
  await expect(page.getByRole('radio', { name: 'Import everything' })).toBeEnabled()
  await page.getByRole('button', { name: 'Examples' }).click()
  await expect(page.getByRole('button', { name: /^Bring the flow logs/ })).toBeDisabled()
  await expectAccessible(page)
})
