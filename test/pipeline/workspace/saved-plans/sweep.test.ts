import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { startSweeper, sweep } from '../../../../pipeline/sweeper.ts'
import { sweepWorkspaces } from '../../../../pipeline/workspace/saved-plans/sweep.ts'
import { createLogger } from '../../../../src/base/log.ts'
import type { TerminalStatus } from '../../../../src/base/vocabulary.ts'
import type { Context } from '../../../../src/context.ts'
import { acceptRound } from '../../../../src/rounds/accept.ts'
import { finishRound } from '../../../../src/rounds/finish.ts'
import { recordSavedPlan } from '../../../../src/rounds/transitions.ts'
import { readStandings } from '../../../../src/sessions/find.ts'
import { load } from '../../../config/support.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { SAVED_PLAN } from '../../../helpers/sessions.ts'
import { claimOf, createSession, useVerbs } from '../../../sessions/fixtures.ts'

const { db, context: verbs } = useVerbs()
const config = await load(null)
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sweep-'))
  return () => rm(folder, { recursive: true, force: true })
})

const HOUR = 3_600_000
const lines: Record<string, unknown>[] = []
const log = createLogger({ write: (line) => lines.push(JSON.parse(line)) })

/** Makes a context at `hours` after now, by the clock of the sweep. */
function contextAt(
  hours: number,
  storage: Partial<Context['storage']> = {},
): Parameters<typeof sweep>[0] & { deleted: string[] } {
  const deleted: string[] = []
  lines.length = 0
  return {
    deleted,
    sql: db.sql,
    cache: verbs.cache,
    fetch,
    log,
    now: () => new Date(Date.now() + hours * HOUR),
    config: { ...config, paths: { ...config.paths, upload_folder: folder, git_folder: `${folder}-git` } },
    storage: { ...verbs.storage, delete: async (key) => void deleted.push(key), ...storage },
  }
}
const never = new AbortController().signal
const sweepAt = (hours: number) => sweep(contextAt(hours), never)

/** Creates a session whose first round has ended, with a folder on this disk. */
async function session(
  given: { status?: TerminalStatus | null; seal?: string | null | false; names?: string[] } = {},
): Promise<string> {
  const { status = 'completed', seal = false, names = [] } = given
  const uuid = await createSession(verbs)
  const round = await claimOf(db.sql, uuid)
  if (seal !== false) await recordSavedPlan(db.sql, round, { ...SAVED_PLAN, archive_key: seal })
  if (status) await finishRound(verbs, round, { status, message: '', history: null, commit: null, usage: null })
  for (const name of names) {
    await mkdir(join(folder, uuid, name, 'deep'), { recursive: true })
    await writeFile(join(folder, uuid, name, 'deep', 'main.tf'), '')
  }
  return uuid
}
const namesIn = async (uuid: string) => (await readdir(join(folder, uuid))).sort()
const CLONE = 'c1a2b3c4-0000-4000-8000-000000000000'

