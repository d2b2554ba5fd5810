import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { MergeMethod } from '../../config/types.ts'
import { LIMITS } from '../../dev/git-host/disturbances.ts'
import type { MergeRules, Rule } from '../../dev/git-host/merge-rules.ts'
import { PlatformError } from '../../src/base/errors.ts'
import { createPullRequest } from '../../src/pull-requests/create.ts'
import { mergePullRequest } from '../../src/pull-requests/merge.ts'
import { readMergeReadiness } from '../../src/pull-requests/read-readiness.ts'
import { setLock } from '../../src/rounds/transitions.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { startGitHostCore } from '../helpers/git-host-core.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { startOnce } from '../helpers/start-once.ts'
import { refusalOf, shortenTimers } from './support.ts'

const run = promisify(execFile)
const core = startOnce(() => startGitHostCore({ path: '/code' }))
let user_id: number
afterEach(() => void vi.unstubAllGlobals())
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

/** Commits this one file on a branch, on top of the given commit, and returns the new one. */
function commitFile(repository: string, branch: string, parent: string, text: string): Promise<string> {
  const data = (value: string) => `data ${Buffer.byteLength(value)}\n${value}`
  const commands = [
    ...[`commit refs/heads/${branch}`, 'mark :1', 'committer t <t@example.org> now', data('Platform changes')],
    ...[`from ${parent}`, 'deleteall', 'M 100644 inline main.tf', data(text)],
    ...['get-mark :1', 'done', ''],
  ]
  // One process for what takes four commands.
  const options = ['--quiet', '--force', '--done', '--date-format=now']
  return gitAt(repository, ['fast-import', ...options], commands.join('\n'))
}

/** Creates a repository, and a session whose branch changed its file and was reviewed. */
async function changedSession(name: string) {
  const repository = await core.host.addRepository({
    owner: 'acme',
    name,
    content: { files: { 'main.tf': '# first\n' } },
  })
  const uuid = await openSession(core.context, user_id, { repo_uri: repository })
  const branch = (await loadAggregate(core.context, uuid, { includeHistory: false }))?.workspace.branch ?? ''
  const base = await gitAt(repository, ['rev-parse', 'main'])
  const head = await commitFile(repository, branch, base, '# changed\n')
  const history = [{ user: 'Add a bucket', assistant: 'Added.' }]
  await (await runRound(core.context, uuid)).finish('completed', 'GENERATE', history, head)
  return { repository, uuid, branch, base, head }
}

/** Does the same, and opens a pull request. */
async function openedPullRequest(name: string) {
  const changed = await changedSession(name)
  const { id } = await createPullRequest(core.context, changed.uuid)
  return { ...changed, id }
}

/** Makes the context of a core whose operator prefers a merge method. */
const preferring = (merge_method: MergeMethod | '') => ({
  ...core.context,
  config: { ...core.context.config, git: { ...core.context.config.git, merge_method } },
})

const actionsOf = async (uuid: string) => {
  const rows = await core.database.sql<{ action: string; found: boolean | null }[]>`
    SELECT action, (detail ->> 'found_merged')::boolean AS found FROM audit_records
    WHERE session_uuid = ${uuid} AND action LIKE 'merge%' ORDER BY id`
  return rows.map(({ action, found }) => (found ? `${action} found` : action))
}

