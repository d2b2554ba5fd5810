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

const CASES: [name: ExampleName, card: string | undefined, end: string, part: string, shown: string | RegExp][] = [
  ['generate', undefined, 'Completed', 'Review', 'create'],
  ['partial-drift', 'Remediate what I name', 'Completed', 'Drift', 'Remediated'],
  ['full-drift', 'Remediate everything', 'Completed', 'Drift', 'Remediated'],
  ['drift-preview', 'Preview', 'Completed', 'Drift', 'Differs'],
  ['partial-import', 'Import what I name', 'Completed', 'Import', 'Proof: the last plan is empty'],
  ['full-import', 'Import everything', 'Completed', 'Import', 'Proof: the last plan is empty'],
  ['import-preview', 'Preview', 'Completed', 'Import', 'Unmanaged'],
  ['blocked', undefined, 'Locked', 'Saved plan', /locked/i],
  ['exhausted', undefined, 'Failed', 'Rounds', 'A local value with the name "region_b" has not been declared.'],
]
for (const [name, card, end, part, shown] of CASES)
  test(`${name}: from the form to its end, and what was found`, async ({ page, request }) => {
    await resetSample(request, name)
    const id = await ask(page, request, name, card)
    await expectEnd(page, request, id, end)
    await page.getByRole('navigation', { name: 'Parts of the session' }).getByRole('link', { name: part }).click()
    await expect(page.getByRole('main').getByText(shown).first()).toBeVisible()
    await expect(page.getByRole('dialog')).toHaveCount(0)
  })

for (const name of ['question', 'declined'] as const)
  test(`${name}: the round ends early, with an answer`, async ({ page, request }) => {
    const id = await ask(page, request, name)
    await expectEnd(page, request, id, 'Ended early')
    const said = (await readSession(request, id)).history?.at(-1)?.assistant ?? ''
    expect(said).not.toBe('')
    await expect(page.getByText(said.slice(0, 40)).first()).toBeVisible()
  })
