import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gatewayTimeout, notFound, PlatformError, unavailable } from '../../../src/base/errors.ts'
import { MASK } from '../../../src/base/masking.ts'
import type { Context } from '../../../src/context.ts'
import { deriveProjectId } from '../../../src/plan/state/managed-state.ts'
import type { IacClient } from '../../../src/services/iac/contract.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import {
  applyJobs,
  applyLlm,
  applyReports,
  applyRound,
  contextOf,
  DISCARDED,
  expectNotApplied,
  leftOfPlan,
  managedState,
  sessionWithPlan,
  TOLD,
  withNotifications,
} from './apply-world.ts'
import { ADDED, done, MAIN, targets, write } from './scripts.ts'
import { appliedRepository, firstRound, nextRound, planPath, startStack } from './stack.ts'

const stack = startOnce(startStack)

/** Plans, but fails to apply: after `second` was created. */
const FAILING = `${ADDED}
resource "terraform_data" "third" {
  input      = "three"
  depends_on = [terraform_data.second]
  lifecycle {
    precondition {
      condition     = terraform_data.second.id == "never"
      error_message = "The second greeting has the wrong id."
    }
  }
}
resource "terraform_data" "fourth" {
  input = terraform_data.third.id
}
`
const adding = (code: string, ...addresses: string[]) => ({
  task_complete: [write('second.tf', code), done('Added greetings.')],
  generate_engine_targets: targets(...addresses),
})
const FOREIGN_PRAISE = { args: { ...TOLD, execution_summary: 'All went very well.' } }

/** Writes the lock file of a repository's state, as another engine run does. Returns its key. */
async function lockState(repo_uri: string): Promise<string> {
  const key = `${await deriveProjectId(repo_uri, 'acme-test', null)}/terraform.tfstate.tflock`
  const lock = { ID: crypto.randomUUID(), Operation: 'OperationTypePlan', Who: 'somebody', Version: '1' }
  const body = JSON.stringify({ ...lock, Created: new Date().toISOString() })
  await stack.states.put(key, body, { content_type: 'application/json' })
  return key
}

