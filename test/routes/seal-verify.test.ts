import { beforeAll, describe, expect, it } from 'vitest'
import type { CoreContext } from '../../routes/env.ts'
import { PlatformError, unavailable } from '../../src/base/errors.ts'
import { readBranchHead } from '../../src/repository/head.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import { recordSavedPlan, setLock } from '../../src/rounds/transitions.ts'
import type { NewSavedPlan } from '../../src/saved-plans/saved-plan.ts'
import { callOf, createTestCore } from '../helpers/core.ts'
import { createUser, runRound, SAVED_PLAN } from '../helpers/sessions.ts'
import { startOnce } from '../helpers/start-once.ts'
import { startOutside } from './outside.ts'

const VERIFY = '/api/v1/iac/seal/verify'
const SECRET = 'planted-secret-4711'
const outside = startOnce(startOutside)
const core = startOnce(() => createTestCore({ yaml: outside.yaml }))
let owner: number
beforeAll(async () => {
  owner = (await createUser(core.database.sql, 'owner')).id
})

/** Creates a session with a pushed branch and a saved plan of its head. */
async function sessionWithPlan(changes: Partial<NewSavedPlan> = {}): Promise<{ uuid: string; commit: string }> {
  const uuid = await outside.ranSession(core.context, owner)
  const commit = await headOf(uuid)
  await acceptRound(core.context, { session_uuid: uuid, mode: 'generate', query: 'q', is_partial: false })
  const { round, finish } = await runRound(core.context, uuid)
  await recordSavedPlan(core.database.sql, round, { ...SAVED_PLAN, commit, ...changes })
  await finish('completed', '', [], changes.commit ?? commit)
  return { uuid, commit }
}

async function headOf(uuid: string): Promise<string> {
  const [row] = await core.database.sql<{ branch: string }[]>`
    SELECT w.branch FROM workspaces w JOIN sessions s ON s.id = w.session_id WHERE s.uuid = ${uuid}`
  const head = await readBranchHead(core.context, outside.repository, row?.branch ?? '', { timeoutMs: 5_000 })
  if (head === null) throw new Error('the branch was not pushed')
  return head
}

const state = (serial: number) => ({
  get: async (key: string) => {
    if (key.endsWith('.tflock')) throw new PlatformError('NotFound', 404, 'no such object')
    expect(key).toBe(`project-1/${core.context.config.storage.engine_state_filename}`)
    return new TextEncoder().encode(JSON.stringify({ version: 4, lineage: 'lineage-1', serial, resources: [] }))
  },
})
const iac = (engine: CoreContext['iac']['engine']) => ({ engine }) as CoreContext['iac']
const SAME = iac(async () => ({ name: 'OpenTofu', version: '1.10.6' }))

async function verify(uuid: string, context: Partial<CoreContext> = {}) {
  const app = await core.another({ context: { iac: SAME, stateStore: state(7), ...context } })
  const answer = await callOf(app)('POST', VERIFY, { json: { session_id: uuid } })
  const text = await answer.text()
  expect(text).not.toContain(SECRET)
  return { status: answer.status, body: JSON.parse(text) }
}
type Check = { name: string; outcome: string; explanation: string }
const outcomes = ({ checks }: { checks: Check[] }) =>
  Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome]))
const explanationOf = ({ checks }: { checks: Check[] }, wanted: string) =>
  checks.find(({ name }) => name === wanted)?.explanation
const detail = async (uuid: string) => (await (await core.call('GET', `/api/v1/sessions?id=${uuid}`)).json()).seal

const HOLDS = { commit: 'holds', engine: 'holds', state: 'holds', reviewed: 'holds', lock: 'holds', copy: 'holds' }

