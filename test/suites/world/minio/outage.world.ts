import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WITHOUT_STORE } from '../../../../src/data/storage/watch.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { course, document, lastMessage, type Session, startWorld, text, type World } from '../../contract/world.ts'
import { type Relay, startRelay } from './relay.ts'
import { ROOT, startMinio } from './server.ts'
import { startVersitygw } from './versitygw.ts'

const AWAY_MS = 60_000
const LIMIT_MS = 240_000
const AT_LAST = { timeout: LIMIT_MS, interval: 250 }

describe.each([
  ['MinIO', startMinio],
  ['versitygw', startVersitygw],
])('core and worker with %s, which answers 503', (_, startServer) => {
  let server: Awaited<ReturnType<typeof startServer>>
  let relay: Relay
  let world: World
  const startAll = async (storage: object = {}) => {
    world = await startWorld({
      storage: { endpoint_url: relay.url, public_endpoint_url: relay.url, ...storage },
      variables: async () => ({ BUNDLED_ACCESS_KEY: ROOT.access_key, BUNDLED_SECRET_KEY: ROOT.secret_key }),
    })
  }
  beforeAll(async () => {
    server = await startServer()
    relay = await startRelay(server.url)
    await startAll()
  })
  afterAll(async () => {
    await world?.close()
    await relay?.close()
    await server?.close()
  })

  /** Begins a round during which the store goes away as soon as the code is written. */
  async function begin(): Promise<string> {
    world.model.on.task_complete = () => {
      relay.answer(503, 'ServiceUnavailable')
      return undefined
    }
    const answer = await world.call('POST', '/iac/generate', {
      q: 'Add a bucket for logs',
      repo_uri: await world.repository(),
      scope_id: '123456789012',
      engine_providers: 'aws',
    })
    const { session_id } = (await answer.json()) as { session_id: string }
    const before = relay.refused
    await eventually(() => expect(relay.refused).toBeGreaterThan(before))
    return session_id
  }
  const ended = (id: string) =>
    vi.waitFor(async () => {
      const found = await world.session(id)
      expect(found.in_flight).toBe(false)
      return found
    }, AT_LAST)
  const readiness = async () => {
    const answer = await fetch(`${world.url}/readyz`)
    return [answer.status, await answer.json()]
  }
  async function readAll({ rounds }: Session) {
    const [round] = rounds
    expect(await text(round?.plans[0])).toMatch(/^Plan text/)
    expect(await text(round?.code_changes[0])).toContain('logs')
    expect(await document(round?.reports[0])).toHaveProperty('summary')
    expect(await document(round?.compliance_checks[0])).toHaveProperty('violations')
  }

  it(
    'for a minute in the middle of a round, holds it up and loses nothing',
    async () => {
      const id = await begin()
      const back = setTimeout(relay.pass, AWAY_MS)
      try {
        await eventually(async () =>
          expect(await readiness()).toEqual([
            200,
            {
              status: 'degraded',
              parts: { database: 'ok', cache: 'ok', queue: 'ok', storage: 'failed' },
              effects: { storage: WITHOUT_STORE },
            },
          ]),
        )
        expect((await world.session(id)).in_flight).toBe(true)
        expect((await world.call('GET', '/sessions/list')).status).toBe(200)
        const session = await ended(id)
        expect(lastMessage(session)).toBe('GENERATE')
        expect(course(session.rounds[0])).toEqual([
          ...['started', 'filtering', 'generating', 'validating', 'report', 'completed'],
        ])
        // Nothing was begun anew.
        expect(world.sidecar.kinds()).toEqual(['init', 'validate', 'plan', 'show'])
        await readAll(session)
        await eventually(async () => expect((await readiness())[1]).toMatchObject({ status: 'ok' }))
        expect(world.logs().filter(({ level }) => level === 'error')).toEqual([])
        const said = world.logs().filter(({ message }) => String(message).startsWith('the object store '))
        expect(said.map(({ message }) => message).sort()).toEqual([
          'the object store cannot be used',
          'the object store is away or busy, trying again',
          'the object store is back',
        ])
      } finally {
        clearTimeout(back)
        relay.pass()
      }
    },
    LIMIT_MS,
  )

  it(
    'for longer than a worker waits, ends the round with words, and the next session is complete',
    async () => {
      await world.close()
      await startAll({ retry_seconds: 2 })
      const id = await begin()
      const failed = await ended(id)
      relay.pass()
      expect([failed.current_status, lastMessage(failed)]).toEqual([
        'failed',
        expect.stringContaining('The object store cannot be reached.'),
      ])
      world.reset()
      const session = await world.first('generate')
      expect(lastMessage(session)).toBe('GENERATE')
      await readAll(session)
    },
    LIMIT_MS,
  )
})
