import { describe, expect, it } from 'vitest'
import { createLogger } from '../../src/base/log.ts'
import { createMasker } from '../../src/base/masking.ts'
import type { Sql } from '../../src/data/db/sql.ts'
import { openEventLog } from '../../src/events/event-log.ts'
import { deleteOldEvents } from '../../src/events/log-rows.ts'
import { claimForRun } from '../../src/rounds/claim.ts'
import { eventually } from '../helpers/eventually.ts'
import { useEventLogs } from './support.ts'

const world = useEventLogs()

const lines = (text: string) => ({ type: 'lines', step: 'plan', job_id: 'j', stream: 'stdout', text }) as const
const began = (chain: string) => ({ type: 'chain.began', chain }) as const
const SECRET = 'planted-secret-0123456789'

/** Wraps a pool so that `before` is called ahead of each statement of an event log. */
const intercepted = (before: (text: string) => void): Sql =>
  new Proxy(world.db.sql, {
    apply(target, that, args) {
      const query = Reflect.apply(target, that, args)
      const text = Array.isArray(args[0]) ? args[0].join('?') : ''
      if (!text.includes('round_events')) return query
      return (async () => {
        before(text)
        return await query
      })()
    },
  })

describe('storing', () => {
  it('keeps the order of both channels and stores the first event without waiting for more', async () => {
    const { uuid, eventLog } = await world.run()
    eventLog.activity(began('A'))
    await eventually(async () => expect(await world.stored(uuid)).toHaveLength(1))
    eventLog.output({ type: 'step.began', step: 'plan', job_id: 'j' })
    for (let index = 0; index < 500; index++) eventLog.activity(began(`C${index}`))
    await eventLog.close()
    const stored = await world.stored(uuid)
    expect(stored).toHaveLength(502)
    expect(stored[1]).toEqual({ channel: 'output', type: 'step.began', step: 'plan', job_id: 'j' })
    expect(stored.slice(2)).toEqual(
      Array.from({ length: 500 }, (_, index) => ({ channel: 'activity', type: 'chain.began', chain: `C${index}` })),
    )
  })

  it('puts what comes during a write into few statements', async () => {
    let statements = 0
    const sql = intercepted(() => statements++)
    const { uuid, round } = await world.run()
    const eventLog = openEventLog(sql, round, { log: world.context.log, mask: (text) => text })
    for (let index = 0; index < 400; index++) eventLog.activity(began(`C${index}`))
    await eventLog.close()
    expect(await world.stored(uuid)).toHaveLength(400)
    expect(statements).toBe(2)
  })

  it('drops NUL and lone surrogates, cuts long lines and splits long output at its lines', async () => {
    const { uuid, eventLog } = await world.run()
    eventLog.activity(began('a\0b\ud800c'))
    eventLog.output(lines(`${'x'.repeat(100_000)}\nshort\0\n`))
    const many = Array.from({ length: 3_000 }, (_, index) => `line ${index}`).join('\n')
    eventLog.output(lines(`${many}\n`))
    await eventLog.close()
    const [first, long, ...rest] = (await world.stored(uuid)) as { chain?: string; text?: string }[]
    expect(first?.chain).toBe('ab\ufffdc')
    expect(long?.text).toBe(`${'x'.repeat(1_999)}…\nshort\n`)
    expect(rest.length).toBeGreaterThan(2)
    expect(rest.every(({ text = '' }) => text.length <= 8_001 && text.endsWith('\n'))).toBe(true)
    expect(rest.map(({ text }) => text).join('')).toBe(`${many}\n`)
  })

  it('stores nothing after its end', async () => {
    const { uuid, eventLog } = await world.run()
    await eventLog.close()
    eventLog.activity(began('late'))
    await eventLog.close()
    expect(await world.stored(uuid)).toEqual([])
  })
})

describe('masking', () => {
  it('hides secrets that are known from the start and those that are learned later, in every text', async () => {
    const late = 'learned-late-9876543210'
    const { uuid, eventLog } = await world.run({ mask: createMasker([SECRET]).text })
    eventLog.maskWith(createMasker([late]).text)
    eventLog.activity({ type: 'file.written', path: `${SECRET}/main.tf`, lines_added: 1, lines_removed: 0 })
    eventLog.activity({ type: 'round.cancelling', by: late })
    eventLog.activity({ type: 'rule.found', rule: SECRET, severity: 'error', address: `a["${late}"]` })
    eventLog.output({ type: 'step.began', step: SECRET, job_id: late })
    eventLog.output(lines(`token = "${SECRET}"\nother ${late}\n`))
    // Neither a dropped character nor a cut leaves part of a secret.
    eventLog.output(lines(`${SECRET.slice(0, 9)}\0${SECRET.slice(9)}\n${'y'.repeat(1_990)}${SECRET}\n`))
    eventLog.activity({ ...began(`${'z'.repeat(490)}${SECRET}`) })
    await eventLog.close()
    const text = JSON.stringify(await world.stored(uuid))
    for (const secret of [SECRET, late])
      for (let at = 0; at + 9 <= secret.length; at++) expect(text).not.toContain(secret.slice(at, at + 9))
    expect(text).toContain('(sensitive value)/main.tf')
    expect(text).toContain('"round.cancelling"')
  })

  it('uses what was learned while an event still waited', async () => {
    const { uuid, eventLog } = await world.run()
    eventLog.output(lines(`key ${SECRET}\n`))
    eventLog.maskWith(createMasker([SECRET]).text)
    await eventLog.close()
    expect(JSON.stringify(await world.stored(uuid))).not.toContain(SECRET)
  })
})

