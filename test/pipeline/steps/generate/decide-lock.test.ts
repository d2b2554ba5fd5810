import { HttpResponse, http } from 'msw'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { decideLock, lockDecision, type Review } from '../../../../pipeline/steps/generate/review-plan.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { createTag } from '../../../../src/data/db/sql.ts'
import type { ImpactLevel } from '../../../../src/plan/impact.ts'
import { reportSchemas } from '../../../../src/reports/schemas.ts'
import { interceptRequests } from '../../../helpers/intercept.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { createSteps, type StepWorld } from '../support.ts'

const BROKEN = {
  rule_id: 'r.one',
  severity: 'error',
  resource: 'a.b',
  message: 'Deletes data.',
  suggested_fix: null,
} as const
const review = (passed: boolean, level: ImpactLevel): Review => ({
  compliance: { passed, violations: passed ? [] : [BROKEN], summary: 'A rule was broken.', checked_rules: [] },
  report: v.parse(reportSchemas.generate, {
    summary: {},
    potential_impact: { banner: { level, title: 'Impact', description: 'What happens.' } },
    estimated_costs: {},
  }),
})

describe('lockDecision', () => {
  it.each([
    [true, 'low', true, false],
    [true, 'medium', true, false],
    [true, 'high', true, true],
    [true, 'high', false, null],
    [true, 'low', false, false],
    [false, 'low', true, true],
    [false, 'high', false, true],
    [false, 'high', true, true],
  ] as const)('audit passed %s, banner %s, gate %s: %s', (passed, level, gate, expected) => {
    expect(lockDecision(review(passed, level), gate)).toBe(expected)
  })
})

describe('decideLock', () => {
  const server = interceptRequests()
  const steps = startOnce(createSteps)

  /** Makes a round whose notifications go to a sidecar. Returns those that were sent. */
  const worldWithNotifications = async (block_on_high_impact: boolean) => {
    const sent: Record<string, unknown>[] = []
    server.use(
      http.post('http://notify.example.org/v1/notify', async ({ request }) => {
        sent.push((await request.json()) as Record<string, unknown>)
        return HttpResponse.json({ delivery_id: crypto.randomUUID() }, { status: 202 })
      }),
    )
    const world = await steps.world({
      orchestration: { block_on_high_impact },
      context: { fetch: (input, init) => fetch(input, init) },
    })
    const service = { enabled: true, endpoint: 'http://notify.example.org', token: 't' }
    Object.assign(world.run.context.config.services.notifications, service)
    return { world, sent }
  }
  const isBlocked = async ({ run }: StepWorld) => {
    const [row] = await steps.database.sql`SELECT is_blocked FROM sessions WHERE id = ${run.round.session.id}`
    return row?.is_blocked
  }
  const setLock = ({ run }: StepWorld) =>
    steps.database.sql`UPDATE sessions SET is_blocked = true WHERE id = ${run.round.session.id}`

  it('locks once and notifies for each gate', async () => {
    const { world, sent } = await worldWithNotifications(true)
    await decideLock(world.kit, review(false, 'high'))
    expect(await isBlocked(world)).toBe(true)
    const [entry] = await steps.database.sql`
      SELECT detail FROM audit_records WHERE session_uuid = ${world.run.round.session.uuid} AND action = 'session_locked'`
    expect(entry?.detail).toEqual({
      round: 1,
      reason: 'Compliance. r.one at a.b: Deletes data. High impact. Impact: What happens.',
    })
    const [session] = await steps.database.sql`SELECT lock FROM sessions WHERE id = ${world.run.round.session.id}`
    expect(session?.lock).toEqual({
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+\.\d{6}Z$/),
      reasons: [
        { gate: 'compliance', what: 'r.one at a.b: Deletes data.', by: 'platform', round: 1 },
        { gate: 'impact', what: 'Impact: What happens.', by: 'platform', round: 1 },
      ],
    })
    expect(new Map(sent.map(({ kind, body }) => [kind, body]))).toEqual(
      new Map([
        ['iac.compliance.failed', 'A rule was broken.'],
        ['iac.impact.high', 'Impact\n\nWhat happens.'],
      ]),
    )
  })

  it('tells the request without sensitive values', async () => {
    const { world, sent } = await worldWithNotifications(true)
    world.run.round.session.first_query = 'A database with password S3cret-Passw0rd!'
    world.kit.secrets.add(['S3cret-Passw0rd!'])
    await decideLock(world.kit, review(false, 'high'))
    expect(sent).toHaveLength(2)
    expect(sent).toMatchObject([{ context: { request: `A database with password ${MASK}` } }, {}])
    expect(JSON.stringify(sent)).not.toContain('S3cret')
  })

  it('unlocks a session that passes, an administrator’s lock included', async () => {
    const { world, sent } = await worldWithNotifications(true)
    await setLock(world)
    await decideLock(world.kit, review(true, 'medium'))
    expect(await isBlocked(world)).toBe(false)
    expect(sent).toEqual([])
  })

  it('leaves the lock as it is for a high impact with the gate off', async () => {
    const { world, sent } = await worldWithNotifications(false)
    await setLock(world)
    await decideLock(world.kit, review(true, 'high'))
    expect(await isBlocked(world)).toBe(true)
    expect(sent).toEqual([])
  })

  it('goes on when the sidecar refuses', async () => {
    const { world } = await worldWithNotifications(true)
    server.use(http.post('http://notify.example.org/v1/notify', () => new HttpResponse(null, { status: 500 })))
    await decideLock(world.kit, review(false, 'low'))
    expect(await isBlocked(world)).toBe(true)
  })

  it('fails with the text of the contract when the write fails, and notifies nobody', async () => {
    const { world, sent } = await worldWithNotifications(true)
    const failing = createTag(() => Promise.reject(new Error('connection closed')))
    world.run.context.sql = Object.assign(failing, world.run.context.sql)
    await expect(decideLock(world.kit, review(false, 'low'))).rejects.toMatchObject({
      code: 'SetLockError',
      message: 'Error updating DB session lock.',
      status: 500,
    })
    expect(sent).toEqual([])
  })
})
