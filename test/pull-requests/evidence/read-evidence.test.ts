import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CoreContext } from '../../../routes/env.ts'
import { notFound } from '../../../src/base/errors.ts'
import { MASK } from '../../../src/base/masking.ts'
import type { Mode, TerminalStatus, Turn } from '../../../src/base/vocabulary.ts'
import { readEvidence, readEvidenceRows } from '../../../src/pull-requests/evidence/read-evidence.ts'
import { storeComplianceCheck, storeDrift, storePlanText, storeReport } from '../../../src/reports/artifacts.ts'
import { acceptRound } from '../../../src/rounds/accept.ts'
import type { ClaimedRound } from '../../../src/rounds/round.ts'
import { createTestCore, type TestCore } from '../../helpers/core.ts'
import { createUser, openSession, runRound } from '../../helpers/sessions.ts'
import { check, generateReport, report } from './fixtures.ts'

let core: TestCore
let user_id: number
const objects = new Map<string, string>()
let get: CoreContext['storage']['get']

beforeAll(async () => {
  core = await createTestCore()
  Object.assign(core.context.storage, {
    put: async (key: string, body: string) => {
      objects.set(key, body)
      return new TextEncoder().encode(body).byteLength
    },
    get: (...args: Parameters<typeof get>) => get(...args),
  })
  user_id = (await createUser(core.context.sql, 'owner')).id
})
beforeEach(() => {
  get = async (key) => {
    const body = objects.get(key)
    if (body === undefined) throw notFound('Object not found')
    return new TextEncoder().encode(body)
  }
})
afterAll(() => core?.close())

type Work = (round: ClaimedRound) => Promise<void>

/** Runs the waiting round of a session; `work` stores its artifacts. */
async function play(uuid: string, status: TerminalStatus, work: Work, history?: Turn[]): Promise<void> {
  const run = await runRound(core.context, uuid)
  await work(run.round)
  await run.finish(status, '', history)
}

async function session(work: Work, query = 'Add a bucket', history?: Turn[]): Promise<string> {
  const uuid = await openSession(core.context, user_id, { query })
  await play(uuid, 'completed', work, history)
  return uuid
}

async function further(uuid: string, mode: Mode, status: TerminalStatus, work: Work = async () => {}): Promise<void> {
  await acceptRound(core.context, { session_uuid: uuid, mode, query: `A ${mode} round`, is_partial: false })
  await play(uuid, status, work)
}

async function evidence(uuid: string, signal = new AbortController().signal) {
  const rows = await readEvidenceRows(core.context.sql, uuid)
  if (!rows) throw new Error('no such session')
  return await readEvidence(core.context, rows, signal)
}

const goodPlan: Work = async (round) => {
  await storePlanText(core.context, round, { text: 'first attempt', targets: ['a.b'] })
  await storePlanText(core.context, round, { text: 'the reviewed plan', targets: ['a.b', 'a.c'] })
  await storeDrift(core.context, round, { operations: [{ address: 'a.b' }], targets: ['a.b', 'a.c'] })
  await storeReport(core.context, round, { type: 'generate', document: generateReport().document ?? never() })
  await storeComplianceCheck(core.context, round, check().document ?? never())
}
const never = (): never => {
  throw new Error('the fixture has no document')
}