describe('a pull request at a real host, below a path', () => {
  it('ends as a merge commit on the default branch, once, and is a success again when it is asked for again', async () => {
    const { repository, uuid, base, head } = await openedPullRequest('merged')
    await mergePullRequest(core.context, uuid)
    expect(await gitAt(repository, ['rev-list', '--parents', '--max-count=1', 'main'])).toMatch(
      new RegExp(` ${base} ${head}$`),
    )
    expect(await gitAt(repository, ['show', 'main:main.tf'])).toBe('# changed')
    const after = await gitAt(repository, ['rev-parse', 'main'])
    await mergePullRequest(core.context, uuid)
    expect(await gitAt(repository, ['rev-parse', 'main'])).toBe(after)
    expect(await actionsOf(uuid)).toEqual(['merge_begun', 'merge_completed', 'merge_completed found'])
    expect((await readMergeReadiness(core.context, await sessionOf(uuid, repository))).status).toBe('merged')
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

describe('a repository that was renamed', () => {
  it('between round, pull request and merge is worked on at its new address', async () => {
    const { repository, uuid, branch, head } = await changedSession('former')
    const now = await core.host.rename(repository, 'acme/first-rename')
    const { id, url } = await createPullRequest(core.context, uuid)
    expect(url).toContain('/acme/first-rename/pull/1')
    const later = await core.host.rename(now, 'other/second-rename')
    expect((await readMergeReadiness(core.context, await sessionOf(uuid, repository))).status).toBe('ready')
    await mergePullRequest(core.context, uuid)
    expect(id).toBe(1)
    expect(await gitAt(later, ['rev-parse', branch])).toBe(head)
    expect(await gitAt(later, ['show', 'main:main.tf'])).toBe('# changed')
  })
})

describe('branches that change at the host', () => {
  const codesOf = async (uuid: string, repository: string) =>
    (await readMergeReadiness(core.context, await sessionOf(uuid, repository))).blockers.map(({ code }) => code)

  it('another default branch is not missed by a merge, and a further pull request leads there', async () => {
    const { repository, uuid, base, head } = await openedPullRequest('trunk')
    await gitAt(repository, ['branch', 'trunk', 'main'])
    await gitAt(repository, ['symbolic-ref', 'HEAD', 'refs/heads/trunk'])
    expect(await codesOf(uuid, repository)).toEqual(['target'])
    expect(await refusalOf(mergePullRequest(core.context, uuid))).toEqual({
      status: 409,
      message:
        "Pull Request 1 merges into 'main', but the default branch of the repository is 'trunk' now: point it there at " +
        'the git host, or open another one. PR merge is not allowed.',
    })
    expect(await gitAt(repository, ['rev-parse', 'main'])).toBe(base)
    expect(await createPullRequest(core.context, uuid)).toMatchObject({ id: 2 })
    await mergePullRequest(core.context, uuid)
    expect(await gitAt(repository, ['rev-list', '--parents', '-1', 'trunk'])).toMatch(new RegExp(` ${base} ${head}$`))
    expect(await gitAt(repository, ['rev-parse', 'main'])).toBe(base)
  })

  it('a default branch that was renamed takes the pull request along', async () => {
    const { repository, uuid } = await openedPullRequest('renamed-branch')
    await gitAt(repository, ['branch', '-m', 'main', 'trunk'])
    await gitAt(repository, ['symbolic-ref', 'HEAD', 'refs/heads/trunk'])
    await changePull(repository, { base: 'trunk' })
    expect(await codesOf(uuid, repository)).toEqual([])
    await mergePullRequest(core.context, uuid)
    expect(await gitAt(repository, ['show', 'trunk:main.tf'])).toBe('# changed')
  })

  it('a deleted branch of the session is told, and nothing is merged', async () => {
    const { repository, uuid, branch, base, head } = await openedPullRequest('deleted-head')
    await gitAt(repository, ['update-ref', '-d', `refs/heads/${branch}`])
    expect(await codesOf(uuid, repository)).toEqual(['closed'])
    expect(await refusalOf(mergePullRequest(core.context, uuid))).toMatchObject({ status: 404 })
    expect(await refusalOf(createPullRequest(core.context, uuid))).toEqual({
      status: 409,
      message: expect.stringMatching(/^The branch 'Platform\/.*' of session .* is no longer at the git host/),
    })
    expect(await gitAt(repository, ['rev-parse', 'main'])).toBe(base)
    await gitAt(repository, ['update-ref', `refs/heads/${branch}`, head])
    await createPullRequest(core.context, uuid)
    await mergePullRequest(core.context, uuid)
    expect(await gitAt(repository, ['show', 'main:main.tf'])).toBe('# changed')
  })

  it('a deleted target branch is told, and the work is kept', async () => {
    const { repository, uuid, branch, base, head } = await openedPullRequest('deleted-base')
    await gitAt(repository, ['update-ref', '-d', 'refs/heads/main'])
    expect(await codesOf(uuid, repository)).toEqual(['closed'])
    expect(await refusalOf(mergePullRequest(core.context, uuid))).toMatchObject({ status: 404 })
    expect(await refusalOf(createPullRequest(core.context, uuid))).toEqual({
      status: 500,
      message: 'No match git default branch ls-remote',
    })
    expect(await gitAt(repository, ['rev-parse', branch])).toBe(head)
    await gitAt(repository, ['update-ref', 'refs/heads/main', base])
    expect(await createPullRequest(core.context, uuid)).toMatchObject({ status: 'open' })
  })
})

const sessionOf = async (uuid: string, uri: string) => ({ uuid, workspace: { uri } })
const rule = (type: string, parameters?: Rule['parameters']): Rule => ({ type, ...(parameters && { parameters }) })
const NONE = { allow_merge_commit: false, allow_squash_merge: false, allow_rebase_merge: false }
let made = 0
async function restricted(rules: MergeRules) {
  const opened = await openedPullRequest(`restricted-${++made}`)
  await core.host.setRules(opened.repository, rules)
  return { ...opened, session: await sessionOf(opened.uuid, opened.repository) }
}

describe('the method of a merge', () => {
  /** Merges, and tells by the commits of the default branch which method it was. */
  async function methodOf(rules: MergeRules, preferred: MergeMethod | '' = '') {
    const { repository, uuid, base, head } = await restricted(rules)
    await mergePullRequest(preferring(preferred), uuid)
    const [tip, ...parents] = (await gitAt(repository, ['rev-list', '--parents', '-1', 'main'])).split(' ')
    expect(await gitAt(repository, ['show', 'main:main.tf'])).toBe('# changed')
    if (parents.length === 2) return parents.join() === `${base},${head}` ? 'merge' : 'another merge'
    const subject = await gitAt(repository, ['show', '-s', '--format=%s', tip ?? ''])
    return subject === 'Platform changes' ? 'rebase' : 'squash'
  }

  it.each<[string, MergeRules, MergeMethod | '', MergeMethod]>([
    ['everything is allowed', {}, '', 'merge'],
    ['everything is allowed', {}, 'squash', 'squash'],
    ['everything is allowed', {}, 'rebase', 'rebase'],
    ['the repository squashes only', { ...NONE, allow_squash_merge: true }, '', 'squash'],
    ['the repository squashes only', { ...NONE, allow_squash_merge: true }, 'merge', 'squash'],
    ['the repository rebases only', { ...NONE, allow_rebase_merge: true }, 'squash', 'rebase'],
    ['the history is linear', { rules: [rule('required_linear_history')] }, '', 'squash'],
    ['a rule names one', { rules: [rule('pull_request', { allowed_merge_methods: ['rebase'] })] }, 'merge', 'rebase'],
    ['the settings are hidden', { ...NONE, allow_squash_merge: true, can_push: false }, '', 'squash'],
    ['the settings are hidden', { ...NONE, allow_rebase_merge: true, can_push: false }, 'merge', 'rebase'],
    ['the protection is hidden', { protection: { required_linear_history: { enabled: true } } }, '', 'squash'],
  ])('is an allowed one where %s: %o %s', async (_, rules, preferred, expected) => {
    expect(await methodOf(rules, preferred)).toBe(expected)
  })

  it('is tried again after the base branch moved, and when the host did not know at first', async () => {
    const seconds = shortenTimers(1_000)
    expect(await methodOf({ moved_bases: 2, unknown_readings: 3 })).toBe('merge')
    expect(seconds.count).toBe(3)
  })
})

describe('what stands in the way', () => {
  const approvals = (required_approving_review_count: number) =>
    rule('pull_request', { required_approving_review_count })
  const checks = (...names: string[]) =>
    rule('required_status_checks', { required_status_checks: names.map((context) => ({ context })) })
  const run = (name: string, status: string, conclusion: string | null = null) => ({ name, status, conclusion })
  const review = (login: string, state: string) => ({ login, state })

  it.each<[string, MergeRules, string, [string, RegExp][]]>([
    ['nothing', {}, 'ready', []],
    [
      'a check that failed, one that runs and one that nobody has reported',
      {
        rules: [checks('plan', 'lint', 'cost', 'docs', 'unit')],
        check_runs: [
          run('plan', 'completed', 'failure'),
          run('lint', 'in_progress'),
          run('docs', 'completed', 'skipped'),
        ],
        statuses: [{ context: 'unit', state: 'success' }],
      },
      'blocked',
      [['checks', /^Required checks have not passed: plan \(failure\), lint \(in_progress\), cost \(missing\)\.$/]],
    ],
    [
      'a check that runs',
      { rules: [checks('plan')], check_runs: [run('plan', 'queued')] },
      'waiting',
      [['checks', /plan \(queued\)/]],
    ],
    ['a check that is not required', { check_runs: [run('lint', 'completed', 'failure')] }, 'ready', []],
    [
      'a check of the classic protection',
      { protection: { required_status_checks: { strict: false, contexts: ['plan'] } }, is_admin: true },
      'waiting',
      [['checks', /plan \(missing\)/]],
    ],
    [
      'a missing review',
      {
        rules: [approvals(2)],
        reviews: [review('ada', 'APPROVED'), review('ada', 'COMMENTED'), review('bob', 'COMMENTED')],
      },
      'blocked',
      [['reviews', /^It needs 2 approving reviews and has 1\.$/]],
    ],
    [
      'requested changes',
      { rules: [approvals(1)], reviews: [review('ada', 'APPROVED'), review('bob', 'CHANGES_REQUESTED')] },
      'blocked',
      [['changes_requested', /^1 reviewer requested changes\.$/]],
    ],
    [
      'a review that the classic protection requires',
      { protection: { required_pull_request_reviews: { required_approving_review_count: 1 } }, is_admin: true },
      'blocked',
      [['reviews', /needs 1 approving review and has 0/]],
    ],
    [
      'a protection that only administrators may read',
      { protection: { required_pull_request_reviews: { required_approving_review_count: 1 } } },
      'blocked',
      [['policy', /^The branch is protected, and GitHub does not say what is missing\.$/]],
    ],
    [
      'unsigned commits',
      { rules: [rule('required_signatures')] },
      'blocked',
      [['signatures', /1 commit without a verified/]],
    ],
    ['a merge queue', { rules: [rule('merge_queue')] }, 'blocked', [['merge_queue', /through its merge queue only/]]],
    [
      'a locked branch',
      { protection: { lock_branch: { enabled: true } }, is_admin: true },
      'blocked',
      [['permissions', /locked/]],
    ],
    ['an account without rights', { can_push: false }, 'blocked', [['permissions', /may not push/]]],
    ['an archived repository', { archived: true }, 'blocked', [['permissions', /archived/]]],
    [
      'rules that exclude each other',
      { allow_squash_merge: false, allow_rebase_merge: false, rules: [rule('required_linear_history')] },
      'blocked',
      [['policy', /no common merge method/]],
    ],
    ['a host that still computes', { unknown_readings: 99 }, 'waiting', [['computing', /not computed yet/]]],
  ])('is told: %s', async (_, rules, status, expected) => {
    const { session } = await restricted(rules)
    const read = await readMergeReadiness(core.context, session)
    expect([read.status, read.blockers]).toEqual([
      status,
      expected.map(([code, text]) => expect.objectContaining({ code, text: expect.stringMatching(text) })),
    ])
  })

  it('is told of a conflict, of a branch that is behind or moved, and of a draft', async () => {
    const strict = rule('required_status_checks', {
      required_status_checks: [],
      strict_required_status_checks_policy: true,
    })
    const codes = async ({ session }: Awaited<ReturnType<typeof restricted>>) =>
      (await readMergeReadiness(core.context, session)).blockers.map(({ code }) => code)
    const conflicting = await restricted({})
    await commitFile(conflicting.repository, 'main', conflicting.base, '# meanwhile\n')
    expect(await codes(conflicting)).toEqual(['conflict'])
    const behind = await restricted({ rules: [strict] })
    await gitAt(behind.repository, ['update-ref', 'refs/heads/main', await emptyCommit(behind.repository, 'main')])
    expect(await codes(behind)).toEqual(['behind'])
    const moved = await restricted({})
    await commitFile(moved.repository, moved.branch, moved.head, '# unreviewed\n')
    expect(await codes(moved)).toEqual(['moved'])
    const draft = await restricted({ rules: [approvals(1)] })
    await changePull(draft.repository, { draft: true })
    expect(await codes(draft)).toEqual(['draft', 'reviews'])
    const closed = await restricted({})
    await changePull(closed.repository, { state: 'closed' })
    expect(await codes(closed)).toEqual(['closed'])
  })

  it('is told with the refusal of the merge, whose status and text stay those of the host', async () => {
    const { uuid } = await restricted({ rules: [checks('plan')], check_runs: [run('plan', 'completed', 'failure')] })
    const error = await mergePullRequest(core.context, uuid).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      status: 405,
      message: expect.stringContaining('Required status check \\"plan\\" is expected.'),
      more: {
        readiness: { status: 'blocked', blockers: [{ code: 'checks', checks: [{ name: 'plan', state: 'failure' }] }] },
      },
    })
    expect(error).toBeInstanceOf(PlatformError)
  })

  it('is not asked again within ten seconds, unless something was merged', async () => {
    const { session, repository, uuid } = await restricted({ archived: true })
    const read = () => readMergeReadiness(core.context, session)
    const first = await read()
    await core.host.setRules(repository, {})
    expect(await read()).toEqual(first)
    await mergePullRequest(core.context, uuid)
    expect((await read()).status).toBe('merged')
  })

  it('costs one reading for all pages of a core, and nothing of the limit of GitHub while nothing changes', async () => {
    const rules: MergeRules = {
      is_admin: true,
      rules: [approvals(1), checks('plan'), rule('required_signatures')],
      protection: { required_status_checks: { strict: false, contexts: ['unit'] } },
    }
    const { session, repository } = await restricted(rules)
    let answers: number[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await globalThis.fetch(input, init)
      answers.push(response.status)
      return response
    }
    let now = Date.now()
    const context = { ...core.context, fetch, now: () => new Date(now) }
    const read = async (pages: number) => {
      answers = []
      const all = await Promise.all(Array.from({ length: pages }, () => readMergeReadiness(context, session)))
      return { first: all[0], said: answers }
    }
    const { first, said } = await read(20)
    // Before, each of the 20 pages asked all of this.
    expect(said).toEqual(Array(9).fill(200))
    expect((await read(20)).said).toEqual([])
    now += 11_000
    const later = await read(20)
    expect(later.said).toEqual(Array(9).fill(304))
    expect({ ...later.first, read_at: '' }).toEqual({ ...first, read_at: '' })
    await core.host.setRules(repository, { ...rules, check_runs: [run('plan', 'completed', 'success')] })
    now += 11_000
    const changed = await read(1)
    expect(changed.said.toSorted()).toEqual([200, ...Array(8).fill(304)])
    const text = 'Required checks have not passed: unit (missing).'
    expect(changed.first?.blockers).toContainEqual(expect.objectContaining({ code: 'checks', text }))
  })

  it('is what the platform itself refuses, before what the host says', async () => {
    const { session, uuid } = await restricted({})
    await setLock(core.context, uuid, true)
    expect(await readMergeReadiness(core.context, session)).toMatchObject({
      status: 'blocked',
      blockers: [{ code: 'session', text: `Session ${uuid} is blocked; PR merge is not allowed.` }],
    })
  })
})

const emptyCommit = (repository: string, at: string) =>
  gitAt(repository, ['commit-tree', `${at}^{tree}`, '-p', at, '-m', 'Nothing'])

/** Changes the only pull request of a repository as people do at the host. */
async function changePull(repository: string, change: object): Promise<void> {
  const file = join(core.host.pathOf(repository), 'platform-pulls.json')
  const [pull] = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify([{ ...pull, ...change }]))
}

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

  const merging = { method: 'PUT', path: /\/merge$/ }
  it.each([
    ['a 502 after it was merged', { ...merging, done: true, answer: { status: 502 } }],
    ['a 503 before it was merged', { ...merging, answer: { status: 503 } }],
    ['a connection cut after it was merged', { ...merging, done: true }],
  ])('merges once: %s', async (title, disturbance) => {
    const { repository, uuid, base, head } = await openedPullRequest(title.replaceAll(' ', '-'))
    core.host.disturbances.add(disturbance)
    await mergePullRequest(core.context, uuid)
    expect(core.host.disturbances.left()).toBe(0)
    expect(await gitAt(repository, ['rev-list', '--parents', '--max-count=1', 'main'])).toMatch(
      new RegExp(` ${base} ${head}$`),
    )
    expect(await gitAt(repository, ['rev-list', '--count', '--merges', 'main'])).toBe('1')
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
