import { beforeAll, expect } from 'vitest'
import { createTestCore } from '../../helpers/core.ts'
import { eventually } from '../../helpers/eventually.ts'
import { interceptRequests } from '../../helpers/intercept.ts'
import { createIssuer } from '../../helpers/issuer.ts'
import { listen } from '../../helpers/listen.ts'
import { createUser, openSession, runRound } from '../../helpers/sessions.ts'
import { readStream, type StreamReader } from '../../helpers/sse.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { attack } from './attack.ts'

const GROUP = 'streams that stay open'
const KINDS = ['subscribe', 'activity', 'output'] as const
const MOST = 4

const server = interceptRequests('bypass')
const core = startOnce(async () => {
  const issuer = await createIssuer()
  server.use(...issuer.handlers)
  const started = await createTestCore({
    yaml: `
oidc: { issuer_url: "${issuer.url}", client_id: core, clock_skew_seconds: 0 }
http: { max_streams_per_user: ${MOST} }`,
  })
  const running = await listen(started.app)
  const close = async () => {
    await started.context.events.close()
    await running.close(1_000)
    await started.close()
  }
  return { ...started, issuer, url: running.url, close }
})
let session: string
beforeAll(async () => {
  const { id } = await createUser(core.database.sql, 'ann')
  session = await openSession(core.context, id)
})

const open = async (kind: (typeof KINDS)[number], token: string, query = '') => {
  const headers = { authorization: `Bearer ${token}` }
  return fetch(`${core.url}/api/v1/events/${kind}/${session}${query}`, { headers })
}

/** Opens a stream of each kind, and returns a function that waits for their ends and returns what came of each. */
async function openAll(token: string) {
  const streams: StreamReader[] = []
  for (const kind of KINDS) {
    const answer = await open(kind, token)
    expect([kind, answer.status]).toEqual([kind, 200])
    streams.push(readStream(answer))
  }
  return () => Promise.all(streams.map((stream) => stream.rest()))
}
const statuses = async (token: string) => {
  const answers = await Promise.all(KINDS.map((kind) => open(kind, token)))
  return answers.map(({ status }) => status)
}

attack(GROUP, 'reading on after the token has run out', async () => {
  const lasting = readStream(await open('subscribe', await core.issuer.token('ann')))
  await lasting.event()
  const token = await core.issuer.token('ann', { exp: Math.floor(Date.now() / 1000) + 3 })
  const ends = await openAll(token)
  const [states = [], ...others] = await ends()
  expect([...new Set(states.map(({ status_msg }) => status_msg)), ...others]).toEqual(['STARTED', [], []])
  expect(await statuses(token)).toEqual([401, 401, 401])
  // The stream of the same user with a token that is valid goes on.
  expect((await lasting.event())?.status_msg).toBe('STARTED')
  await lasting.leave()
  await eventually(() => expect(core.context.events.openStreams).toBe(0))
  return 'the streams end at the next poll, and opening them again is answered with 401'
})

attack(GROUP, 'reading the session of somebody else after the role of the panel has been taken away', async () => {
  const { id } = await createUser(core.database.sql, 'vic', { panel_role: 'viewer' })
  const token = await core.issuer.token('vic')
  const ends = await openAll(token)
  await core.database.sql`UPDATE users SET panel_role = NULL WHERE id = ${id}`
  const [, ...others] = await ends()
  expect(others).toEqual([[], []])
  expect(await statuses(token)).toEqual([403, 403, 403])
  return 'the streams end at the next poll, and opening them again is answered with 403'
})

attack(GROUP, 'more streams of one user than the process can carry', async () => {
  const token = await core.issuer.token('ann')
  const streams: Response[] = []
  for (let count = 0; count < MOST; count++) streams.push(await open(KINDS[count % KINDS.length] ?? 'output', token))
  expect(streams.map(({ status }) => status)).toEqual(Array(MOST).fill(200))
  const refused = await Promise.all(KINDS.map((kind) => open(kind, token)))
  for (const answer of refused) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '10'])
    expect((await answer.json()).detail).toBe(`${MOST} streams of this user are open. Close some, then try again.`)
  }
  await createUser(core.database.sql, 'bob', { panel_role: 'viewer' })
  const other = await open('subscribe', await core.issuer.token('bob'))
  expect(other.status).toBe(200)
  await other.body?.cancel()
  await streams.pop()?.body?.cancel()
  await eventually(async () => {
    const again = await open('subscribe', token)
    await again.body?.cancel()
    expect(again.status).toBe(200)
  })
  for (const { body } of streams) await body?.cancel()
  await (await runRound(core.context, session)).finish('completed', 'over')
  await eventually(() => expect(core.context.events.openStreams).toBe(0))
  return '429 with Retry-After; other users are not held up, and a closed stream makes room'
})
