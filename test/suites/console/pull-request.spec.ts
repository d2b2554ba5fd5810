import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import type { Session } from '../../../console/client/api/client.ts'
import { EXAMPLES } from '../../../dev/scripted-model/examples.ts'
import { changeSession } from './answers.ts'
import { expect, expectAccessible, test } from './fixtures.ts'
import { readSession, runExample } from './world.ts'

test.describe.configure({ mode: 'serial' })

let made = ''

/** Reads or changes the default branch of the sample repository, where merges would remain for later tests. */
function mainBranch(...change: string[]): string {
  const folder = process.env.CONSOLE_DATA
  if (!folder) throw new Error('CONSOLE_DATA has to name the data folder of the stack')
  const repository = join(folder, 'git-host/repositories/samples', `${EXAMPLES.generate.sample}.git`)
  const [command, ...rest] = change.length > 0 ? ['update-ref', 'refs/heads/main', ...change] : ['rev-parse', 'main']
  return execFileSync('git', ['-C', repository, command as string, ...rest], { encoding: 'utf8' }).trim()
}

const open = (page: Page, id: string) => page.goto(`/console/sessions/${id}/pull-request`)

const openButton = (page: Page) => page.getByRole('button', { name: 'Open a pull request' })
async function merge(page: Page) {
  await page.getByRole('button', { name: 'Merge…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Merge', exact: true }).click()
}

test('opens a pull request, saying what it waits for and who says what', async ({ page, request }) => {
  made = (await runExample(request, 'generate')).uuid
  await page.route('**/api/v1/repository/pr', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await route.continue()
  })
  await open(page, made)
  await expect(page.getByRole('listitem').filter({ hasText: 'Title and summary' })).toContainText('written by a model')
  await openButton(page).click()
  await expect(page.getByText(/takes up to 50 seconds/)).toBeVisible()
  const link = page.getByRole('link', { name: /^Pull request \d+ at GitHub$/ })
  await expect(link).toHaveAttribute('href', /^https:/)
  await expect(link).toHaveAttribute('rel', 'noreferrer')
  expect((await readSession(request, made)).rounds.flatMap(({ pull_requests }) => pull_requests)).toHaveLength(1)
  await expectAccessible(page)
})

test('says why one was not opened, and that it may be there all the same', async ({ page }) => {
  await page.route('**/api/v1/repository/pr', (route) =>
    route.fulfill({ status: 504, json: { detail: 'PR creation timeout' } }),
  )
  await open(page, made)
  await openButton(page).click()
  await expect(page.getByText('PR creation timeout')).toBeVisible()
  await expect(page.getByText(/may have been opened all the same/)).toBeVisible()
})

for (const [status, detail, advice] of [
  [409, 'A round of session x is running; PR merge is not allowed until it has completed.', /Nothing was merged/],
  [409, 'Pull Request 1 holds code that was not reviewed: its branch is not at commit 1.', /further round/],
  [404, 'There are no pull requests to merge: Pull Request 1 is merged.', /Nothing is left to do/],
  [504, 'Complete PR timeout', /may have been merged all the same/],
] as const)
  test(`shows why it was not merged: ${detail}`, async ({ page }) => {
    await page.route('**/api/v1/repository/pr/merge', (route) => route.fulfill({ status, json: { detail } }))
    await open(page, made)
    await merge(page)
    await expect(page.getByRole('alert').filter({ hasText: detail })).toContainText(advice)
  })

const READ = { provider: 'GITHUB', url: 'https://git.example/pull/1', number: 1, read_at: '2026-02-01T09:30:00.000Z' }
/** Makes the page believe that the git host says this about the merge. */
const answerReadiness = (page: Page, readiness: object) =>
  page.route('**/api/v1/repository/pr/readiness?*', (route) => route.fulfill({ json: { ...READ, ...readiness } }))
const blocker = (code: string, text: string) => ({ code, text, checks: [] })

