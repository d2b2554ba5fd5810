import { beforeAll, describe, expect, it } from 'vitest'
import { acceptRound } from '../../src/rounds/accept.ts'
import { provideCore } from '../helpers/core.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'

const LISTS = ['/api/v1/sessions/list', '/api/v1/admin/sessions/list', '/api/v1/admin/sessions/summary']
const core = provideCore()
let aws: string
let gcp: string
beforeAll(async () => {
  const other = (await createUser(core.database.sql, 'ann')).id
  aws = await openSession(core.context, core.me)
  await (await runRound(core.context, aws)).finish('completed')
  gcp = await openSession(core.context, core.me, { provider: 'gcp', repo_uri: 'https://github.com/Acme/Other' })
  await openSession(core.context, other, { provider: 'gcp', mode: 'import' })
  await acceptRound(core.context, { session_uuid: aws, mode: 'apply', query: 'q', is_partial: false })
  await (await runRound(core.context, aws)).finish('completed')
})

const get = async (path: string, query: Record<string, string>) => {
  const answer = await core.call('GET', `${path}?${new URLSearchParams(query)}`)
  return { status: answer.status, body: await answer.json() }
}
const found = async (query: Record<string, string>) =>
  (await get('/api/v1/sessions/list', query)).body.items.map(({ uuid }: { uuid: string }) => uuid)

describe('filters of the lists', () => {
  it.each([
    [{ cloud: 'GCP' }, () => [gcp]],
    [{ mode: 'apply' }, () => [aws]],
    [{ mode: 'generate' }, () => [gcp]],
    [{ mode: 'import' }, () => []],
    [{ repo_uri: ' https://github.com/acme/other ' }, () => [gcp]],
    [{ repo_uri: 'https://github.com/acme/othe' }, () => []],
    [{ locked: 'no' }, () => [gcp, aws]],
    [{ locked: '1' }, () => []],
    [{ created_after: '2001-01-01T00:00:00+02:00' }, () => [gcp, aws]],
    [{ created_before: '2001-01-01t00:00:00.1234567z' }, () => []],
    [{ sort: 'created' }, () => [gcp, aws]],
    [{ sort: 'last_activity' }, () => [aws, gcp]],
    [{ cloud: '', mode: '', repo_uri: ' ', locked: '', created_after: '', sort: '' }, () => [gcp, aws]],
  ])('own: %j', async (query, expected) => {
    expect(await found(query as Record<string, string>)).toEqual(expected())
  })

  it('take a moment to the microsecond', async () => {
    const [row] = await core.database.sql<{ created_at: string }[]>`
      SELECT created_at FROM sessions WHERE uuid = ${gcp}`
    const at = row?.created_at ?? ''
    expect(await found({ created_after: at })).toEqual([gcp])
    expect(await found({ created_before: at })).toEqual([aws])
  })

  it('count what they find', async () => {
    const { body } = await get('/api/v1/admin/sessions/summary', {})
    expect(body).toMatchObject({ total: 3, in_flight: 2, locked: 0, statuses: { completed: 1, started: 2, failed: 0 } })
    const cloud = await get('/api/v1/admin/sessions/summary', { cloud: 'gcp', user_email: 'ann@' })
    expect(cloud.body).toMatchObject({ total: 1, in_flight: 1, statuses: { started: 1, completed: 0 } })
    expect((await get('/api/v1/admin/sessions/summary', { search: 'other' })).body.total).toBe(1)
  })

  it.each([
    ['cloud', 'nimbus'],
    ['mode', 'plan'],
    ['repo_uri', 'http://github.com/acme/x'],
    ['repo_uri', 'https://user:pw@github.com/acme/x'],
    ['locked', 'perhaps'],
    ['created_after', '2026-01-01'],
    ['created_after', '2026-01-01T00:00:00'],
    ['created_after', '2026-02-30T00:00:00Z'],
    ['created_before', '2026-01-01T25:00:00Z'],
    ['created_before', '0000-01-01T00:00:00Z'],
    ['created_before', '9999-12-31T23:59:59-14:00'],
    ['created_before', 'infinity'],
  ])('refuse %s=%s by name', async (name, value) => {
    for (const path of LISTS) {
      const { status, body } = await get(path, { [name]: value })
      expect([status, body.detail.map(({ loc }: { loc: unknown }) => loc)], path).toEqual([422, [['query', name]]])
      expect(JSON.stringify(body)).not.toContain('pw@')
    }
  })

  it('refuse an unknown order by name', async () => {
    const { status, body } = await get('/api/v1/sessions/list', { sort: 'name' })
    expect([status, body.detail[0].loc]).toEqual([422, ['query', 'sort']])
  })
})