describe('evidence', () => {
  it('is what the latest rounds of each kind left', async () => {
    const uuid = await session(goodPlan)
    await further(uuid, 'generate', 'uncompleted')
    await further(uuid, 'generate', 'completed', async (round) => {
      await storePlanText(core.context, round, { text: 'the second plan', targets: [] })
      const { document } = generateReport({ summary: { create: 7 } })
      await storeReport(core.context, round, { type: 'generate', document: document ?? never() })
    })
    await further(uuid, 'apply', 'completed', async (round) => {
      const { document } = report('apply', { summary: { created: 7 }, status: 'Success', execution_summary: 'Done.' })
      await storeReport(core.context, round, { type: 'apply', document: document ?? never() })
    })
    await further(uuid, 'drift', 'failed')
    const found = await evidence(uuid)
    expect(found.rounds.map(({ number, mode, status }) => [number, mode, status])).toEqual([
      [1, 'generate', 'completed'],
      [2, 'generate', 'uncompleted'],
      [3, 'generate', 'completed'],
      [4, 'apply', 'completed'],
      [5, 'drift', 'failed'],
    ])
    expect(found.generate).toMatchObject({ round: 3, document: { summary: { create: 7 } } })
    expect(found.plan).toMatchObject({ targets: [], text: 'the second plan' })
    expect(found.compliance).toMatchObject({ round: 1, passed: true })
    expect(found.apply).toMatchObject({ round: 4, document: { status: 'Success' } })
    expect(found).toMatchObject({ drift: null, import: null })
  })

  it('takes the text of the plan, not the drift that was read after it', async () => {
    expect((await evidence(await session(goodPlan))).plan).toMatchObject({
      targets: ['a.b', 'a.c'],
      text: 'the reviewed plan',
    })
  })

  it('of a session without artifacts is empty', async () => {
    expect(await evidence(await session(async () => {}))).toMatchObject({
      generate: null,
      drift: null,
      import: null,
      apply: null,
      compliance: null,
      plan: null,
    })
    expect(await readEvidenceRows(core.context.sql, crypto.randomUUID())).toBeNull()
    expect(await readEvidenceRows(core.context.sql, 'no uuid')).toBeNull()
  })

  it('shows requests as the conversation keeps them, and no secret of the configuration', async () => {
    const history = [{ user: `Set ${MASK} as password`, assistant: 'Done.' }]
    const uuid = await session(
      async (round) => {
        const { document } = report('drift', { summary: 'With token-of-the-bot in it', status: 'Succeeded' })
        await storeReport(core.context, round, { type: 'drift', document: document ?? never() })
      },
      'Set hunter2-x as password',
      history,
    )
    const found = await evidence(uuid)
    expect(found.rounds[0]?.query).toBe(`Set ${MASK} as password`)
    expect(found.drift?.document?.summary).toBe(`With ${MASK} in it`)
  })
})

describe('a store in trouble', () => {
  const lostEverywhere = {
    generate: { document: null },
    compliance: { passed: true, document: null },
    plan: { text: null, targets: ['a.b', 'a.c'] },
  }

  it.each<[string, CoreContext['storage']['get']]>([
    ['has lost the objects', async () => Promise.reject(notFound('Object not found'))],
    ['answers something else', async () => new TextEncoder().encode('<html>')],
    ['answers another document', async () => new TextEncoder().encode('{"summary": 7}')],
    ['answers nothing', async () => new Uint8Array()],
  ])('that %s costs no pull request', async (_, broken) => {
    const uuid = await session(goodPlan)
    get = broken
    const found = await evidence(uuid)
    expect(found).toMatchObject({ generate: { document: null }, compliance: { passed: true, document: null } })
    expect(core.log.some(({ msg, message }) => /artifact/.test(String(msg ?? message)))).toBe(true)
  })

  it('that never answers is not waited for', async () => {
    const uuid = await session(goodPlan)
    const limits: AbortController[] = []
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const controller = new AbortController()
      if (ms === 5_000) limits.push(controller)
      return controller.signal
    })
    let asked = 0
    get = async () => {
      // The last of the artifacts is being loaded by then.
      if (++asked === 5) limits[0]?.abort(new DOMException('late', 'TimeoutError'))
      return await new Promise<never>(() => {})
    }
    expect(await evidence(uuid).finally(() => timeout.mockRestore())).toMatchObject(lostEverywhere)
    expect(asked).toBe(5)
  })

  it('is not asked for an object that is too large', async () => {
    const uuid = await session(async (round) => {
      await goodPlan(round)
      await storePlanText(core.context, round, { text: 'x'.repeat(2 * 1024 * 1024 + 1), targets: ['a.b', 'a.c'] })
    })
    const asked: (number | undefined)[] = []
    const real = get
    get = async (key, options) => {
      asked.push(options?.maxBytes)
      return await real(key, options)
    }
    expect((await evidence(uuid)).plan?.text).toBeNull()
    expect(asked).toEqual(Array.from({ length: 5 }, () => 2 * 1024 * 1024))
  })

  it('ends with the caller', async () => {
    const uuid = await session(goodPlan)
    const caller = new AbortController()
    get = async () => {
      caller.abort(new Error('caller is gone'))
      return await new Promise<never>(() => {})
    }
    await expect(evidence(uuid, caller.signal)).rejects.toThrow('caller is gone')
  })
})
