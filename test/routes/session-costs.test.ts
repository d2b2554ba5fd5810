import { beforeAll, describe, expect, it } from 'vitest'
import { acceptRound } from '../../src/rounds/accept.ts'
import { provideCore } from '../helpers/core.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'

const OWN = '/api/v1/sessions/list'
const ALL = '/api/v1/admin/sessions/list'
const SUMMARY = '/api/v1/admin/sessions/summary'
const USAGE = { engine_s: 2.5, model_s: 1.25, input_tokens: 100, cached_tokens: 40, output_tokens: 10 }
const core = provideCore()
const uuids: Record<string, string> = {}

async function end(uuid: string, usage: object | null): Promise<void> {
  await (await runRound(core.context, uuid)).finish('completed')
  await core.database.sql`
    UPDATE rounds SET usage = ${usage === null ? null : JSON.stringify(usage)}::jsonb
    WHERE id = (SELECT max(r.id) FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid})`
}
const goOn = (session_uuid: string) =>
  acceptRound(core.context, { session_uuid, mode: 'generate', query: 'q', is_partial: false })

beforeAll(async () => {
  const ann = (await createUser(core.database.sql, 'ann')).id
  uuids.known = await openSession(core.context, core.me)
  await end(uuids.known, { ...USAGE, cost_usd: 0.1 })
  await goOn(uuids.known)
  await end(uuids.known, { ...USAGE, cost_usd: 0.2 })
  await goOn(uuids.known) // It waits, and counts for nothing yet.
  uuids.unpriced = await openSession(core.context, core.me)
  await end(uuids.unpriced, { ...USAGE, cost_usd: 0.5 })
  await goOn(uuids.unpriced)
  await end(uuids.unpriced, { ...USAGE, cost_usd: null })
  uuids.unmeasured = await openSession(core.context, ann, { provider: 'gcp' })
  await end(uuids.unmeasured, null)
  uuids.waiting = await openSession(core.context, ann, { provider: 'gcp' })
  uuids.cancelled = await openSession(core.context, core.me)
  await core.call('POST', '/api/v1/iac/cancel', { json: { session_id: uuids.cancelled } })
})

const get = async (path: string, query = '') => {
  const answer = await core.call('GET', `${path}?${query}`)
  return { status: answer.status, body: await answer.json() }
}
const costs = async (path: string, query: string) => {
  const { body } = await get(path, query)
  const name = (uuid: string) => Object.keys(uuids).find((each) => uuids[each] === uuid)
  return Object.fromEntries(
    body.items.map(({ uuid, cost_usd }: { uuid: string; cost_usd: unknown }) => [name(uuid), cost_usd]),
  )
}

describe('the cost in lists of sessions', () => {
  it('is the sum over the finished rounds, and null where one of them is not known', async () => {
    const own = { known: 0.3, unpriced: null, cancelled: 0 }
    expect(await costs(OWN, 'include_cost=true')).toEqual(own)
    expect(await costs(ALL, 'include_cost=1')).toEqual({ ...own, unmeasured: null, waiting: null })
    expect(await costs(ALL, 'include_cost=true&search=bucket&sort=last_activity')).toMatchObject({ known: 0.3 })
    expect(await costs(ALL, 'include_cost=true&cloud=gcp&page_size=1')).toEqual({ waiting: null })
  })

  it.each([OWN, ALL])('is not in %s without the parameter', async (path) => {
    for (const query of ['', 'include_cost=false', 'include_cost=']) {
      const { body } = await get(path, query)
      expect(body.items.length).toBeGreaterThan(2)
      for (const item of body.items) expect(Object.keys(item)).not.toContain('cost_usd')
    }
  })

  it('refuses another value by its name', async () => {
    const { status, body } = await get(OWN, 'include_cost=perhaps')
    expect([status, body.detail[0].loc]).toEqual([422, ['query', 'include_cost']])
  })
})

describe(`GET ${SUMMARY}`, () => {
  it('sums what the rounds took', async () => {
    const { body } = await get(SUMMARY)
    expect(body.spend_30_days).toEqual({
      rounds: 6,
      cost_usd: 0.8,
      rounds_of_unknown_cost: 2,
      input_tokens: 400,
      cached_tokens: 160,
      output_tokens: 40,
      engine_s: 10,
      model_s: 5,
    })
    const { body: others } = await get(SUMMARY, 'user_email=ann@')
    expect(others.spend_30_days).toMatchObject({ rounds: 1, cost_usd: 0, rounds_of_unknown_cost: 1, input_tokens: 0 })
    const searched = (await get(SUMMARY, `search=${uuids.known}`)).body
    expect(searched.spend_30_days).toMatchObject({ rounds: 2, cost_usd: 0.3 })
    expect((await get(SUMMARY, 'status=failed')).body.spend_30_days).toMatchObject({ rounds: 0, cost_usd: 0 })
  })

  it('leaves out what ended earlier', async () => {
    const { sql } = core.database
    await sql`UPDATE rounds SET finished_at = finished_at - interval '31 days' WHERE usage->>'cost_usd' = '0.5'`
    expect((await get(SUMMARY)).body.spend_30_days).toMatchObject({ rounds: 5, cost_usd: 0.3 })
  })

  it('says what waits, and since when', async () => {
    const { body } = await get(SUMMARY)
    const [oldest] = await core.database.sql<{ at: string }[]>`
      SELECT min(created_at) AS at FROM rounds WHERE finished_at IS NULL`
    expect(body).toMatchObject({ waiting: 2, oldest_waiting_at: oldest?.at })
    await runRound(core.context, uuids.known ?? '')
    expect((await get(SUMMARY)).body.waiting).toBe(1)
    expect((await get(SUMMARY, 'cloud=aws')).body).toMatchObject({ waiting: 0, oldest_waiting_at: null })
    expect((await get(SUMMARY, 'search=bucket')).body.waiting).toBe(1)
  })
})
