import { describe, expect, it } from 'vitest'
import type { ModeHandler } from '../../pipeline/kit/run.ts'
import { endOfPreview, runRound } from '../../pipeline/run-round.ts'
import { badRequest, LeaseLost } from '../../src/base/errors.ts'
import { OutboundError } from '../../src/base/http.ts'
import { MASKED_SECRET } from '../../src/base/mask-secrets.ts'
import { createMasker } from '../../src/base/masking.ts'
import { STOPPING } from '../../src/data/queue.ts'
import { untilAborted } from '../helpers/until-aborted.ts'
import { claimOf, createSession, lapseLease, useVerbs } from '../sessions/fixtures.ts'
import { allModes, detailOf, fakeFrame, runContext, statusesOf } from './frame.ts'

const { db, context: verbs } = useVerbs()

const never = new AbortController().signal

async function run(handler: ModeHandler, { signal = never, fake = fakeFrame(), query = 'create a network' } = {}) {
  const uuid = await createSession(verbs, { query })
  const round_id = (await detailOf(verbs, uuid)).rounds[0]?.id ?? 0
  await runRound(runContext(verbs), round_id, allModes(handler), signal, fake.frame)
  const session = await detailOf(verbs, uuid)
  return { uuid, fake, session, statuses: statusesOf(session) }
}

