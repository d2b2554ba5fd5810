import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { PAGE, replaceStates } from '../../dev/round-states.ts'
import { removeSessions } from '../../src/rounds/removal.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { ROUND_STATES, type RoundState } from '../../src/rounds/state-machine.ts'
import * as exported from '../../src/rounds/transitions.ts'
import { claimOf, createSession, createUser, lapseLease, useVerbs } from '../sessions/fixtures.ts'

const { TRANSITIONS } = exported
type Name = keyof typeof TRANSITIONS
const NAMES = Object.keys(TRANSITIONS) as Name[]
const STATES = Object.keys(ROUND_STATES) as RoundState[]

const { db, context } = useVerbs()

/** A round in some state, with the last claim of a worker. `holder` refers to the project that the round may want. */
interface World {
  claim: ClaimedRound
  holder: ClaimedRound
  project: string
}

const end = { status: 'completed', message: 'GENERATE', commit: null, usage: null, result: null } as const
const cancel = ({ session }: ClaimedRound) => db.sql.begin((tx) => exported.requestCancel(tx, session, 'ada'))
const finish = (round: ClaimedRound, status: 'completed' | 'failed' = 'completed') =>
  db.sql.begin(async (tx) => {
    const fence = (await exported.withdrawRound(tx, round.id)) ?? round.fence
    await exported.endRound(tx, { ...round, fence }, { ...end, status })
  })
const park = ({ claim, project }: World) => exported.parkRound(context, claim, { project_id: project, limitS: 60 })

const ARRANGE: Record<RoundState, (world: World) => Promise<unknown>> = {
  none: async ({ claim }) => {
    claim.id = 0
    claim.session = { ...claim.session, id: 0, uuid: crypto.randomUUID() }
  },
  queued: ({ claim }) => exported.releaseRound(context, claim),
  running: async () => {},
  interrupted: ({ claim }) => lapseLease(db.sql, claim.id),
  saving: ({ claim }) => exported.recordSavedPlan(db.sql, claim, null),
  parked: park,
  cancelling: ({ claim }) => cancel(claim),
  stopping: async ({ claim }) => {
    await exported.releaseRound(context, claim)
    await cancel(claim)
  },
  ended: async ({ claim }) => {
    await cancel(claim)
    await finish(claim)
  },
  failed: ({ claim }) => finish(claim, 'failed'),
}

/** Runs of each transition by the holder of the claim. */
const RUN: Record<Name, (world: World) => Promise<unknown>> = {
  openSession: async ({ claim }) => {
    const { id: user_id } = await createUser(db.sql)
    const input = { user_id, operation: 'generate', provider: 'aws', repo_uri: 'u', query: 'q' } as const
    await db.sql.begin(async (tx) => {
      const flags = { is_partial: false, preview: false }
      const opened = await exported.openSession(tx, { ...input, ...flags }, tx`nothing AS (SELECT 1)`)
      claim.id = opened.round_id
    })
  },
  openRound: ({ claim }) =>
    db.sql.begin(async (tx) => {
      const input = { session_uuid: claim.session.uuid, mode: 'generate', query: 'q', is_partial: false } as const
      const id = await exported.openRound(tx, input, tx`nothing AS (SELECT 1)`)
      if (id !== null) claim.id = id
    }),
  claimRound: ({ claim }) => db.sql.begin((tx) => exported.claimRound(tx, claim.id)),
  extendLease: ({ claim }) => exported.extendLease(db.sql, claim),
  shortenLeases: async ({ claim, holder }) => {
    // The clock goes back by an hour.
    const ids = [claim.id, holder.id]
    await db.sql`UPDATE applies SET waiting_since = waiting_since + interval '1 hour' WHERE round_id = ANY(${ids})`
    await db.sql`UPDATE rounds SET lease_until = lease_until + interval '1 hour'
      WHERE id = ANY(${ids}) AND lease_until > clock_timestamp()`
    await exported.shortenLeases(db.sql)
    const [late] = await db.sql`SELECT 1 FROM rounds WHERE lease_until > clock_timestamp() + interval '61 seconds'`
    expect(late).toBeUndefined()
  },
  appendStatus: ({ claim }) => exported.appendStatus(db.sql, claim, 'generating', 'x'),
  claimProject: ({ claim }) => exported.claimProject(db.sql, claim, crypto.randomUUID()),
  parkRound: park,
  releaseProject: ({ holder }) => db.sql.begin((tx) => exported.releaseProject(context.queue, tx, holder)),
  recordLockDecision: ({ claim }) => exported.recordLockDecision(db.sql, claim, false, []),
  recordSavedPlan: ({ claim }) => exported.recordSavedPlan(db.sql, claim, null),
  releaseRound: ({ claim }) => exported.releaseRound(context, claim),
  requestCancel: ({ claim }) => cancel(claim),
  withdrawRound: ({ claim }) => db.sql.begin((tx) => exported.withdrawRound(tx, claim.id)),
  endRound: ({ claim }) => finish(claim),
  restoreLock: ({ claim }) => db.sql.begin((tx) => exported.restoreLock(tx, claim)),
  setLock: ({ claim }) => exported.setLock(context, claim.session.uuid, false),
  removeSessions: ({ claim }) => removeSessions(db.sql, [claim.session.id], new Date(Date.now() + 3_600_000)),
}

/** Creates a round in this state, which has locked its session. */
async function createWorld(state: RoundState): Promise<World> {
  const project = crypto.randomUUID()
  const holder = await claimOf(db.sql, await createSession(context))
  await exported.claimProject(db.sql, holder, project)
  const claim = await claimOf(db.sql, await createSession(context))
  await exported.recordLockDecision(db.sql, claim, true, [])
  const world = { claim, holder, project }
  await ARRANGE[state](world)
  expect(await stateOf(claim.id)).toBe(state)
  return world
}

