import { delay, HttpResponse, http } from 'msw'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { GitConfig } from '../../config/types.ts'
import type { CoreContext } from '../../routes/env.ts'
import type { Mode } from '../../src/base/vocabulary.ts'
import { mergePullRequest } from '../../src/pull-requests/merge.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import type { RoundEnd } from '../../src/rounds/finish.ts'
import { sessionAggregateKey } from '../../src/rounds/round.ts'
import { setLock } from '../../src/rounds/transitions.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { recordPullRequest } from '../../src/sessions/pull-requests.ts'
import { createTestCore, type TestCore } from '../helpers/core.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { controlTotal, movedRefusal, refusalOf, shortenTimers } from './support.ts'

const REPOSITORY = 'https://github.com/Acme/Infra'
const PULLS = 'https://api.github.com/repos/Acme/Infra/pulls'
const server = interceptRequests()
let core: TestCore
let user_id: number

beforeAll(async () => {
  core = await createTestCore()
  user_id = (await createUser(core.context.sql, 'owner')).id
})
afterEach(() => void vi.unstubAllGlobals())
afterAll(() => core.close())

/** Creates a session whose round has ended, with these pull requests in the order of their opening. */
async function sessionWith(numbers: number[], repo_uri = REPOSITORY): Promise<string> {
  const uuid = await openSession(core.context, user_id, { repo_uri })
  await (await runRound(core.context, uuid)).finish('completed', 'GENERATE')
  for (const number of numbers)
    await recordPullRequest(core.context, uuid, { provider: 'GITHUB', number, url: `${REPOSITORY}/pull/${number}` })
  return uuid
}
const withGit = (changes: Partial<GitConfig>): CoreContext => ({
  ...core.context,
  config: { ...core.context.config, git: { ...core.context.config.git, ...changes } },
})

/** Opens a round of a session and ends it with `end`; without it the round continues. */
async function nextRound(uuid: string, mode: Mode, end?: { status: RoundEnd['status']; commit?: string }) {
  await acceptRound(core.context, { session_uuid: uuid, mode, query: 'Go on', is_partial: false })
  if (end) await (await runRound(core.context, uuid)).finish(end.status, '', undefined, end.commit)
}
const refusal = (uuid: string) => refusalOf(mergePullRequest(core.context, uuid))
const refusedAs = (message: string) => ({ status: 409, message })