describe('runRound', () => {
  it('ends a completed round with the name of the operation and saves what the run collected', async () => {
    const { uuid, fake, session, statuses } = await run(async (round) => {
      await round.setStatus('filtering', 'looking')
      round.conversation.push({ user: 'q', assistant: 'a' })
      round.observe({
        type: 'inference',
        chain: 'IAC_GENERATOR',
        model: 'openai/x',
        usage: { input_tokens: 5, cached_tokens: 1, output_tokens: 2 },
        durationMs: 40,
        finish: 'stop',
      })
      return { status: 'completed' }
    })
    expect(session).toMatchObject({
      in_flight: false,
      current_status: 'completed',
      history: [{ user: 'q', assistant: 'a' }],
    })
    expect(statuses).toEqual([
      ['started', null],
      ['filtering', 'looking'],
      ['completed', 'GENERATE'],
    ])
    expect(fake.state).toEqual({ opened: 1, disposed: 1 })
    expect(fake.told).toEqual([])
    const [row] =
      await db.sql`SELECT r.usage, s.last_commit, s.reviewed_commit FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid}`
    expect([row?.last_commit, row?.reviewed_commit]).toEqual(['head-1', 'head-1'])
    expect(row?.usage).toMatchObject({ input_tokens: 5, output_tokens: 2, chains: { IAC_GENERATOR: { calls: 1 } } })
  })

  it('keeps the text of a declined round', async () => {
    const { statuses } = await run(async (round) => {
      round.conversation.push({ user: 'q', assistant: 'That is not ours.' })
      return { status: 'uncompleted', message: 'That is not ours.' }
    })
    expect(statuses.at(-1)).toEqual(['uncompleted', 'That is not ours.'])
  })

  it('begins the answer to a request that held a secret with that', async () => {
    const answers: ModeHandler[] = [
      async ({ conversation, round: { query } }) => {
        conversation.push({ user: query, assistant: 'Built.' })
        return { status: 'completed' }
      },
      async ({ conversation, round: { query } }) => {
        conversation.push({ user: query, assistant: 'No.' })
        return { status: 'uncompleted', message: 'No.' }
      },
    ]
    for (const handler of answers) {
      const { session, statuses } = await run(handler, { query: 'A database, password: hunter2!' })
      expect(session.rounds[0]?.query).toBe(`A database, password: ${MASKED_SECRET}`)
      const [turn] = session.history ?? []
      expect(turn?.assistant).toMatch(
        /^The request held what looks like a secret; .*Change it.* secret store .*\n\n\w+\.$/,
      )
      const { status, message } = { status: statuses.at(-1)?.[0], message: statuses.at(-1)?.[1] }
      expect(message).toBe(status === 'completed' ? 'GENERATE' : turn?.assistant)
    }
    const plain = await run(answers[0] ?? expect.fail())
    expect(plain.session.history?.[0]?.assistant).toBe('Built.')
  })

  it('shows the text of a fault of the platform, saves the history and tells about it', async () => {
    const { uuid, fake, session, statuses } = await run(async (round) => {
      round.conversation.push({ user: 'q', assistant: 'half' })
      throw badRequest('Validation loop exceeded.', new Error('detail'))
    })
    expect(session).toMatchObject({
      in_flight: false,
      current_status: 'failed',
      history: [
        { user: 'q', assistant: expect.stringMatching(/^half\n\nrunner failed: Validation loop exceeded\.\n\n/) },
      ],
    })
    const message = 'runner failed: Validation loop exceeded.'
    expect(statuses.at(-1)).toEqual(['failed', message])
    expect(fake.told).toMatchObject([{ session: { uuid }, message }])
    expect(fake.state.disposed).toBe(1)
  })

  it('says in the history of a failed round that a new session is needed, and what stays of this one', async () => {
    const { session } = await run(() => Promise.reject(badRequest('git clone failed')), { query: 'Add a bucket' })
    const [turn, ...more] = session.history ?? []
    expect(more).toEqual([])
    expect(turn?.user).toBe('Add a bucket')
    expect(turn?.assistant).toContain('runner failed: git clone failed')
    expect(turn?.assistant).toContain('open a new session')
    expect(turn?.assistant).toContain(`the branch ${session.workspace.branch} stays`)
  })

  it.each([
    new TypeError('secret path /srv/x'),
    new OutboundError('timeout', 'no answer within 5 s'),
    'a string',
  ])('keeps the text of %s in the log', async (fault) => {
    const before = verbs.lines.length
    const { statuses } = await run(() => Promise.reject(fault))
    expect(statuses.at(-1)).toEqual([
      'failed',
      'runner failed: an unexpected error occurred; the log of the worker has the details.',
    ])
    const text = fault instanceof Error ? fault.message : fault
    expect(JSON.stringify(verbs.lines.slice(before))).toContain(text)
  })

  it('logs errors of libraries without the values that the round has learned', async () => {
    const before = verbs.lines.length
    await run(async (round) => {
      round.eventLog.maskWith(createMasker(['key-of-the-state-store', 'p4ssw0rd']).text)
      round.log.warn('an early word', { error: new Error('no', { cause: { deep: ['p4ssw0rd'] } }) })
      throw new SyntaxError('Invalid regular expression: /key-of-the-state-store|p4ssw0rd/')
    })
    const logged = JSON.stringify(verbs.lines.slice(before))
    expect(logged).toContain('Invalid regular expression: /(sensitive value)|(sensitive value)/')
    expect(logged).not.toMatch(/key-of-the-state-store|p4ssw0rd/)
  })

  it('hands no text of a library to the queue, which would store it', async () => {
    const before = verbs.lines.length
    const fake = fakeFrame()
    fake.frame.notifyFailure = () => Promise.reject(new Error('text of a library'))
    await expect(run(() => Promise.reject(new Error('x')), { fake })).rejects.toThrow(/^the round could not be run$/)
    expect(JSON.stringify(verbs.lines.slice(before))).toContain('text of a library')
  })

  it('begins the round again, and does not fail it, when the database goes away in the middle', async () => {
    const uuid = await createSession(verbs, { query: 'create a network' })
    const round_id = (await detailOf(verbs, uuid)).rounds[0]?.id ?? 0
    const modes = allModes(async ({ round }) => {
      if (round.attempt === 1) await db.sql.begin((tx) => tx`SELECT pg_terminate_backend(pg_backend_pid())`)
      return { status: 'completed' }
    })
    await expect(runRound(runContext(verbs), round_id, modes, never, fakeFrame().frame)).rejects.toThrow()
    expect(await detailOf(verbs, uuid)).toMatchObject({ in_flight: true })
    await lapseLease(db.sql, round_id)
    await runRound(runContext(verbs), round_id, modes, never, fakeFrame().frame)
    expect(statusesOf(await detailOf(verbs, uuid)).map(([status]) => status)).toEqual([
      'started',
      'started',
      'completed',
    ])
  })

  it('fails the round when there is no working copy', async () => {
    const fake = fakeFrame()
    fake.frame.openWorkspace = () => Promise.reject(badRequest("iac_path 'x' is not a directory inside the repository"))
    const { statuses } = await run(async () => ({ status: 'completed' }), { fake })
    expect(statuses.at(-1)).toEqual(['failed', "runner failed: iac_path 'x' is not a directory inside the repository"])
  })

  it('hands the round back when the worker stops', async () => {
    const stop = new AbortController()
    const { uuid, fake, session } = await run(
      async (round) => {
        round.conversation.push({ user: 'lost', assistant: 'lost' })
        stop.abort(STOPPING)
        round.signal.throwIfAborted()
        return { status: 'completed' }
      },
      { signal: stop.signal },
    )
    expect(session).toMatchObject({ in_flight: true, current_status: 'started', history: [] })
    expect(fake.told).toEqual([])
    expect(fake.state.disposed).toBe(1)
    expect(await claimOf(db.sql, uuid)).toMatchObject({ attempt: 2, interruptions: 0 })
  })

  it('ends a round that was done when the worker stopped', async () => {
    const stop = new AbortController()
    const handler: ModeHandler = async () => {
      stop.abort(STOPPING)
      return { status: 'completed' }
    }
    const { session } = await run(handler, { signal: stop.signal })
    expect(session.current_status).toBe('completed')
  })

  it('stops and writes nothing once another worker has the round', async () => {
    let reason: unknown
    const { fake, uuid, session, statuses } = await run(async (round) => {
      await lapseLease(db.sql, round.round.id)
      await claimOf(db.sql, round.round.session.uuid)
      await untilAborted(round.signal)
      reason = round.signal.reason
      throw new Error('cancelled in the middle')
    })
    expect(reason).toBeInstanceOf(LeaseLost)
    expect(session).toMatchObject({ uuid, in_flight: true })
    expect(statuses.map(([status]) => status)).toEqual(['started', 'started'])
    expect(fake.told).toEqual([])
    expect(fake.state.disposed).toBe(1)
  })

  it('does not run a finished round a second time', async () => {
    const { fake, session } = await run(async () => ({ status: 'completed' }))
    const modes = allModes(() => Promise.reject())
    await runRound(runContext(verbs), session.rounds[0]?.id ?? 0, modes, never, fake.frame)
    expect(fake.state.opened).toBe(1)
    expect(await detailOf(verbs, session.uuid)).toEqual(session)
  })

  it('writes the end although the connection broke in the middle', async () => {
    const locked = Promise.withResolvers<void>()
    const { statuses } = await run(async () => {
      void db.sql.begin(async (tx) => {
        await tx`LOCK TABLE statuses IN ACCESS EXCLUSIVE MODE`
        locked.resolve()
        while ((await cutWaiting()) === 0) await tx`SELECT pg_sleep(0.01)`
      })
      await locked.promise
      return { status: 'completed' }
    })
    expect(statuses).toEqual([
      ['started', null],
      ['completed', 'GENERATE'],
    ])
    expect(verbs.lines.map((line) => line.message)).toContain('the end of the round could not be written yet')
  })
})

/** Ends connections that wait for a lock on the statuses. Returns their number. */
async function cutWaiting(): Promise<number> {
  const cut = await db.sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INTO statuses%'`
  return cut.length
}

const kept = { history: [{ user: 'a', assistant: 'b' }], commit: 'c', usage: { tokens: 1 }, result: undefined }

it.each([
  ['completed', 'DRIFT', 'completed', 'DRIFT'],
  ['uncompleted', 'Cancelled by ada@example.org.', 'uncompleted', 'Cancelled by ada@example.org.'],
  ['failed', 'runner failed: git clone failed', 'uncompleted', 'The preview could not be made: git clone failed'],
] as const)('%s with "%s" is saved without traces', (status, message, saved, words) => {
  expect(endOfPreview({ ...kept, status, message })).toEqual({
    status: saved,
    message: words,
    history: null,
    commit: null,
    usage: { tokens: 1 },
  })
})