async function stateOf(roundId: number): Promise<RoundState> {
  const [row] = await db.sql<{ state: RoundState }[]>`
    SELECT CASE
      WHEN finished_at IS NOT NULL THEN CASE WHEN s.last_status = 'failed' THEN 'failed' ELSE 'ended' END
      WHEN cancel_requested_at IS NOT NULL THEN CASE WHEN held THEN 'cancelling' ELSE 'stopping' END
      WHEN parked AND lease_until > clock_timestamp() THEN 'parked'
      WHEN held THEN CASE WHEN saving_at IS NULL THEN 'running' ELSE 'saving' END
      WHEN lease_until IS NULL THEN 'queued' ELSE 'interrupted' END AS state
    FROM (
      SELECT *, NOT parked AND coalesce(lease_until > clock_timestamp(), false) AS held FROM rounds WHERE id = ${roundId}
    ) r JOIN sessions s ON s.id = r.session_id`
  return row?.state ?? 'none'
}

/** Reads everything in a session that a transition may write. */
const readAll = ({ claim: { session } }: World) => db.sql`
  SELECT to_jsonb(s) AS session, (SELECT jsonb_agg(r ORDER BY r.id) FROM rounds r WHERE r.session_id = s.id) AS rounds,
    (SELECT count(*) FROM statuses t WHERE t.session_id = s.id) AS statuses
  FROM sessions s WHERE s.uuid = ${session.uuid}`

const happens = (name: Name, state: RoundState) => state in TRANSITIONS[name].row.moves
// A new session has no other state to refuse.
const PAIRS = NAMES.flatMap((name) => STATES.map((state) => ({ name, state }))).filter(
  ({ name, state }) => name !== 'openSession' || state === 'none',
)

describe('a transition', () => {
  it.each(PAIRS.filter(({ name, state }) => happens(name, state)))('$name happens in $state', async ({
    name,
    state,
  }) => {
    const world = await createWorld(state)
    if (name === 'openRound' || name === 'removeSessions')
      await exported.setLock(context, world.claim.session.uuid, false)
    const before = await readAll(world)
    await RUN[name](world)
    const { moves, fence } = TRANSITIONS[name].row
    expect([moves[state]].flat()).toContain(await stateOf(world.claim.id))
    if (name !== 'claimProject' && state !== 'none') expect(await readAll(world)).not.toEqual(before)
    const [session] = await db.sql<{ fence: number }[]>`
      SELECT fence FROM sessions WHERE id = (SELECT session_id FROM rounds WHERE id = ${world.claim.id})`
    if (fence?.includes('raised')) expect(session?.fence).toBeGreaterThan(before[0]?.session.fence)
  })

  it.each(PAIRS.filter(({ name, state }) => !happens(name, state)))('$name changes nothing in $state', async ({
    name,
    state,
  }) => {
    const world = await createWorld(state)
    if (name === 'removeSessions') await exported.setLock(context, world.claim.session.uuid, false).catch(() => {})
    const before = await readAll(world)
    await RUN[name](world).catch(() => {})
    expect(await readAll(world)).toEqual(before)
  })

  it.each(
    NAMES.filter((name) => TRANSITIONS[name].row.fence?.includes('checked')),
  )('%s is refused for a worker whose round another one has claimed', async (name) => {
    const world = await createWorld('interrupted')
    await claimOf(db.sql, world.claim.session.uuid)
    const before = await readAll(world)
    await expect(RUN[name](world)).rejects.toThrow('lease')
    expect(await readAll(world)).toEqual(before)
  })
})

describe('the file of transitions', () => {
  it('lists all of them', () => {
    const functions = Object.entries(exported).filter(([, value]) => typeof value === 'function' && 'row' in value)
    expect([...functions.map(([name]) => name), 'removeSessions'].sort()).toEqual([...NAMES].sort())
  })

  it('agrees with the page, which npx node dev/round-states.ts writes', async () => {
    const page = await readFile(PAGE, 'utf8')
    expect(replaceStates(page)).toBe(page)
  })

  it('alone writes who holds a round, and the statuses and locks', async () => {
    const columns = [
      ...['in_flight', 'last_status', 'last_message', 'last_status_at', 'is_blocked', 'fence', 'round_count'],
      ...['last_mode', 'lease_until', 'parked', 'finished_at', 'attempts', 'handed_back', 'saving_at'],
      ...['cancel_requested_at', 'cancelled_by', 'lock_before', 'lock_was', 'lock'],
    ]
    const root = new URL('../../', import.meta.url)
    const writers = new Set<string>()
    for (const room of ['src', 'pipeline', 'routes'])
      for (const file of await readdir(new URL(room, root), { recursive: true })) {
        if (!file.endsWith('.ts') || file.startsWith('data/db/steps/')) continue
        const code = await readFile(new URL(`${room}/${file}`, root), 'utf8')
        const isRow = /\b(INSERT INTO|DELETE FROM) (sessions|rounds|statuses|project_applies)\b/.test(code)
        const updates = [
          ...code.matchAll(/\bUPDATE (?:sessions|rounds)(?: \w+)?\s+SET\s(.*?)(?:WHERE|FROM|RETURNING|`)/gs),
        ]
        const isUpdate = updates.some(([, set = '']) =>
          columns.some((column) => new RegExp(`\\b${column} =`).test(set)),
        )
        if (isRow || isUpdate || /\bUPDATE (statuses|project_applies)\b/.test(code)) writers.add(`${room}/${file}`)
      }
    expect([...writers]).toEqual(['src/rounds/removal.ts', 'src/rounds/transitions.ts'])
  })
})