/** Answers every reading and every merge, and records method and number. Other calls fail the test. */
function provider(
  read: () => Response | Promise<Response> = () => HttpResponse.json({ state: 'open', mergeable: true }),
) {
  const calls: string[] = []
  server.use(
    http.get(PULLS.replace('/pulls', ''), () => HttpResponse.json({ allow_merge_commit: true })),
    http.get(`${PULLS}/:number`, async ({ params }) => {
      calls.push(`GET ${params.number}`)
      return read()
    }),
    http.put(`${PULLS}/:number/merge`, ({ params }) => {
      calls.push(`PUT ${params.number}`)
      return HttpResponse.json({ merged: true, sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e', message: '' })
    }),
  )
  return calls
}
const blocked = (uuid: string) => ({ status: 409, message: `Session ${uuid} is blocked; PR merge is not allowed.` })

describe('what may be merged', () => {
  const REVIEWED = '1'.repeat(40)
  const at = (sha: string) => () => HttpResponse.json({ state: 'open', mergeable: true, head: { sha } })

  /** Creates a session with a pull request whose first round ended with this status. */
  async function endedAs(status: RoundEnd['status'], commit?: string): Promise<string> {
    const uuid = await openSession(core.context, user_id, { repo_uri: REPOSITORY })
    await (await runRound(core.context, uuid)).finish(status, '', undefined, commit)
    await recordPullRequest(core.context, uuid, { provider: 'GITHUB', number: 4, url: `${REPOSITORY}/pull/4` })
    return uuid
  }

  it('is nothing while a round waits or runs', async () => {
    const uuid = await endedAs('completed', REVIEWED)
    await nextRound(uuid, 'generate')
    const running = refusedAs(`A round of session ${uuid} is running; PR merge is not allowed until it has completed.`)
    expect(await refusal(uuid)).toEqual(running)
    const run = await runRound(core.context, uuid)
    expect(await refusal(uuid)).toEqual(running)
    await run.finish('completed', '', undefined, REVIEWED)
    expect(provider(at(REVIEWED))).toEqual([])
    await mergePullRequest(core.context, uuid)
  })

  it('is nothing when a round begins while the provider makes up its mind', async () => {
    const uuid = await endedAs('completed', REVIEWED)
    const calls = provider(async () => {
      await nextRound(uuid, 'generate')
      return at(REVIEWED)()
    })
    expect((await refusal(uuid)).message).toContain('is running')
    expect(calls).toEqual(['GET 4'])
  })

  it.each(['generate', 'apply'] as const)('is nothing after a %s round that failed', async (mode) => {
    const uuid = await endedAs('completed', REVIEWED)
    await nextRound(uuid, mode, { status: 'failed' })
    expect(await refusal(uuid)).toEqual(
      refusedAs(`The last round of session ${uuid} failed; PR merge is not allowed. Begin a new session.`),
    )
  })

  it('is nothing before a round has completed', async () => {
    const uuid = await endedAs('uncompleted', REVIEWED)
    expect(await refusal(uuid)).toEqual(
      refusedAs(`No round of session ${uuid} has completed; PR merge is not allowed.`),
    )
  })

  it('is the commit of the last completed round, also after an apply and after a declined request', async () => {
    const uuid = await endedAs('completed', REVIEWED)
    await nextRound(uuid, 'apply', { status: 'completed' })
    await nextRound(uuid, 'generate', { status: 'uncompleted', commit: '2'.repeat(40) })
    provider(at('2'.repeat(40)))
    expect(await refusal(uuid)).toEqual(movedRefusal(4, REVIEWED))
    const calls = provider(at(REVIEWED))
    await mergePullRequest(core.context, uuid)
    expect(calls).toEqual(['GET 4', 'PUT 4'])
  })

  it('is whatever the branch holds where the session is older than the rule, until its next completed round', async () => {
    const uuid = await endedAs('completed', REVIEWED)
    await core.context.sql`UPDATE sessions SET reviewed_commit = NULL WHERE uuid = ${uuid}`
    provider(at('2'.repeat(40)))
    await mergePullRequest(core.context, uuid)
    await nextRound(uuid, 'generate', { status: 'completed', commit: REVIEWED })
    expect(await refusal(uuid)).toEqual(movedRefusal(4, REVIEWED))
  })

  it('is told after the lock and after a missing pull request', async () => {
    const uuid = await openSession(core.context, user_id, { repo_uri: REPOSITORY })
    expect(await refusal(uuid)).toMatchObject({ status: 404 })
    await setLock(core.context, uuid, true)
    expect(await refusal(uuid)).toEqual(blocked(uuid))
  })
})

describe('a merge', () => {
  it('takes the pull request that was opened last and leaves the session as it is', async () => {
    const calls = provider()
    const uuid = await sessionWith([12, 4])
    const before = await loadAggregate(core.context, uuid, { includeHistory: false })
    await mergePullRequest(core.context, uuid)
    expect(calls).toEqual(['GET 4', 'PUT 4'])
    expect(await loadAggregate(core.context, uuid, { includeHistory: false })).toEqual(before)
  })

  it('drops the cached detail, also of a session that is named in capitals', async () => {
    provider()
    const uuid = await sessionWith([4])
    await loadAggregate(core.context, uuid, { includeHistory: false })
    expect(await core.context.cache.get(sessionAggregateKey(uuid))).not.toBeNull()
    await mergePullRequest(core.context, uuid.toUpperCase())
    expect(await core.context.cache.get(sessionAggregateKey(uuid))).toBeNull()
  })

  it.each([crypto.randomUUID(), 'no-uuid'])('needs a session: %s', async (uuid) => {
    expect(await refusal(uuid)).toEqual({ status: 404, message: `Session ${uuid} not found.` })
  })

  it('needs a pull request', async () => {
    const uuid = await sessionWith([])
    expect(await refusal(uuid)).toEqual({ status: 404, message: `Session ${uuid} has no pull requests.` })
  })

  it.each([[[]], [[4]]])('is refused on a locked session, whatever pull requests it has: %o', async (numbers) => {
    const uuid = await sessionWith(numbers)
    await setLock(core.context, uuid, true)
    expect(await refusal(uuid)).toEqual(blocked(uuid))
    await setLock(core.context, uuid, false)
    const calls = provider()
    if (numbers.length > 0) await mergePullRequest(core.context, uuid)
    expect(calls).toHaveLength(numbers.length * 2)
  })

  it('reads the lock from the database, not from the cache', async () => {
    const uuid = await sessionWith([4])
    await loadAggregate(core.context, uuid, { includeHistory: false })
    await core.context.sql`UPDATE sessions SET is_blocked = true WHERE uuid = ${uuid}`
    expect(await refusal(uuid)).toEqual(blocked(uuid))
  })

  it('is refused when the session is locked while the provider makes up its mind', async () => {
    shortenTimers(1_000)
    const uuid = await sessionWith([4])
    let readings = 0
    const calls = provider(async () => {
      if (++readings === 2) await setLock(core.context, uuid, true)
      return HttpResponse.json({ state: 'open', mergeable: readings < 2 ? null : true })
    })
    expect(await refusal(uuid)).toEqual(blocked(uuid))
    expect(calls).toEqual(['GET 4', 'GET 4'])
  })

  it.each([[{ user: '' }], [{ token: '' }]])('without credentials calls nobody: %o', async (changes) => {
    const uuid = await sessionWith([4])
    expect(await refusalOf(mergePullRequest(withGit(changes), uuid))).toEqual({
      status: 502,
      message: 'Git credentials are not configured; pull requests need the account and token of the git provider.',
    })
  })

  it('of a repository elsewhere calls nobody', async () => {
    const uuid = await sessionWith([4], 'https://git.example.com/Acme/Infra')
    const message = "Malformed repository URL 'git.example.com/Acme/Infra'"
    expect(await refusal(uuid)).toEqual({ status: 400, message })
  })

  it('that is never ready is told so, and the session can be merged later', async () => {
    shortenTimers(1_000)
    provider(() => HttpResponse.json({ state: 'open', mergeable: null }))
    const uuid = await sessionWith([4])
    const before = await loadAggregate(core.context, uuid, { includeHistory: false })
    expect(await refusal(uuid)).toEqual({ status: 504, message: 'Pull Request 4 readiness polling exhausted.' })
    expect(await loadAggregate(core.context, uuid, { includeHistory: false })).toEqual(before)
    const calls = provider()
    await mergePullRequest(core.context, uuid)
    expect(calls).toEqual(['GET 4', 'PUT 4'])
  })

  it('answers 504 after 45 seconds in all, however slow the single calls are', async () => {
    const uuid = await sessionWith([4])
    const end = controlTotal()
    provider(async () => {
      await end()
      await delay('infinite')
      return HttpResponse.json({ state: 'open', mergeable: true })
    })
    expect(await refusal(uuid)).toEqual({ status: 504, message: 'Complete PR timeout' })
  })

  it('is not waited for when the caller goes away', async () => {
    const uuid = await sessionWith([4])
    const controller = new AbortController()
    provider(async () => {
      controller.abort(new Error('caller is gone'))
      await delay('infinite')
      return HttpResponse.json({})
    })
    await expect(mergePullRequest(core.context, uuid, controller.signal)).rejects.toThrow('caller is gone')
  })
})