describe('the limits of a round', () => {
  const limits = { activity: { rows: 3, bytes: 10_000 }, output: { rows: 100, bytes: 1_000 } }
  const types = async (uuid: string) => (await world.stored(uuid)).map(({ type }) => type)

  it('count events, say once that they are reached and let ends and cancellations through', async () => {
    const { uuid, eventLog } = await world.run({ limits })
    for (let index = 0; index < 10; index++) eventLog.activity(began(`C${index}`))
    eventLog.activity({ type: 'chain.ended', chain: 'C0', outcome: 'ok', seconds: 1 })
    eventLog.activity(began('late'))
    eventLog.activity({ type: 'round.cancelling', by: 'ada' })
    await eventLog.close()
    expect(await types(uuid)).toEqual([...Array(3).fill('chain.began'), 'cut', 'chain.ended', 'round.cancelling'])
    expect((await world.stored(uuid))[3]).toMatchObject({ limit: 'rows' })
  })

  it('count bytes, each channel for itself', async () => {
    const { uuid, eventLog } = await world.run({ limits })
    eventLog.output(lines(`${'ö'.repeat(600)}\n`))
    eventLog.output({ type: 'step.ended', step: 'plan', job_id: 'j', exit_code: 0, seconds: 1 })
    eventLog.activity(began('A'))
    await eventLog.close()
    expect(await types(uuid)).toEqual(['cut', 'step.ended', 'chain.began'])
    expect((await world.stored(uuid))[0]).toMatchObject({ channel: 'output', limit: 'bytes' })
  })

  it('hold also for what comes through after them', async () => {
    const { uuid, eventLog } = await world.run({ limits })
    for (let index = 0; index < 2_000; index++)
      eventLog.activity({ type: 'chain.ended', chain: 'C', outcome: 'ok', seconds: 1 })
    await eventLog.close()
    expect((await world.stored(uuid)).length).toBe(504)
  })

  it('count what an earlier attempt has stored, and keep it', async () => {
    const { uuid, round, eventLog } = await world.run({ limits })
    for (const chain of ['A', 'B', 'C']) eventLog.activity(began(chain))
    await eventLog.close()
    await world.db.sql`UPDATE rounds SET lease_until = now() - interval '1 s' WHERE id = ${round.id}`
    const claim = await claimForRun(world.db.sql, round.id)
    if (!claim) throw new Error('the round could not be claimed')
    const second = openEventLog(world.db.sql, claim, { log: world.context.log, mask: (text) => text, limits })
    second.activity(began('D'))
    await eventually(async () => expect(await types(uuid)).toHaveLength(4))
    second.activity(began('E'))
    await second.close()
    expect(await types(uuid)).toEqual([...Array(4).fill('chain.began'), 'cut'])
  })
})

describe('faults', () => {
  it('writes nothing for a worker that has lost the round', async () => {
    const { uuid, round, eventLog } = await world.run()
    eventLog.activity(began('mine'))
    await eventually(async () => expect(await world.stored(uuid)).toHaveLength(1))
    await world.db.sql`UPDATE sessions SET fence = fence + 1 WHERE id = ${round.session.id}`
    eventLog.activity(began('stale'))
    await eventLog.close()
    expect(await world.stored(uuid)).toHaveLength(1)
  })

  it('logs a failing database once, disturbs nobody and stores everything when it is back', async () => {
    let isDown = true
    const messages: string[] = []
    const log = createLogger({ write: (line) => messages.push(JSON.parse(line).message) })
    const { uuid, round } = await world.run()
    let tries = 0
    const sql = intercepted(() => {
      tries++
      if (isDown) throw new Error('down')
    })
    const eventLog = openEventLog(sql, round, { log, mask: (text) => text })
    for (const chain of ['A', 'B', 'C']) {
      const before = tries
      eventLog.activity(began(chain))
      await eventually(() => expect(tries).toBeGreaterThan(before))
    }
    expect(messages).toHaveLength(1)
    isDown = false
    await eventLog.close()
    expect((await world.stored(uuid)).map((event) => (event as { chain?: string }).chain)).toEqual(['A', 'B', 'C'])
  })

  it('ends although the database never answers', async () => {
    const messages: string[] = []
    const log = createLogger({ write: (line) => messages.push(JSON.parse(line).message) })
    const { round } = await world.run()
    const sql = new Proxy(world.db.sql, { apply: () => new Promise(() => {}) })
    const eventLog = openEventLog(sql, round, { log, mask: (text) => text })
    eventLog.activity(began('A'))
    await eventLog.close()
    expect(messages).toEqual(['the last events of the round were not stored in time'])
  })
})

describe('retention', () => {
  // Events of other tests would be older.
  const own = useEventLogs()

  it('deletes events after thirty days, in batches, and keeps younger ones', async () => {
    const { uuid, round, eventLog } = await own.run()
    for (let index = 0; index < 25; index++) eventLog.activity({ type: 'chain.began', chain: `C${index}` })
    await eventLog.close()
    const context = { sql: own.db.sql, now: () => new Date() }
    const never = new AbortController().signal
    expect(await deleteOldEvents(context, never)).toBe(0)
    await own.db.sql`
      UPDATE round_events SET created_at = now() - interval '31 days'
      WHERE id IN (SELECT id FROM round_events WHERE round_id = ${round.id} ORDER BY id LIMIT 20)`
    expect(await deleteOldEvents(context, AbortSignal.abort(), 5)).toBe(0)
    expect(await deleteOldEvents(context, never, 5)).toBe(20)
    expect(await own.stored(uuid)).toHaveLength(5)
  })
})
