import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { createPullRequest } from '../../../src/pull-requests/create.ts'
import { createPullRequestHost } from '../../../src/pull-requests/host-of.ts'
import { acceptRound } from '../../../src/rounds/accept.ts'
import { findSession } from '../../../src/sessions/find.ts'
import { startGitHostCore } from '../../helpers/git-host-core.ts'
import { openSession, runRound } from '../../helpers/sessions.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { refusalOf } from '../../pull-requests/support.ts'
import { attack } from './attack.ts'

const GROUP = 'merging what nobody reviewed'
const run = promisify(execFile)
const core = startOnce(startGitHostCore)
let owner: number
beforeAll(async () => {
  owner = (await (await core.call('GET', '/api/v1/users/me')).json()).id
})

/** Runs git in the bare repository with `input` as its standard input. */
async function gitAt(repository: string, args: string[], input?: string): Promise<string> {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org']
  const child = run('git', ['-C', core.host.pathOf(repository), ...identity, ...args])
  child.child.stdin?.end(input)
  return (await child).stdout.trim()
}

/** Puts a commit with this one file on a branch, as a push does. */
async function push(repository: string, branch: string, parent: string, text: string): Promise<string> {
  const blob = await gitAt(repository, ['hash-object', '-w', '--stdin'], text)
  const tree = await gitAt(repository, ['mktree'], `100644 blob ${blob}\tmain.tf\n`)
  const commit = await gitAt(repository, ['commit-tree', tree, '-p', parent, '-m', 'Platform changes'])
  await gitAt(repository, ['update-ref', `refs/heads/${branch}`, commit])
  return commit
}

/** Creates a session whose first round ended like this with a commit on its branch, and the branch's pull request. */
async function reviewedSession(status: 'completed' | 'uncompleted' = 'completed') {
  const content = { files: { 'main.tf': '# first\n' } }
  const repository = await core.host.addRepository({ owner: 'acme', name: crypto.randomUUID(), content })
  const uuid = await openSession(core.context, owner, { repo_uri: repository })
  const branch = (await findSession(core.context.sql, uuid))?.workspace.branch ?? ''
  const base = await gitAt(repository, ['rev-parse', 'main'])
  const reviewed = await push(repository, branch, base, '# reviewed\n')
  await (await runRound(core.context, uuid)).finish(status, 'GENERATE', undefined, reviewed)
  const { id } = await createPullRequest(core.context, uuid)
  return { repository, uuid, branch, base, reviewed, id }
}
type Session = Awaited<ReturnType<typeof reviewedSession>>

/** Requests a merge, and asserts that the core refuses it and that the default branch is unchanged. */
async function refusedMerge(session: { uuid: string; repository: string; base: string }): Promise<string> {
  const answer = await core.call('PUT', '/api/v1/repository/pr/merge', { json: { session_id: session.uuid } })
  const { detail } = await answer.json()
  expect([answer.status, await gitAt(session.repository, ['rev-parse', 'main'])]).toEqual([409, session.base])
  return `409: ${detail}`
}

const continueWith = (uuid: string, mode: 'generate' | 'apply') =>
  acceptRound(core.context, { session_uuid: uuid, mode, query: 'Go on', is_partial: false })

/** Adds a commit to the reviewed one of the branch. */
const pushMore = ({ repository, branch, reviewed }: Session) => push(repository, branch, reviewed, '# not reviewed\n')

/** The event between the review and the merge. */
const BEFORE_MERGE: Record<string, (session: Session) => Promise<unknown>> = {
  'a merge while a round of the session waits for a worker': ({ uuid }) => continueWith(uuid, 'generate'),
  'a merge of an attempt that a running round has pushed but not validated': async (session) => {
    await continueWith(session.uuid, 'generate')
    await runRound(core.context, session.uuid)
    await pushMore(session)
  },
  'a merge of what a failed round left on the branch': async (session) => {
    await continueWith(session.uuid, 'generate')
    const round = await runRound(core.context, session.uuid)
    await pushMore(session)
    await round.finish('failed', 'runner failed: the plan has errors.')
  },
  'a merge of a commit that somebody pushed to the branch after the review': pushMore,
  'a pushed commit that a declined request makes the last one that a round saw': async (session) => {
    const pushed = await pushMore(session)
    await continueWith(session.uuid, 'generate')
    await (await runRound(core.context, session.uuid)).finish('uncompleted', 'Declined.', undefined, pushed)
  },
  'a branch that was rewritten from where it began': ({ repository, branch, base }) =>
    push(repository, branch, base, '# another history\n'),
}
for (const [title, change] of Object.entries(BEFORE_MERGE))
  attack(GROUP, title, async () => {
    const session = await reviewedSession()
    await change(session)
    return await refusedMerge(session)
  })

attack(GROUP, 'a first round that was declined, then a push, then a merge', async () =>
  refusedMerge(await reviewedSession('uncompleted')),
)

attack(GROUP, 'a push between the last check and the merge itself', async () => {
  const { repository, branch, base, reviewed, id } = await reviewedSession()
  const confirm = async () => void (await push(repository, branch, reviewed, '# in between\n'))
  const host = createPullRequestHost(core.context, repository)
  const signal = AbortSignal.timeout(20_000)
  const { status, message } = await refusalOf(host.merge(id, { commit: reviewed, confirm, signal }))
  expect([status, await gitAt(repository, ['rev-parse', 'main'])]).toEqual([409, base])
  return `the git host refuses the commit that was named: ${message}`
})

test('reviewed code can be merged all the same, after an apply and after a declined request', async () => {
  const { repository, uuid, reviewed } = await reviewedSession()
  await continueWith(uuid, 'apply')
  await (await runRound(core.context, uuid)).finish('completed', 'GENERATE')
  await continueWith(uuid, 'generate')
  await (await runRound(core.context, uuid)).finish('uncompleted', 'Declined.', undefined, reviewed)
  const answer = await core.call('PUT', '/api/v1/repository/pr/merge', { json: { session_id: uuid } })
  expect(answer.status).toBe(204)
  expect(await gitAt(repository, ['show', 'main:main.tf'])).toBe('# reviewed')
})
