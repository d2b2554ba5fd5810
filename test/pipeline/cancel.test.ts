import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ModeHandler, Modes, Run } from '../../pipeline/kit/run.ts'
import { type RoundFrame, runRound } from '../../pipeline/run-round.ts'
import { platformFor } from '../../src/access/audit/record.ts'
import { RoundCancelled } from '../../src/base/errors.ts'
import { STOPPING } from '../../src/data/queue.ts'
import { type CancelWatch, cancelRound, startCancelWatch } from '../../src/rounds/cancel.ts'
import { untilAborted } from '../helpers/until-aborted.ts'
import { claimOf, createSession, lapseLease, useVerbs } from '../sessions/fixtures.ts'
import { allModes, detailOf, fakeFrame, runContext, statusesOf } from './frame.ts'

const { db, context: verbs } = useVerbs()
let cancellations: CancelWatch
beforeAll(async () => {
  cancellations = await startCancelWatch(db.sql, verbs.log)
})
afterAll(() => cancellations.close())

const never = new AbortController().signal
const cancel = (uuid: string) =>
  cancelRound(verbs, { session_uuid: uuid, by: 'ada@example.org', actor: platformFor(null) })
const CANCELLED = ['uncompleted', 'Cancelled by ada@example.org.']

async function run(modes: Modes, options: { uuid?: string; signal?: AbortSignal; frame?: Partial<RoundFrame> } = {}) {
  const uuid = options.uuid ?? (await createSession(verbs))
  const fake = fakeFrame()
  const round_id = (await detailOf(verbs, uuid)).rounds[0]?.id ?? 0
  const frame = { ...fake.frame, ...options.frame }
  await runRound(runContext(verbs), round_id, modes, options.signal ?? never, frame)
  const session = await detailOf(verbs, uuid)
  const statuses = statusesOf(session)
  return { uuid, fake, session: { ...session, statuses, last: statuses.at(-1) } }
}

const mustNotRun = allModes(() => Promise.reject(new Error('must not run')))

/** Makes a mode that cancels its own round, and waits for that. */
const cancelled =
  (seen: (run: Run) => void = () => {}): ModeHandler =>
  async (given) => {
    given.conversation.push({ user: 'q', assistant: 'Built a half.' })
    await cancel(given.round.session.uuid)
    await untilAborted(given.signal)
    seen(given)
    throw new Error('cancelled in the middle')
  }

describe('a round that is cancelled', () => {
  it.each([
    ['is notified', true],
    ['reads it at the extension of its lease when the notification is lost', false],
  ])('%s, and ends uncompleted with what there is', async (_, isNotified) => {
    const reasons: unknown[] = []
    const { fake, session } = await run(allModes(cancelled((given) => reasons.push(given.signal.reason))), {
      frame: isNotified ? { cancellations } : {},
    })
    expect(reasons).toEqual([new RoundCancelled('ada@example.org')])
    expect(session).toMatchObject({
      in_flight: false,
      current_status: 'uncompleted',
      history: [{ user: 'q', assistant: 'Built a half.\n\nCancelled by ada@example.org.' }],
    })
    expect(session.statuses).toEqual([['started', null], CANCELLED])
    expect(session.rounds[0]?.usage).toMatchObject({ input_tokens: 0 })
    expect(fake.state).toEqual({ opened: 1, disposed: 1 })
    expect(fake.told).toEqual([])
  })

  it('keeps its working copy until its engine job has ended', async () => {
    const order: string[] = []
    const fake = fakeFrame()
    const openWorkspace: RoundFrame['openWorkspace'] = async (...given) => {
      const workspace = await fake.frame.openWorkspace(...given)
      return { ...workspace, dispose: async () => void order.push('disposed') }
    }
    const handler = cancelled((given) => {
      const job = new Promise((resolve) => setTimeout(resolve, 30)).then(() => order.push('job ended'))
      given.cancellation?.jobs.add(job)
    })
    const { session } = await run(allModes(handler), { frame: { openWorkspace, cancellations } })
    expect(session.last).toEqual(CANCELLED)
    expect(order).toEqual(['job ended', 'disposed'])
  })

  it('ends cancelled although its work was done or failed when it was cancelled', async () => {
    for (const work of ['completes', 'fails']) {
      const { session, fake } = await run(
        allModes(async ({ round }) => {
          await cancel(round.session.uuid)
          if (work === 'fails') throw new Error('broken')
          return { status: 'completed' }
        }),
      )
      expect(session.last).toEqual(CANCELLED)
      expect(fake.told).toEqual([])
    }
  })

  it('while its working copy is made ends without one', async () => {
    const openWorkspace: RoundFrame['openWorkspace'] = async (round, { signal }) => {
      await cancel(round.session.uuid)
      await untilAborted(signal)
      throw new Error('git was stopped')
    }
    const { session } = await run(mustNotRun, { frame: { openWorkspace, cancellations } })
    expect(session.last).toEqual(CANCELLED)
  })

  it('is handed back by a worker that stops, and the next worker ends it without starting it', async () => {
    const stop = new AbortController()
    const first = await run(
      allModes(async ({ round, cancellation }) => {
        await cancel(round.session.uuid)
        cancellation?.jobs.add(untilAborted(stop.signal))
        stop.abort(STOPPING)
        throw new Error('stopped')
      }),
      { signal: stop.signal, frame: { cancellations } },
    )
    expect(first.session).toMatchObject({ in_flight: true })
    const { session, fake } = await run(mustNotRun, { uuid: first.uuid })
    expect(session.last).toEqual(CANCELLED)
    expect(fake.state).toEqual({ opened: 0, disposed: 0 })
  })

  it('whose worker died is ended by the next one, also after too many interruptions', async () => {
    const uuid = await createSession(verbs)
    const claim = await claimOf(db.sql, uuid)
    await cancel(uuid)
    await lapseLease(db.sql, claim.id)
    await db.sql`UPDATE rounds SET attempts = 9 WHERE id = ${claim.id}`
    const { session } = await run(mustNotRun, { uuid })
    expect(session.statuses).toEqual([['started', null], CANCELLED])
  })

  it('writes nothing when another worker has it', async () => {
    const { session } = await run(
      allModes(async ({ round, signal }) => {
        await cancel(round.session.uuid)
        await untilAborted(signal)
        await lapseLease(db.sql, round.id)
        await claimOf(db.sql, round.session.uuid)
        throw new Error('cancelled in the middle')
      }),
      { frame: { cancellations } },
    )
    expect(session).toMatchObject({ in_flight: true, statuses: [['started', null]] })
  })
})
