import type { APIRequestContext, Page } from '@playwright/test'
import { EXAMPLES, type ExampleName } from '../../../dev/scripted-model/examples.ts'
import { expect, test } from './fixtures.ts'
import { exampleBody, readSession, resetSample, waitForEnd } from './world.ts'

// The samples have one state each, so these rounds run one after the other.
test.describe.configure({ mode: 'serial', timeout: 240_000 })

/** Fills in the form of the first screen, sends it, and returns the id of the session that opens. */
async function ask(page: Page, request: APIRequestContext, name: ExampleName, card?: string): Promise<string> {
  const body = await exampleBody(request, name)
  await page.goto('/console/')
  await page.getByRole('textbox', { name: 'Your request' }).fill(body.q)
  await page.getByRole('combobox', { name: 'Repository' }).fill(body.repo_uri)
  await page.getByRole('combobox', { name: 'Cloud' }).selectOption(body.engine_providers)
  await page.getByRole('textbox', { name: 'Scope' }).fill(body.scope_id)
  if (body.iac_path !== undefined) await page.getByRole('combobox', { name: 'Engine root' }).fill(body.iac_path)
  const { route } = EXAMPLES[name]
  if (card) await page.getByRole('group', { name: route }).getByRole('radio', { name: card }).check()
  await page.getByRole('button', { name: 'Send request' }).click()
  await expect(page).toHaveURL(/\/console\/sessions\/[0-9a-f-]{36}/)
  return /sessions\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? ''
}

async function expectEnd(page: Page, request: APIRequestContext, id: string, status: string): Promise<void> {
  await waitForEnd(request, id)
  await expect(page.locator('header').getByText(status).first()).toBeVisible({ timeout: 90_000 })
}

const open = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Parts of the session' }).getByRole('link', { name }).click()

test('generate: from a sentence to a reviewed plan, a saved plan and an open pull request', async ({
  page,
  request,
}) => {
  const id = await ask(page, request, 'generate')
  await expectEnd(page, request, id, 'Completed')
  await open(page, 'Review')
  await expect(page.getByText('create').first()).toBeVisible()
  await open(page, 'Saved plan')
  await expect(page.getByRole('button', { name: /Verify/ })).toBeVisible()
  await open(page, 'Pull request')
  await page.getByRole('button', { name: /Open (a|the) pull request/i }).click()
  await expect(page.getByRole('link', { name: /#\d+|pull request \d+/i }).first()).toBeVisible({ timeout: 90_000 })
  const { rounds } = await readSession(request, id)
  expect(rounds.flatMap(({ pull_requests }) => pull_requests)).toHaveLength(1)
})

test('apply: exactly the reviewed plan', async ({ page, request }) => {
  await resetSample(request, 'apply')
  const id = await ask(page, request, 'apply')
  await expectEnd(page, request, id, 'Completed')
  await open(page, 'Saved plan')
  await page
    .getByRole('button', { name: /^Apply/ })
    .first()
    .click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Apply/ })
    .click()
  await expect(page.getByText('The saved plan was applied')).toBeVisible({ timeout: 90_000 })
  const session = await waitForEnd(request, id)
  expect(session.seal?.reason).toBe('used')
})

for (const [name, card, heading] of [
  ['partial-drift', 'Remediate what I name', 'Drift'],
  ['full-drift', 'Remediate everything', 'Drift'],
  ['drift-preview', 'Preview', 'Drift'],
  ['partial-import', 'Import what I name', 'Import'],
  ['full-import', 'Import everything', 'Import'],
  ['import-preview', 'Preview', 'Import'],
] as const)
  test(`${name}: from the form to what was found`, async ({ page, request }) => {
    await resetSample(request, name)
    const id = await ask(page, request, name, card)
    await expectEnd(page, request, id, 'Completed')
    await open(page, heading)
    await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible()
  })

test('a question is answered, and a request that the guidelines forbid is declined', async ({ page, request }) => {
  for (const name of ['question', 'declined'] as const) {
    const id = await ask(page, request, name)
    await expectEnd(page, request, id, 'Ended early')
    const { history } = await readSession(request, id)
    const said = history?.at(-1)?.assistant ?? ''
    expect(said).not.toBe('')
    await expect(page.getByText(said.slice(0, 40)).first()).toBeVisible()
  }
})

test('a plan that destroys data locks the session: its screens say so and why', async ({ page, request }) => {
  await resetSample(request, 'blocked')
  const id = await ask(page, request, 'blocked')
  await expectEnd(page, request, id, 'Locked')
  await open(page, 'Saved plan')
  await expect(page.getByText(/locked/i).first()).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('code that the engine keeps refusing ends the round, and says what was refused', async ({ page, request }) => {
  const id = await ask(page, request, 'exhausted')
  await expectEnd(page, request, id, 'Failed')
  const { rounds } = await readSession(request, id)
  const summary = rounds[0]?.attempts.at(-1)?.diagnostics[0]?.summary ?? ''
  expect(summary).not.toBe('')
  await expect(page.getByText(summary).first()).toBeVisible()
})