describe('a sweep of the disk', () => {
  it('keeps what can still be applied and removes the rest of a finished round', async () => {
    const sealed = await session({ seal: null, names: [CLONE, 'saved-plan', 'saved-plan.old-12345678'] })
    const declined = await session({ status: 'uncompleted', seal: null, names: ['saved-plan'] })
    const unsealed = await session({ names: [CLONE, 'saved-plan'] })
    const failed = await session({ status: 'failed', seal: null, names: ['saved-plan'] })
    await sweepAt(2)
    expect(await namesIn(sealed)).toEqual(['saved-plan'])
    expect(await namesIn(declined)).toEqual(['saved-plan'])
    expect(await namesIn(unsealed)).toEqual([])
    expect(await namesIn(failed)).toEqual([])
    expect(lines).toMatchObject([{ message: 'cleaned up', directories: 5 }])
    expect((await readdir(folder)).sort()).toEqual([sealed, declined, unsealed, failed].sort())
    await sweepAt(4)
    expect((await readdir(folder)).sort()).toEqual([sealed, declined].sort())
  })

  it('keeps the reviewed directory that a crash left aside', async () => {
    const uuid = await session({ seal: null, names: [CLONE, 'saved-plan.old-12345678'] })
    await sweepAt(2)
    expect(await namesIn(uuid)).toEqual(['saved-plan.old-12345678'])
  })

  it('touches nothing that is younger than an hour', async () => {
    const uuid = await session({ status: 'failed', names: [CLONE, 'saved-plan'] })
    await sweepAt(0.9)
    expect(await namesIn(uuid)).toEqual([CLONE, 'saved-plan'])
    expect(lines).toEqual([])
  })

  it('waits a day with a directory in which an engine may still run', async () => {
    const uuid = await session({ status: 'failed', names: ['ended-12345678'] })
    await sweepAt(23)
    expect(await namesIn(uuid)).toEqual(['ended-12345678'])
    await sweepAt(25)
    expect(await namesIn(uuid)).toEqual([])
  })

  it('leaves sessions under way, unknown ones and everything else alone', async () => {
    const running = await session({ status: null, names: [CLONE] })
    const unknown = crypto.randomUUID()
    for (const name of [unknown, 'plugins', 'ABCDEF00-0000-4000-8000-000000000000'])
      await mkdir(join(folder, name, 'inside'), { recursive: true })
    const linked = await session()
    await symlink(join(folder, 'plugins'), join(folder, linked))
    await writeFile(join(folder, await session()), 'a file')
    const before = (await readdir(folder, { recursive: true })).sort()
    await sweepAt(100)
    expect((await readdir(folder, { recursive: true })).sort()).toEqual(before)
    expect(await namesIn(running)).toEqual([CLONE])
    expect(lines).toMatchObject([{ level: 'warn', folders: 1 }])
  })

  it('finishes what an earlier sweep began', async () => {
    await mkdir(join(folder, '.swept-0011223344556677', 'deep'), { recursive: true })
    await sweepAt(0)
    expect(await readdir(folder)).toEqual([])
  })

  it('looks again right before it removes: a round that began meanwhile keeps its files', async () => {
    const uuid = await session({ names: [CLONE, 'saved-plan'] })
    let looks = 0
    const standings = async (uuids: readonly string[]) => {
      if (++looks === 3)
        await acceptRound(verbs, { session_uuid: uuid, mode: 'generate', query: 'More', is_partial: false })
      return await readStandings(db.sql, uuids)
    }
    const options = { standings, now: new Date(Date.now() + 2 * HOUR), log, signal: never }
    expect(await sweepWorkspaces(folder, options)).toMatchObject({ removed: 1 })
    expect(await namesIn(uuid)).toHaveLength(1)
  })

  it('cleans a bounded number of sessions, and nothing once the worker stops', async () => {
    for (let number = 0; number < 3; number++) await session({ names: [CLONE] })
    const standings = (uuids: readonly string[]) => readStandings(db.sql, uuids)
    const options = { standings, now: new Date(Date.now() + 2 * HOUR), log }
    expect(await sweepWorkspaces(folder, { ...options, signal: AbortSignal.abort() })).toMatchObject({ removed: 0 })
    const bounded = { ...options, signal: never, limit: 2 }
    expect(await sweepWorkspaces(folder, bounded)).toMatchObject({ removed: 2 })
    expect(await sweepWorkspaces(folder, bounded)).toMatchObject({ removed: 1 })
  })

  it("removes git's directories of rounds that were killed, and of no round under way", async () => {
    const git = `${folder}-git`
    const ended = await session({ seal: null, names: ['saved-plan'] })
    const running = await session({ status: null })
    for (const uuid of [ended, running]) await mkdir(join(git, uuid, CLONE, 'objects'), { recursive: true })
    await sweepAt(0.9)
    expect(await readdir(join(git, ended))).toEqual([CLONE])
    await sweepAt(2)
    expect(await readdir(join(git, ended))).toEqual([])
    expect(await readdir(join(git, running))).toEqual([CLONE])
    expect(await namesIn(ended)).toEqual(['saved-plan'])
    expect(lines).toMatchObject([{ message: 'cleaned up', directories: 0, git_directories: 1 }])
    await rm(git, { recursive: true })
  })

  it('works on a folder that does not exist yet', async () => {
    await rm(folder, { recursive: true })
    await sweepAt(1)
    expect(lines).toEqual([])
  })
})

describe('stored copies of sessions that failed', () => {
  const keyOf = async (uuid: string) => {
    const [row] = await db.sql<{ archive_key: string | null }[]>`
      SELECT archive_key FROM saved_plans p JOIN sessions s ON s.id = p.session_id WHERE p.ended_at IS NULL AND s.uuid = ${uuid}`
    return row?.archive_key
  }

  it('are deleted once; the others stay', async () => {
    await session({ status: 'failed', seal: 'sessions/a/saved-plans/1.plan' })
    const good = await session({ seal: 'sessions/b/saved-plans/1.plan' })
    const context = contextAt(0)
    await sweep(context, never)
    await sweep(context, never)
    expect(context.deleted).toEqual(['sessions/a/saved-plans/1.plan'])
    expect(await keyOf(good)).toBe('sessions/b/saved-plans/1.plan')
  })

  it('go with the plan of the code before the session', async () => {
    const uuids = [await session({ status: 'failed' }), await session({})]
    await db.sql`UPDATE sessions SET base_plan_key = 'base/' || uuid WHERE uuid = ANY(${uuids}::uuid[])`
    const context = contextAt(0)
    await sweep(context, never)
    await sweep(context, never)
    expect(context.deleted).toEqual([`base/${uuids[0]}`])
  })

  it('are tried again by the next sweep when the store refuses', async () => {
    const uuid = await session({ status: 'failed', seal: 'sessions/c/saved-plans/1.plan' })
    const refuse = () => Promise.reject(new Error('the store is down'))
    await sweep(contextAt(0, { delete: refuse }), never)
    expect(lines).toMatchObject([{ level: 'warn', key: 'sessions/c/saved-plans/1.plan' }])
    expect(await keyOf(uuid)).toBe('sessions/c/saved-plans/1.plan')
    const context = contextAt(0)
    await sweep(context, never)
    expect(context.deleted).toEqual(['sessions/c/saved-plans/1.plan'])
  })
})

describe('the sweeper of a worker', () => {
  it('begins at once, and a sweep that fails is a line in the log', async () => {
    const uuid = await session({ names: [CLONE] })
    const sweeper = startSweeper(contextAt(2))
    await eventually(() => expect(existsSync(join(folder, uuid, CLONE))).toBe(false))
    sweeper.stop()
    await rm(folder, { recursive: true })
    await writeFile(folder, 'no folder')
    const failing = startSweeper(contextAt(2))
    await eventually(() =>
      expect(lines).toMatchObject([{ level: 'warn', message: 'cleaning up failed; it is tried again in an hour' }]),
    )
    failing.stop()
  })
})
