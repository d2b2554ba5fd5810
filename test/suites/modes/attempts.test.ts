import { expect, it } from 'vitest'
import { MASK } from '../../../src/base/masking.ts'
import type { AttemptDetail } from '../../../src/rounds/attempts.ts'
import { createTestCore } from '../../helpers/core.ts'
import { startOnce } from '../../helpers/start-once.ts'
import type { Reply } from '../../pipeline/steps/scripted-llm.ts'
import { artifactsOf } from './artifacts.ts'
import { runDrift, startDriftedStack, takeOver } from './drift-world.ts'
import { addresses, blocks, runImport, withScope } from './import-world.ts'
import { ADDED, BROKEN, done, GATES, goodLlm, MAIN, statesThrice, THRICE, targets, write } from './scripts.ts'
import { firstRound } from './stack.ts'

const stack = startOnce(startDriftedStack)
const core = startOnce(() => createTestCore({ context: { sql: stack.database.sql } }))

/** Reads the attempts of the only round, as the owner and as an operator. */
async function attemptsOf(uuid: string): Promise<AttemptDetail[]> {
  const { id } = await (await core.call('GET', '/api/v1/users/me')).json()
  await stack.database.sql`UPDATE sessions SET user_id = ${id} WHERE uuid = ${uuid}`
  const own = await (await core.call('GET', `/api/v1/sessions?id=${uuid}`)).json()
  const shown = await (await core.call('GET', `/api/v1/admin/sessions?id=${uuid}`)).json()
  expect(shown.rounds[0].attempts).toEqual(own.rounds[0].attempts)
  return own.rounds[0].attempts
}
const outcomes = (attempts: readonly AttemptDetail[]) => attempts.map(({ task, outcome }) => `${task} ${outcome}`)
const passed = (attempt: AttemptDetail | undefined) =>
  attempt?.steps.filter(({ outcome }) => outcome !== 'skipped').map(({ name, outcome }) => `${name} ${outcome}`)

const deleteFile = (target_file: string): Reply => ({ calls: [['delete_file', { target_file }]] })

const SECRET = 'planted-S3cret-Passw0rd'

it('the attempts of a generate round tell what the engine and the check of the request refused, and what came of it', async () => {
  const declared = `variable "password" {\n  sensitive = true\n  default = "${SECRET}"\n}\n`
  const hidden = `resource "terraform_data" "second" {\n  no_such_argument = "${SECRET}"\n}\n`
  const llm = goodLlm({
    task_complete: [
      ...[write('second.tf', hidden), done('First.')],
      ...[write('second.tf', ADDED), done('Second.')],
      ...[write('second.tf', THRICE), done('Third.')],
    ],
    report_intent_statements: statesThrice(),
  })
  const context = stack.context(llm, { orchestration: { ...GATES, max_validation_iteration: 4 } })
  const session = await firstRound(stack, context, { files: { 'main.tf': MAIN, 'secrets.tf': declared } })
  expect(session.statuses.at(-1)).toBe('completed')
  const attempts = await attemptsOf(session.uuid)
  expect(outcomes(attempts)).toEqual(['generate refused', 'generate refused', 'generate accepted'])
  expect(passed(attempts[0])).toEqual(['generate ok', 'validate failed'])
  expect(passed(attempts[1])?.slice(-3)).toEqual(['plan ok', 'show ok', 'check failed'])
  expect(passed(attempts[2])?.slice(-3)).toEqual(['plan ok', 'show ok', 'check ok'])
  expect(attempts[0]?.diagnostics[0]).toMatchObject({
    severity: 'error',
    step: 'validate',
    summary: 'Unsupported argument',
    file: 'second.tf',
    line: 2,
    snippet: expect.stringContaining(`no_such_argument = "${MASK}"`),
  })
  expect(attempts[0]?.next_reason).toContain('Unsupported argument (second.tf:2)')
  expect(attempts[1]?.diagnostics[0]).toMatchObject({
    step: 'check',
    summary: 'Expected: It says hello three times. Found: terraform_data.second: input is "hello again"',
  })
  expect(attempts[1]?.next_reason).toContain('It says hello three times')
  expect(attempts[2]?.next_reason).toBeNull()
  const commits = (await stack.git(session.repo_uri, 'rev-list', '--reverse', `main..${session.branch}`))
    .trim()
    .split('\n')
  expect(attempts.map(({ commit }) => commit)).toEqual(commits)
  for (const { input_tokens, cost_usd, steps } of attempts) {
    expect(input_tokens).toBeGreaterThan(0)
    expect(cost_usd).toBeNull()
    expect(steps[0]).toMatchObject({ name: 'generate', outcome: 'ok', runs: 1 })
  }
  expect(JSON.stringify(attempts)).not.toContain(SECRET)
  expect(JSON.stringify(attempts)).not.toContain(stack.config.paths.upload_folder)
})