describe('POST /api/v1/iac/seal/verify', () => {
  it('finds that everything holds, and keeps the result for the detail', async () => {
    const { uuid } = await sessionWithPlan({ archive_key: 'k' })
    const before = await core.database.sql`SELECT updated_at, in_flight FROM sessions WHERE uuid = ${uuid}`
    const { status, body } = await verify(uuid)
    expect([status, outcomes(body)]).toEqual([200, HOLDS])
    expect(body.seal).toMatchObject({ valid: true, reason: null, verified_at: body.verified_at, checks: body.checks })
    expect(await detail(uuid)).toEqual(body.seal)
    expect(await core.database.sql`SELECT updated_at, in_flight FROM sessions WHERE uuid = ${uuid}`).toEqual(before)
  })

  it('sees a moved state, and that it is back', async () => {
    const { uuid } = await sessionWithPlan()
    const { body } = await verify(uuid, { stateStore: state(8) })
    expect(outcomes(body)).toEqual({ ...HOLDS, state: 'broken', copy: 'unknown' })
    const explanation = 'The state moved after the plan was made (serial 7 then, 8 now).'
    expect(body.seal).toMatchObject({ valid: false, reason: 'state_moved', explanation })
    expect(await detail(uuid)).toMatchObject({ valid: false, reason: 'state_moved' })
    expect((await verify(uuid)).body.seal).toMatchObject({ valid: true, reason: null })
  })

  it.each([
    ['another version', { name: 'OpenTofu', version: '1.11.0' }, 'OpenTofu 1.11.0'],
    ['another engine', { name: 'Terraform', version: '1.10.6' }, 'Terraform 1.10.6'],
    ['a service that does not tell', null, 'an engine that does not tell its version'],
  ])('sees %s', async (_, engine, words) => {
    const { uuid } = await sessionWithPlan()
    const { body } = await verify(uuid, { iac: iac(async () => engine) })
    expect(body.seal).toMatchObject({
      reason: 'engine_changed',
      explanation: `The plan was made by OpenTofu 1.10.6, and the iac service runs ${words} now.`,
    })
  })

  it('sees a newer commit on the branch of the repository', async () => {
    const { uuid, commit } = await sessionWithPlan({ commit: 'e'.repeat(40) })
    const { body } = await verify(uuid)
    expect(outcomes(body).commit).toBe('broken')
    expect(body.seal).toMatchObject({
      reason: 'newer_commit',
      explanation: `The session branch is at commit ${commit.slice(0, 12)}, and the plan was made from eeeeeeeeeeee.`,
    })
  })

  it('does not know what it cannot see, and does not say why', async () => {
    const { uuid } = await sessionWithPlan()
    const fail = async () => {
      throw unavailable(`connection to https://user:${SECRET}@internal failed`)
    }
    const { status, body } = await verify(uuid, { iac: iac(fail), stateStore: { get: fail }, fetch: fail })
    const unknown = Object.fromEntries(Object.keys(HOLDS).map((name) => [name, 'unknown']))
    expect([status, outcomes(body)]).toEqual([200, { ...unknown, reviewed: 'holds' }])
    expect(body.seal).toMatchObject({ valid: true, reason: null })
    expect(explanationOf(body, 'engine')).toBe('The iac service could not be asked for its engine.')
  })

  it('does not know a state that the platform does not manage', async () => {
    const { uuid } = await sessionWithPlan()
    const app = await core.another({ context: { iac: SAME } })
    const body = await (await callOf(app)('POST', VERIFY, { json: { session_id: uuid } })).json()
    expect(outcomes(body)).toEqual({ ...HOLDS, state: 'unknown', copy: 'unknown' })
    expect(explanationOf(body, 'state')).toMatch(/backend of the repository/)
  })

  it('does not know what was not known when the plan was saved', async () => {
    const { uuid } = await sessionWithPlan({ engine: null, state: null })
    expect(outcomes((await verify(uuid)).body)).toMatchObject({ engine: 'unknown', state: 'unknown' })
  })

  it('sees the locks of the session and of the state', async () => {
    const { uuid } = await sessionWithPlan()
    const locked = await verify(uuid, { stateStore: { get: async () => new TextEncoder().encode('{}') } })
    expect(explanationOf(locked.body, 'lock')).toBe('Another run has locked the state at this moment.')
    await setLock(core.context, uuid, true)
    const { body } = await verify(uuid)
    expect([outcomes(body).lock, body.seal.valid]).toEqual(['broken', true])
  })

  it('runs beside a round of the session', async () => {
    const { uuid } = await sessionWithPlan()
    await acceptRound(core.context, { session_uuid: uuid, mode: 'generate', query: 'q', is_partial: false })
    const { round, status, finish } = await runRound(core.context, uuid)
    expect((await verify(uuid)).status).toBe(200)
    await status('generating')
    await recordSavedPlan(core.database.sql, round, { ...SAVED_PLAN, plan_sha256: 'b'.repeat(64) })
    const { body } = await verify(uuid)
    expect(body.seal).toMatchObject({ round: 3, reason: 'not_reviewed', plan_sha256: 'b'.repeat(64) })
    await finish('completed')
  })

  it('does not keep a result for a plan that was replaced in the meantime', async () => {
    const { uuid } = await sessionWithPlan()
    await acceptRound(core.context, { session_uuid: uuid, mode: 'generate', query: 'q', is_partial: false })
    const { round, finish } = await runRound(core.context, uuid)
    const engine = async () => {
      await recordSavedPlan(core.database.sql, round, SAVED_PLAN)
      return null
    }
    expect((await verify(uuid, { iac: iac(engine) })).status).toBe(409)
    await finish('completed')
    expect(await detail(uuid)).toMatchObject({ round: 3, verified_at: null, checks: [] })
  })

  it('answers 409 where there is no saved plan', async () => {
    const never = await outside.ranSession(core.context, owner)
    expect(await verify(never)).toEqual({ status: 409, body: { detail: `Session ${never} has no sealed plan.` } })
    const { uuid } = await sessionWithPlan()
    await acceptRound(core.context, { session_uuid: uuid, mode: 'apply', query: 'q', is_partial: false })
    await (await runRound(core.context, uuid)).finish('completed')
    const { status, body } = await verify(uuid)
    expect([status, body.detail]).toEqual([409, expect.stringContaining('Taken away by round 3')])
  })
})