describe('an apply that the engine ends with an error', () => {
  it('is told in part: what was done, what failed, what was not reached; whatever the model says', async () => {
    const addresses = ['terraform_data.second', 'terraform_data.third', 'terraform_data.fourth']
    const llm = applyLlm({ ...adding(FAILING, ...addresses), generate_engine_apply_report: FOREIGN_PRAISE })
    const { context, sent } = withNotifications(stack.context(llm))
    const { uuid, repo_uri } = await sessionWithPlan(stack, context)
    const session = await applyRound(stack, context, uuid)
    expect(session.statuses).toEqual(['started', 'apply', 'report', 'completed'])
    expect(session.messages.at(-1)).toBe('GENERATE')
    const [report] = await applyReports(stack, uuid)
    expect(report).toMatchObject({
      status: 'Partial',
      summary: { total_resources: 3, created: 1, updated: 0, destroyed: 0, failed: 2 },
    })
    const byName = Object.fromEntries((report?.resource_changes ?? []).map((change) => [change.resource_name, change]))
    expect(byName.second).toMatchObject({ action: 'created', status: 'success', error_message: null })
    expect(byName.third).toMatchObject({ status: 'failed' })
    expect(byName.third?.error_message).toContain('The second greeting has the wrong id.')
    expect(byName.fourth).toMatchObject({ action: 'no_change', status: 'failed', error_message: null })
    expect(report?.execution_summary).toBe(
      'The plan was applied in part: 1 created, 0 updated, 0 destroyed, 2 failed. All went very well.',
    )
    expect(said(llm.of('generate_engine_apply_report')[0])).toContain('The second greeting has the wrong id.')

    expect(sent).toHaveLength(1)
    expect(sent[0]).toMatchObject({ kind: 'iac.apply.failure', severity: 'error' })
    expect(sent[0]?.body).toContain('The second greeting has the wrong id.')
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
    expect(applyJobs(stack, uuid)).toHaveLength(1)
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
    expect(session.in_flight).toBe(false)
  })

  it('failed when nothing was done, and goes on with the next round', async () => {
    const check =
      '  lifecycle {\n    precondition {\n      condition = local.now == "never"\n' +
      '      error_message = "Too early."\n    }\n  }\n'
    const code = `${ADDED.replace('}\n', `${check}}\n`)}locals {\n  now = timestamp()\n}\n`
    const { context, sent } = withNotifications(contextOf(stack, {}, adding(code, 'terraform_data.second')))
    const { uuid } = await sessionWithPlan(stack, context)
    const session = await applyRound(stack, context, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    const [report] = await applyReports(stack, uuid)
    expect(report).toMatchObject({ status: 'Failed', summary: { total_resources: 1, created: 0, failed: 1 } })
    expect(report?.resource_changes[0]?.error_message).toContain('Too early.')
    expect(sent.map(({ kind }) => kind)).toEqual(['iac.apply.failure'])
    const mended = contextOf(stack, {}, adding(ADDED, 'terraform_data.second'))
    const next = await nextRound(stack, mended, uuid, 'Without the check')
    expect(next.statuses.at(-1)).toBe('completed')
    expect(await leftOfPlan(stack, uuid)).toEqual({ directory: true, plans: 1 })
  })

  it('failed while another run holds the lock of the state, and says so', async () => {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    // The lock is taken at the last moment, after the platform's check.
    const unseen = { get: async () => Promise.reject(notFound('Object not found')) }
    await lockState(repo_uri)
    const session = await applyRound(stack, { ...context, stateStore: unseen }, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect((await applyReports(stack, uuid))[0]).toMatchObject({
      status: 'Failed',
      summary: { created: 0, failed: 1 },
      execution_summary: expect.stringContaining('the engine could not lock the state'),
    })
    expect(applyJobs(stack, uuid)).toHaveLength(1)
  })

  it('waits for another run that holds the lock of the state for a while', async () => {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    const key = await lockState(repo_uri)
    const freeing: Context['stateStore'] = {
      get: async (asked, options) => {
        const bytes = await stack.states.get(asked, options)
        if (asked === key) await stack.states.delete(key)
        return bytes
      },
    }
    const session = await applyRound(stack, { ...context, stateStore: freeing }, uuid)
    expect(session.messages).toContain('Waiting for another run that works on the same state.')
    expect((await applyReports(stack, uuid))[0]).toMatchObject({ status: 'Success' })
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
  })

  it('changes, replaces and destroys are counted as the engine counts them', async () => {
    const files = {
      'main.tf':
        `${MAIN}resource "terraform_data" "gone" {\n  input = "bye"\n}\nresource "terraform_data" "again" {\n` +
        '  input = 1\n  triggers_replace = "a"\n}\n',
    }
    const repo_uri = await appliedRepository(stack, files)
    const code =
      `${MAIN.replace('hello', 'hullo')}resource "terraform_data" "again" {\n  input = 1\n` +
      '  triggers_replace = "b"\n}\n'
    const scripts = { task_complete: [write('main.tf', code), done('Changed.')] }
    const context = contextOf(stack, {}, scripts)
    const first = await firstRound(stack, context, { repo_uri })
    expect(first.messages.at(-1)).toBe('GENERATE')
    await applyRound(stack, context, first.uuid)
    const [report] = await applyReports(stack, first.uuid)
    expect(report).toMatchObject({
      status: 'Success',
      summary: { total_resources: 4, created: 1, updated: 1, destroyed: 2, failed: 0 },
    })
    const told = report?.resource_changes
      .map(({ resource_name, action, status }) => `${resource_name} ${action} ${status}`)
      .sort()
    expect(told).toEqual([
      'again created success',
      'again destroyed success',
      'gone destroyed success',
      'greeting updated success',
    ])
  })
})

it('what is sensitive is masked in report, notification, turn and prompt, although the engine prints it', async () => {
  const secret = 'very-secret-word-1234'
  const code =
    `variable "password" {\n  type = string\n  sensitive = true\n  default = "${secret}"\n}\n` +
    `${FAILING.replace('The second greeting has the wrong id.', `$\{nonsensitive(var.password)} is wrong.`)}`
  const llm = applyLlm(adding(code, 'terraform_data.second', 'terraform_data.third', 'terraform_data.fourth'))
  const { context, sent } = withNotifications(stack.context(llm))
  const { uuid } = await sessionWithPlan(stack, context)
  const session = await applyRound(stack, context, uuid)
  const [report] = await applyReports(stack, uuid)
  expect(JSON.stringify(report)).toContain(MASK)
  for (const text of [report, sent, session.history, llm.requests.slice(-2)])
    expect(JSON.stringify(text)).not.toContain(secret)
})

describe('after the engine has applied', () => {
  it('a model that fails costs the prose, not the report', async () => {
    const scripts = { generate_engine_apply_report: { error: new Error('overloaded') } }
    const { context, uuid } = await sessionWithPlan(stack, contextOf(stack, {}, scripts))
    const session = await applyRound(stack, { ...context, mayLogErrors: true }, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect((await applyReports(stack, uuid))[0]).toMatchObject({
      status: 'Success',
      execution_summary: 'The plan was applied: 1 created, 0 updated, 0 destroyed.',
      resource_changes: [{ resource_name: 'second', action: 'created', status: 'success', details: 'Created.' }],
    })
  })

  it('an object store that fails costs the report, not the result', async () => {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    const storage = {
      ...context.storage,
      put: async () => Promise.reject(unavailable('The object store cannot be reached.')),
    }
    const session = await applyRound(stack, { ...context, storage, mayLogErrors: true }, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(session.history.at(-1)?.assistant).toBe('The second greeting exists now.')
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
  })
})

describe('a fault of the sidecar', () => {
  /** The directory of an engine that may still work is kept. One whose engine has ended has neither plan nor keys. */
  const IN_USE = [expect.stringMatching(/^ended-/)]
  it.each<[string, (iac: IacClient) => Partial<IacClient>, string, unknown[]]>([
    [
      'that takes no job',
      () => ({ submit: async () => Promise.reject(unavailable('iac service unreachable')) }),
      'iac service unreachable',
      IN_USE,
    ],
    [
      'that says that the engine failed',
      () => ({ wait: async () => Promise.reject(new PlatformError('IacJobFailed', 500, 'The engine was killed.')) }),
      'The engine was killed.',
      [],
    ],
    [
      'that was interrupted itself',
      () => ({ wait: async () => Promise.reject(new PlatformError('IacJobFailed', 503, 'The service stopped.')) }),
      'The service stopped.',
      IN_USE,
    ],
    [
      'that takes too long',
      (iac) => ({
        wait: async (job_id, options) => {
          await iac.wait(job_id, options)
          throw gatewayTimeout(`IaC job ${job_id} did not finish within 1s.`)
        },
      }),
      'did not finish within 1s.',
      IN_USE,
    ],
  ])('%s: failed, nothing stays pinned, the report says that the outcome is not known', async (_, change, text, left) => {
    const { context, sent } = withNotifications(contextOf(stack))
    const { uuid } = await sessionWithPlan(stack, context)
    const session = await applyRound(stack, { ...context, iac: { ...context.iac, ...change(context.iac) } }, uuid)
    expect(session.statuses).toEqual(['started', 'apply', 'failed'])
    expect(session.messages.at(-1)).toContain(`runner failed: `)
    expect(session.messages.at(-1)).toContain(text)
    const [report] = await applyReports(stack, uuid)
    expect(report).toMatchObject({ status: 'Failed', resource_changes: [] })
    expect(report?.execution_summary).toContain('It is not known what this apply changed')
    expect(report?.execution_summary).toContain(text)
    expect(report?.recommendations[0]).toContain('terraform_data.second')
    // The frame notifies of the failed round, and nothing is sent twice.
    expect(sent).toEqual([])
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
    expect(readdirSync(dirname(planPath(stack, uuid)))).toEqual(left)
    expect(session.in_flight).toBe(false)
  })

  it('before anything was submitted: failed, without a report', async () => {
    const { context, uuid } = await sessionWithPlan(stack)
    const iac = { ...context.iac, engine: async () => Promise.reject(unavailable('iac service unreachable')) }
    const session = await applyRound(stack, { ...context, iac }, uuid)
    await expectNotApplied(stack, session, 'runner failed: iac service unreachable')
    expect(await applyReports(stack, uuid)).toEqual([])
  })
})
