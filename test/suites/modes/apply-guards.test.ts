import { appendFile, cp, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { setLock } from '../../../src/rounds/transitions.ts'
import { startOnce } from '../../helpers/start-once.ts'
import {
  applyJobs,
  applyReports,
  applyRound,
  contextOf,
  DISCARDED,
  expectNotApplied,
  leftOfPlan,
  managedState,
  NOT_SAVED,
  requestApply,
  sessionWithPlan,
  withNotifications,
} from './apply-world.ts'
import { MAIN, THIRD } from './scripts.ts'
import { engineBeside, firstRound, nextRound, planPath, runWaiting, startStack } from './stack.ts'

const stack = startOnce(startStack)

const ANOTHER =
  'runner failed: The pinned plan is not the reviewed one, so it is not applied; run a generate round before applying.'

describe('what is pinned is not the reviewed plan', () => {
  const plan = (uuid: string) => join(planPath(stack, uuid), 'session.plan')
  it.each<[string, (uuid: string) => Promise<unknown>, string]>([
    ['the plan file was changed', (uuid) => appendFile(plan(uuid), '.'), ANOTHER],
    ['the plan file is gone', (uuid) => rm(plan(uuid)), NOT_SAVED],
    ['the directory is gone', (uuid) => rm(planPath(stack, uuid), { recursive: true }), NOT_SAVED],
    [
      'the plan file is a link, although to the same bytes',
      async (uuid) => {
        await rename(plan(uuid), `${plan(uuid)}.real`)
        await symlink('session.plan.real', plan(uuid))
      },
      NOT_SAVED,
    ],
    [
      'the directory is a link, although to the same files',
      async (uuid) => {
        const elsewhere = join(stack.config.paths.upload_folder, `moved-${uuid}`)
        await rename(planPath(stack, uuid), elsewhere)
        await symlink(elsewhere, planPath(stack, uuid))
      },
      NOT_SAVED,
    ],
    [
      'the seal is gone',
      (uuid) =>
        stack.database.sql`DELETE FROM saved_plans WHERE session_id = (SELECT id FROM sessions WHERE uuid = ${uuid})`,
      NOT_SAVED,
    ],
    [
      'the seal is of an attempt whose round did not complete',
      (uuid) =>
        stack.database.sql`
          UPDATE statuses SET status = 'uncompleted'
          WHERE status = 'completed' AND session_id = (SELECT id FROM sessions WHERE uuid = ${uuid})`,
      NOT_SAVED,
    ],
    [
      'the directory is an older one, as another disk may still have it',
      async (uuid) => {
        const older = join(stack.config.paths.upload_folder, `older-${uuid}`)
        await cp(planPath(stack, uuid), older, { recursive: true })
        await nextRound(stack, contextOf(stack, {}, THIRD), uuid, 'And a third one')
        await rm(planPath(stack, uuid), { recursive: true })
        await rename(older, planPath(stack, uuid))
      },
      ANOTHER,
    ],
  ])('%s: nothing is applied and nothing stays pinned', async (_, change, text) => {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    await change(uuid)
    const session = await applyRound(stack, context, uuid)
    expect(session.statuses).toEqual(['started', 'apply', 'failed'])
    await expectNotApplied(stack, session, text)
    expect(await managedState(context, repo_uri)).toEqual([])
  })

  it('the engine root leads out of the directory', async () => {
    const { context, uuid } = await sessionWithPlan(stack, contextOf(stack), { 'live/main.tf': MAIN }, 'live')
    const elsewhere = join(stack.config.paths.upload_folder, `elsewhere-${uuid}`)
    await rename(join(planPath(stack, uuid), 'live'), elsewhere)
    await symlink(elsewhere, join(planPath(stack, uuid), 'live'))
    await expectNotApplied(stack, await applyRound(stack, context, uuid), NOT_SAVED)
  })

  it('the plan file was changed at the last moment', async () => {
    const { context, uuid } = await sessionWithPlan(stack)
    const { iac } = context
    const engine: typeof iac.engine = async (signal) => {
      await appendFile(join(planPath(stack, uuid), 'session.plan'), '.')
      return await iac.engine(signal)
    }
    const session = await applyRound(stack, { ...context, iac: { ...iac, engine } }, uuid)
    await expectNotApplied(stack, session, ANOTHER)
  })

  it('finds the pin again that a crash left put aside', async () => {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    await rename(planPath(stack, uuid), `${planPath(stack, uuid)}.old-1234`)
    const session = await applyRound(stack, context, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
  })

  it('applies the plan of the last successful round, in its engine root', async () => {
    const { context, uuid, repo_uri } = await sessionWithPlan(
      stack,
      contextOf(stack),
      { 'live/main.tf': MAIN, 'modules/README.md': 'shared' },
      'live',
    )
    await nextRound(stack, contextOf(stack, {}, THIRD), uuid, 'And a third one')
    await applyRound(stack, context, uuid)
    expect(await managedState(context, repo_uri, 'live')).toEqual(['terraform_data.second', 'terraform_data.third'])
    expect(applyJobs(stack, uuid).map(({ workspace_path }) => workspace_path)).toEqual([
      join(planPath(stack, uuid), 'live'),
    ])
  })
})

describe('the world moved on', () => {
  it.each([
    ['another version', { name: 'Terraform', version: '99.1.0' }, 'Terraform 99.1.0'],
    ['another engine', { name: 'Somefork', version: '1.11.4' }, 'Somefork 1.11.4'],
    ['one that does not tell', null, 'an engine that does not tell its version'],
  ])('%s: nothing is applied, the report says so', async (_, engine, named) => {
    const { context, sent } = withNotifications(contextOf(stack))
    const { uuid } = await sessionWithPlan(stack, context)
    const session = await applyRound(stack, { ...context, iac: { ...context.iac, engine: async () => engine } }, uuid)
    expect(session.statuses).toEqual(['started', 'apply', 'report', 'completed'])
    const [report] = await applyReports(stack, uuid)
    expect(report).toMatchObject({ status: 'Failed', summary: { created: 0, updated: 0, destroyed: 0 } })
    expect(report?.execution_summary).toContain(named)
    expect(session.history.at(-1)).toEqual({ user: 'Engine apply.', assistant: report?.execution_summary })
    expect(sent.map(({ kind }) => kind)).toEqual(['iac.apply.failure'])
    expect(applyJobs(stack, uuid)).toEqual([])
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
  })

  it('the state moved: names only of what was added, removed and changed', async () => {
    const { context, sent } = withNotifications(contextOf(stack))
    const repo = { 'main.tf': `${MAIN}resource "terraform_data" "old" {\n  input = "old"\n}\n` }
    const repo_uri = await stack.repository(repo)
    const beside = await engineBeside(stack, repo_uri)
    await beside.apply()
    const { uuid } = await firstRound(stack, context, { repo_uri })
    await beside.editState((text) => {
      const state = JSON.parse(text)
      const [greeting] = state.resources.filter(({ name }: { name: string }) => name === 'greeting')
      const added = structuredClone(greeting)
      added.name = 'foreign'
      greeting.instances[0].attributes.input.value = 'topsecret-edit'
      return JSON.stringify({ ...state, resources: [added, greeting] })
    })
    const session = await applyRound(stack, context, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    const [report] = await applyReports(stack, uuid)
    expect(report).toMatchObject({
      status: 'Failed',
      summary: { created: 0, updated: 0, destroyed: 0, failed: 1 },
      resource_changes: [{ resource_name: 'second', action: 'no_change', status: 'failed' }],
    })
    expect(report?.execution_summary).toContain(
      'Since then: added terraform_data.foreign; removed terraform_data.old; changed terraform_data.greeting (input).',
    )
    expect(JSON.stringify(report)).not.toContain('topsecret-edit')
    expect(sent.map(({ kind, subject }) => [kind, subject])).toEqual([
      ['iac.apply.failure', `Infrastructure deployment failure – session ${uuid}`],
    ])
    expect(applyJobs(stack, uuid)).toEqual([])
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
  })

  it('the engine finds it out where the platform cannot: the report says that the state moved', async () => {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    await (await engineBeside(stack, repo_uri)).apply()
    const { stateStore: _, ...blind } = context
    const session = await applyRound(stack, blind, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(applyJobs(stack, uuid)).toHaveLength(1)
    const [report] = await applyReports(stack, uuid)
    expect(report).toMatchObject({ status: 'Failed', summary: { created: 0, updated: 0, destroyed: 0 } })
    expect(report?.execution_summary).toContain('the state moved after the plan was made')
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.greeting'])
  })

  it('a state that cannot be read is left to the engine', async () => {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    const stateStore = { get: async () => Promise.reject(new Error('away')) }
    const session = await applyRound(stack, { ...context, stateStore }, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
  })
})

describe('a lock that is set after the request was accepted', () => {
  it('keeps the plan from being applied, and discards it', async () => {
    const { context, uuid } = await sessionWithPlan(stack)
    await requestApply(context, uuid)
    await setLock(context, uuid, true)
    const session = await runWaiting(stack, context, uuid)
    await expectNotApplied(stack, session, `runner failed: Session ${uuid} is blocked; apply is not allowed.`)
  })

  it('counts also at the last moment before the submission', async () => {
    const { context, uuid } = await sessionWithPlan(stack)
    const { iac } = context
    // The last model call before the intent check.
    const engine: typeof iac.engine = async (signal) => {
      await setLock(context, uuid, true)
      return await iac.engine(signal)
    }
    const session = await applyRound(stack, { ...context, iac: { ...iac, engine } }, uuid)
    await expectNotApplied(stack, session, `runner failed: Session ${uuid} is blocked; apply is not allowed.`)
    expect(session.is_blocked).toBe(true)
    expect(await applyReports(stack, uuid)).toEqual([])
  })
})
