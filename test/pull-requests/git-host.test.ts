import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { LIMITS } from '../../dev/git-host/disturbances.ts'
import { createPullRequest } from '../../src/pull-requests/create.ts'
import { mergePullRequest } from '../../src/pull-requests/merge.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { startGitHostCore } from '../helpers/git-host-core.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { startOnce } from '../helpers/start-once.ts'
import { refusalOf } from './support.ts'

const run = promisify(execFile)
const core = startOnce(() => startGitHostCore({ path: '/code' }))
let user_id: number
beforeAll(async () => {
  user_id = (await createUser(core.context.sql, 'owner')).id
})

/** Runs git in the bare repository with `input` as its standard input. */
async function gitAt(repository: string, args: string[], input?: string): Promise<string> {
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@example.org']
  const child = run('git', ['-C', core.host.pathOf(repository), ...author, ...args])
  child.child.stdin?.end(input)
  return (await child).stdout.trim()
}

/** Commits this one file on a branch, on top of the given commit. */
async function commitFile(repository: string, branch: string, parent: string, text: string): Promise<string> {
  const blob = await gitAt(repository, ['hash-object', '-w', '--stdin'], text)
  const tree = await gitAt(repository, ['mktree'], `100644 blob ${blob}\tmain.tf\n`)
  const commit = await gitAt(repository, ['commit-tree', tree, '-p', parent, '-m', 'Platform changes'])
  await gitAt(repository, ['update-ref', `refs/heads/${branch}`, commit])
  return commit
}

/** Creates a repository, and a session whose branch changed its file. */
async function changedSession(name: string) {
  const repository = await core.host.addRepository({
    owner: 'acme',
    name,
    content: { files: { 'main.tf': '# first\n' } },
  })
  const uuid = await openSession(core.context, user_id, { repo_uri: repository })
  await (await runRound(core.context, uuid)).finish('completed', 'GENERATE', [
    { user: 'Add a bucket', assistant: 'Added.' },
  ])
  const branch = (await loadAggregate(core.context, uuid, { includeHistory: false }))?.workspace.branch ?? ''
  const base = await gitAt(repository, ['rev-parse', 'main'])
  const head = await commitFile(repository, branch, base, '# changed\n')
  return { repository, uuid, base, head }
}

/** Does the same, and opens a pull request. */
async function openedPullRequest(name: string) {
  const changed = await changedSession(name)
  const { id } = await createPullRequest(core.context, changed.uuid)
  return { ...changed, id }
}

describe('a pull request at a real host, below a path', () => {
  it('ends as a merge commit on the default branch, once', async () => {
    const { repository, uuid, base, head, id } = await openedPullRequest('merged')
    await mergePullRequest(core.context, uuid)
    expect(await gitAt(repository, ['rev-list', '--parents', '--max-count=1', 'main'])).toMatch(
      new RegExp(` ${base} ${head}$`),
    )
    expect(await gitAt(repository, ['show', 'main:main.tf'])).toBe('# changed')
    const after = await gitAt(repository, ['rev-parse', 'main'])
    const message = `There are no pull requests to merge: Pull Request ${id} is merged.`
    expect(await refusalOf(mergePullRequest(core.context, uuid))).toEqual({ status: 404, message })
    expect(await gitAt(repository, ['rev-parse', 'main'])).toBe(after)
  })

  it('that conflicts leaves the default branch alone', async () => {
    const { repository, uuid, base, id } = await openedPullRequest('conflicting')
    const other = await commitFile(repository, 'main', base, '# meanwhile\n')
    const message = `Pull Request ${id} cannot be merged.`
    expect(await refusalOf(mergePullRequest(core.context, uuid))).toEqual({ status: 400, message })
    expect(await gitAt(repository, ['rev-parse', 'main'])).toBe(other)
  })

  it('is not merged with a wrong token, which no text shows', async () => {
    const { repository, uuid, base } = await openedPullRequest('refused')
    const git = { ...core.context.config.git, token: 'a-wrong-token' }
    const refusal = await refusalOf(
      mergePullRequest({ ...core.context, config: { ...core.context.config, git } }, uuid),
    )
    expect(refusal).toEqual({ status: 502, message: expect.stringContaining('Bad credentials') })
    expect(refusal.message).not.toContain('a-wrong-token')
    expect(await gitAt(repository, ['rev-parse', 'main'])).toBe(base)
  })
})

describe('a host that answers badly', () => {
  const creation = { method: 'POST', path: /\/pulls$/ }
  const recorded = async (uuid: string) =>
    (await loadAggregate(core.context, uuid, { includeHistory: false }))?.rounds.flatMap((round) => round.pull_requests)

  it.each([
    ['a 502 after it was opened', { ...creation, done: true, answer: { status: 502 } }],
    ['a 504 before it was opened', { ...creation, answer: { status: 504 } }],
    ['a connection cut after it was opened', { ...creation, done: true }],
    ['a connection cut before it was opened', creation],
    ['a secondary limit', { ...creation, answer: LIMITS.secondary(1) }],
    ['a primary limit', { ...creation, answer: LIMITS.primary(Math.floor(Date.now() / 1_000)) }],
  ])('opens one pull request: %s', async (title, disturbance) => {
    const { uuid } = await changedSession(title.replaceAll(' ', '-'))
    core.host.disturbances.add(disturbance)
    const created = await createPullRequest(core.context, uuid)
    expect(core.host.disturbances.left()).toBe(0)
    expect(created).toMatchObject({ id: 1, status: 'open' })
    expect(await recorded(uuid)).toMatchObject([{ number: 1, url: created.url }])
  })

  it('answers a second call with the pull request that is open', async () => {
    const { uuid, id } = await openedPullRequest('twice')
    expect(await createPullRequest(core.context, uuid)).toMatchObject({ id, status: 'open' })
    expect(await recorded(uuid)).toHaveLength(1)
  })

  it('says when to come back, and opens it then', async () => {
    const { uuid } = await changedSession('limited')
    core.host.disturbances.add({ ...creation, answer: LIMITS.secondary() })
    const refusal = await refusalOf(createPullRequest(core.context, uuid))
    expect(refusal).toEqual({
      status: 502,
      message: expect.stringMatching(/secondary rate limit.*\nThe git host takes further requests in 60 seconds\.$/),
    })
    expect(await createPullRequest(core.context, uuid)).toMatchObject({ id: 1 })
  })
})