test('shows what the git host misses before the merge, and asks again', async ({ page }) => {
  await answerReadiness(page, {
    status: 'blocked',
    method: 'squash',
    blockers: [
      blocker('checks', 'Required checks have not passed: plan (failure).'),
      blocker('reviews', 'It needs 2 approving reviews and has <b>1</b>.'),
    ],
    unknown: ['The git host did not say whether the commits are signed.'],
  })
  await open(page, made)
  await expect(page.getByText('The git host would probably refuse the merge now')).toBeVisible()
  const missing = page.getByRole('list', { name: 'What stands in the way' }).getByRole('listitem')
  await expect(missing).toHaveText([/plan \(failure\)/, /has <b>1<\/b>\./])
  await expect(page.getByRole('list', { name: 'What the git host did not say' })).toContainText('signed')
  await expect(page.getByRole('button', { name: 'Merge…' })).toBeEnabled()
  await expectAccessible(page)
  await page.unrouteAll({ behavior: 'wait' })
  await answerReadiness(page, { status: 'ready', method: 'squash', blockers: [], unknown: [] })
  await page.getByRole('button', { name: 'Ask again' }).click()
  await expect(page.getByText('The git host would merge it now')).toBeVisible()
  await expect(page.getByText('It squashes the commits of the branch into one.')).toBeVisible()
  await page.unrouteAll({ behavior: 'wait' })
  await answerReadiness(page, { status: 'merged', method: null, blockers: [], unknown: [] })
  await page.getByRole('button', { name: 'Ask again' }).click()
  await expect(page.getByText('Merged', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Merge…' })).toHaveCount(0)
})

test('merges all the same when nobody knows what the git host requires', async ({ page }) => {
  await page.route('**/api/v1/repository/pr/readiness?*', (route) =>
    route.fulfill({ status: 502, json: { detail: 'x' } }),
  )
  await open(page, made)
  await expect(page.getByText(/could not be read. You can merge all the same/)).toBeVisible({ timeout: 30_000 })
  await expect(page.getByRole('button', { name: 'Merge…' })).toBeEnabled()
})

test('shows the reasons that a failed merge brings', async ({ page }) => {
  const readiness = { status: 'blocked', method: 'merge', blockers: [blocker('draft', 'It is a draft.')], unknown: [] }
  await page.route('**/api/v1/repository/pr/merge', (route) =>
    route.fulfill({ status: 405, json: { detail: 'Pull Request is still a draft', readiness } }),
  )
  await open(page, made)
  await merge(page)
  await expect(page.getByRole('alert').filter({ hasText: 'still a draft' })).toContainText('It is a draft.')
})

test('refuses to merge with the reason: locked, running, failed, nothing completed', async ({ page }) => {
  const states: [change: (session: Session) => Partial<Session>, reason: string][] = [
    [() => ({ is_blocked: true }), 'This session is locked.'],
    [() => ({ in_flight: true }), 'A round of this session is running.'],
    [() => ({ current_status: 'failed' }), 'The last round failed.'],
    [
      ({ rounds }) => ({ rounds: rounds.map((round) => ({ ...round, statuses: round.statuses.slice(0, -1) })) }),
      'No round has completed yet.',
    ],
  ]
  for (const [change, reason] of states) {
    await changeSession(page, change)
    await open(page, made)
    await expect(page.getByText(reason)).toBeVisible()
    await expect(page.getByRole('button', { name: 'Merge…' })).toHaveCount(0)
    await page.unrouteAll({ behavior: 'wait' })
  }
  await expectAccessible(page)
})

test('links to no address but one of the web', async ({ page }) => {
  await changeSession(page, ({ rounds }) => ({
    rounds: rounds.map((round) => ({
      ...round,
      pull_requests: [{ provider: 'GITHUB', number: 9, url: 'javascript:alert(1)' }],
    })),
  }))
  await open(page, made)
  await expect(page.getByRole('heading', { name: /Pull request 9 at GitHub/ })).toContainText('javascript:alert(1)')
  await expect(page.getByRole('link', { name: /Pull request 9/ })).toHaveCount(0)
})

test('merges after a confirmation, and remembers it', async ({ page }) => {
  await open(page, made)
  await page.getByRole('button', { name: 'Merge…' }).click()
  await expect(page.getByRole('dialog')).toContainText('This changes the repository, not the cloud.')
  await expectAccessible(page)
  const before = mainBranch()
  try {
    await page.getByRole('dialog').getByRole('button', { name: 'Merge', exact: true }).click()
    await expect(page.getByText('Merged', { exact: true })).toBeVisible({ timeout: 90_000 })
    expect(mainBranch()).not.toBe(before)
  } finally {
    mainBranch(before)
  }
  await page.reload()
  await expect(page.getByText('Merged', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Merge…' })).toHaveCount(0)
})
