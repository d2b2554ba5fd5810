import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { openEventLog } from '../../../src/events/event-log.ts'
import { type CoreProcess, startCoreProcess } from '../../helpers/core-process.ts'
import { startCoreSurroundings } from '../../helpers/core-surroundings.ts'
import { memoryCache } from '../../helpers/memory-cache.ts'
import { createUser, openSession, type Run, runRound } from '../../helpers/sessions.ts'

const CLIENTS = 2_000
const SESSIONS = 40
/** As long as a page waits before it opens a lost stream again. */
const RETRY_MS = 1_000
/** Before the core goes away, while it is away, and after it is back. */
const EVENTS = { before: 5, away: 3, after: 4 }
const ALL = Array.from({ length: EVENTS.before + EVENTS.away + EVENTS.after }, (_, index) => String(index + 1))

let surroundings: Awaited<ReturnType<typeof startCoreSurroundings>>
let core: CoreProcess
const start = (port = '0') => startCoreProcess({ ...surroundings.env, PLATFORM_PORT: port })
beforeAll(async () => {
  surroundings = await startCoreSurroundings()
  core = await start()
})
afterAll(async () => {
  core?.kill()
  await surroundings?.close()
})

/** An event client as browsers have one: it comes back after a loss, with the last id that it has seen. */
class EventClient {
  readonly seen: string[] = []
  refused = 0
  isOver = false
  #last = ''
  #waiting: { count: number; done: () => void } | null = null

  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  /** Reads to the end of the stream; comes back after each loss. */
  async follow(): Promise<void> {
    while (!this.isOver) {
      await this.#connect()
      if (!this.isOver) await sleep(RETRY_MS)
    }
  }

  /** Resolves when the connection has ended, was cut or could not be made. */
  #connect(): Promise<void> {
    return new Promise((resolve) => {
      const headers = this.#last === '' ? {} : { 'last-event-id': this.#last }
      const sent = get(this.url, { agent: false, headers }, (answer) => {
        if (answer.statusCode !== 200) this.refused++
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          const frames = (text + chunk).split('\n\n')
          text = frames.pop() ?? ''
          for (const frame of frames) this.#take(frame)
        })
        answer.on('error', () => {})
        answer.on('close', resolve)
      })
      sent.on('error', () => resolve())
    })
  }

  /** Resolves when so many events were seen. */
  hasSeen(count: number): Promise<void> {
    if (this.seen.length >= count) return Promise.resolve()
    return new Promise((done) => {
      this.#waiting = { count, done }
    })
  }

  #take(frame: string): void {
    this.#last = /^id: (\d+)$/m.exec(frame)?.[1] ?? this.#last
    this.isOver ||= frame.includes('event: end')
    const chain = /"chain":"C(\d+)"/.exec(frame)?.[1]
    if (chain === undefined) return
    this.seen.push(chain)
    if (this.#waiting && this.seen.length >= this.#waiting.count) this.#waiting.done()
  }
}

it(`${CLIENTS} clients at once, after the core was killed, miss no event and get none twice`, async () => {
  const { sql } = surroundings.database
  const context = {
    ...{ sql, cache: memoryCache(), now: () => new Date() },
    queue: { enqueue: async () => {}, healthy: async () => true },
  }
  const { id } = await createUser(sql, 'reader')
  const sessions: { uuid: string; run: Run; tell(from: number, count: number): Promise<void> }[] = []
  for (let index = 0; index < SESSIONS; index++) {
    const uuid = await openSession(context, id)
    const run = await runRound(context, uuid)
    const tell = async (from: number, count: number) => {
      const log = openEventLog(sql, run.round, { log: silentLogger, mask: (text) => text })
      for (let number = from; number < from + count; number++)
        log.activity({ type: 'chain.began', chain: `C${number}` })
      await log.close()
    }
    sessions.push({ uuid, run, tell })
  }
  const tellAll = (from: number, count: number) => Promise.all(sessions.map(({ tell }) => tell(from, count)))
  const { port, origin } = new URL(core.ready.address)
  const clients = Array.from(
    { length: CLIENTS },
    (_, index) => new EventClient(`${origin}/api/v1/events/activity/${sessions[index % SESSIONS]?.uuid}`),
  )

  const following = clients.map((client) => client.follow())
  await tellAll(1, EVENTS.before)
  await Promise.all(clients.map((client) => client.hasSeen(EVENTS.before)))
  core.kill()
  await tellAll(EVENTS.before + 1, EVENTS.away)
  core = await start(port)
  await Promise.all(clients.map((client) => client.hasSeen(EVENTS.before + EVENTS.away)))
  await tellAll(EVENTS.before + EVENTS.away + 1, EVENTS.after)
  for (const { run } of sessions) await run.finish('completed')
  await Promise.all(following)

  expect(clients.reduce((sum, { refused }) => sum + refused, 0)).toBe(0)
  expect(new Set(clients.map(({ seen }) => seen.join(' ')))).toEqual(new Set([ALL.join(' ')]))
}, 180_000)