it('a file stands once in the code changes, compared with the code before the round', async () => {
  const other = 'resource "terraform_data" "greeting" {\n  input = "changed"\n}\n'
  const llm = goodLlm({
    task_complete: [
      ...[write('second.tf', BROKEN), write('main.tf', other), write('third.tf', 'locals {}\n'), done('First.')],
      ...[write('second.tf', ADDED), write('main.tf', MAIN), deleteFile('third.tf'), done('Second.')],
    ],
  })
  const session = await firstRound(stack, stack.context(llm), { files: { 'main.tf': MAIN } })
  expect(session.statuses.at(-1)).toBe('completed')
  const changes = (await artifactsOf(stack, session.uuid)).filter(({ kind }) => kind === 'change')
  expect(changes).toEqual([{ kind: 'change', text: ADDED, type: null, new_file: 'true' }])
})

it('the attempts of a drift round tell how what differs was written into the code', async () => {
  const { session } = await runDrift(stack, {
    task_complete: [
      ...[takeOver('hello'), write('wrong.tf', BROKEN), done('First.')],
      ...[takeOver('goodbye'), deleteFile('wrong.tf'), done('Second.')],
    ],
  })
  expect(session.messages.at(-1)).toBe('DRIFT')
  const attempts = await attemptsOf(session.uuid)
  expect(outcomes(attempts)).toEqual(['drift refused', 'drift accepted'])
  expect(attempts[0]).toMatchObject({ diagnostics: [{ step: 'validate', file: 'wrong.tf', line: 2 }] })
  expect(attempts[0]?.next_reason).toContain('(wrong.tf:2)')
  expect(passed(attempts[1])).toEqual(['generate ok', 'validate ok', 'plan ok', 'show ok'])
})

it('the attempts of an import round tell what was imported and what was left for the next one', async () => {
  const iac = withScope(stack, ['id-a', 'id-b'])
  const { session } = await runImport(stack, iac, {
    task_complete: [
      ...[write('imported.tf', blocks('a')), done('One block.')],
      ...[write('imported.tf', blocks('a', 'b')), done('Two blocks.')],
    ],
    generate_engine_targets: targets('terraform_data.a', 'terraform_data.b'),
    import_addresses: [addresses(['terraform_data.a', 'id-a']), addresses(['terraform_data.b', 'id-b'])],
  })
  expect(session.messages.at(-1)).toBe('IMPORT')
  const attempts = await attemptsOf(session.uuid)
  expect(outcomes(attempts)).toEqual(['import refused', 'import accepted'])
  expect(passed(attempts[0])?.slice(-3)).toEqual(['show ok', 'import ok', 'check failed'])
  expect(attempts[0]).toMatchObject({
    diagnostics: [{ step: 'check', summary: 'No resource block of the plan was found for id-b.' }],
    next_reason: 'The plan is not what was asked for. No resource block of the plan was found for id-b.',
  })
  expect(passed(attempts[1])?.slice(-2)).toEqual(['import ok', 'check ok'])
})
