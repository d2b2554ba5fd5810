import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import type { Readiness } from '../../src/pull-requests/readiness/findings.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { freely, hostOf, never, refusalOf, shortenTimers } from './support.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const OTHER = 'f'.repeat(40)
const server = interceptRequests()

type Answer = object | number | (() => Response)
const reply = (answer: Answer): Response =>
  typeof answer === 'function'
    ? answer()
    : typeof answer === 'number'
      ? HttpResponse.json({ message: 'no' }, { status: answer })
      : HttpResponse.json(answer)

/** Answers each address by the longest of these ends of its path, and records method and body of every change. */
function play(answers: Record<string, Answer>) {
  const changes: unknown[] = []
  server.use(
    http.all('*', async ({ request }) => {
      const line = `${request.method} ${decodeURIComponent(new URL(request.url).pathname)}`
      const key = Object.keys(answers)
        .filter((candidate) => {
          const [method = '', end = ''] = candidate.split(' ')
          return request.method === method && line.endsWith(end)
        })
        .toSorted((a, b) => b.length - a.length)[0]
      if (key === undefined) return HttpResponse.json({ message: `no answer to ${line}` }, { status: 404 })
      const body = await request.text()
      if (request.method !== 'GET') changes.push([key, body === '' ? null : JSON.parse(body)])
      return reply(answers[key] as Answer)
    }),
  )
  return changes
}
const told = ({ status, blockers }: Readiness) => [status, ...blockers.map(({ code, text }) => `${code}: ${text}`)]

describe('at GitLab', () => {
  const URI = 'https://gitlab.com/Acme/Infra'
  const PROJECT = 'GET /projects/Acme/Infra'
  const REQUEST = 'GET /merge_requests/5'
  const host = (merge_method = '') => hostOf(URI, `git: { provider: GITLAB, merge_method: "${merge_method}" }`)
  const open = { state: 'opened', sha: COMMIT, detailed_merge_status: 'mergeable' }
  const read = async (answers: Record<string, Answer>, merge_method = '') => {
    play({ [PROJECT]: { merge_method: 'merge', squash_option: 'default_off' }, ...answers })
    return (await host(merge_method)).readiness(5, { commit: COMMIT, signal: never() })
  }

  it.each<[string, object, string[]]>([
    ['nothing', {}, ['ready']],
    [
      'a check of mergeability',
      { detailed_merge_status: 'checking' },
      ['waiting', 'computing: GitLab has not computed yet whether it can be merged.'],
    ],
    [
      'approvals that sync',
      { detailed_merge_status: 'approvals_syncing' },
      ['waiting', 'computing: GitLab has not computed yet whether it can be merged.'],
    ],
    [
      'a pipeline that runs',
      { detailed_merge_status: 'ci_still_running', head_pipeline: { status: 'running' } },
      ['waiting', 'checks: Required checks have not passed: pipeline (running).'],
    ],
    [
      'a pipeline that failed',
      { detailed_merge_status: 'ci_must_pass', head_pipeline: { status: 'failed' } },
      ['blocked', 'checks: Required checks have not passed: pipeline (failed).'],
    ],
    [
      'no pipeline',
      { detailed_merge_status: 'ci_must_pass', head_pipeline: null },
      ['waiting', 'checks: Required checks have not passed: pipeline (missing).'],
    ],
    [
      'a conflict',
      { detailed_merge_status: 'conflict', has_conflicts: true },
      ['blocked', 'conflict: The branch conflicts with the branch to merge into.'],
    ],
    [
      'a branch that is behind',
      { detailed_merge_status: 'need_rebase' },
      ['blocked', 'behind: The branch is behind the branch to merge into, and has to be rebased.'],
    ],
    [
      'a draft with a conflict',
      { detailed_merge_status: 'draft_status', draft: true, has_conflicts: true },
      ['blocked', 'draft: It is a draft.', 'conflict: The branch conflicts with the branch to merge into.'],
    ],
    [
      'discussions',
      { detailed_merge_status: 'discussions_not_resolved' },
      ['blocked', 'discussions: Not all discussions are resolved.'],
    ],
    [
      'requested changes',
      { detailed_merge_status: 'requested_changes' },
      ['blocked', 'changes_requested: A reviewer requested changes.'],
    ],
    [
      'locked paths',
      { detailed_merge_status: 'locked_paths' },
      ['blocked', 'permissions: It changes paths that others have locked.'],
    ],
    [
      'a word that is not known here',
      { detailed_merge_status: 'moon_phase' },
      ['blocked', 'policy: GitLab does not merge it: "moon_phase".'],
    ],
    [
      'an account without rights',
      { user: { can_merge: false } },
      ['blocked', "permissions: The platform's account may not merge into the branch."],
    ],
    [
      'a branch that moved',
      { sha: OTHER },
      ['blocked', 'moved: The branch is not at commit 0123456789ab, with which the last round ended.'],
    ],
    [
      'an older server',
      { detailed_merge_status: undefined, merge_status: 'cannot_be_merged' },
      ['blocked', 'conflict: The branch conflicts with the branch to merge into.'],
    ],
    ['that it is closed', { state: 'closed' }, ['closed', 'closed: It was closed.']],
    ['that it is merged', { state: 'merged' }, ['merged']],
    [
      'that it is merged elsewhere',
      { state: 'merged', sha: OTHER },
      ['closed', 'closed: It was merged at another commit than the reviewed one.'],
    ],
  ])('it is told: %s', async (_, change, expected) => {
    expect(told(await read({ [REQUEST]: { ...open, ...change } }))).toEqual(expected)
  })

  it.each<[string, object, string[]]>([
    ['one that the platform gives itself', { approvals_left: 1, user_can_approve: true }, ['ready']],
    [
      'two, of which the platform gives one',
      { approvals_left: 2, user_can_approve: true },
      ['blocked', 'reviews: It needs 1 further approval.'],
    ],
    [
      'one that the platform may not give',
      { approvals_left: 1, user_can_approve: false },
      ['blocked', 'reviews: It needs 1 further approval.'],
    ],
  ])('missing approvals are told: %s', async (_, approvals, expected) => {
    const answers = { [REQUEST]: { ...open, detailed_merge_status: 'not_approved' }, 'GET /approvals': approvals }
    expect(told(await read(answers))).toEqual(expected)
  })

  it('status checks of others are told by name', async () => {
    const checks = [
      { name: 'audit', status: 'failed' },
      { name: 'cost', status: 'passed' },
      { name: 'sox', status: 'pending' },
    ]
    const answers = {
      [REQUEST]: { ...open, detailed_merge_status: 'status_checks_must_pass' },
      'GET /status_checks': checks,
    }
    expect(told(await read(answers))).toEqual([
      'blocked',
      'checks: Required checks have not passed: audit (failed), sox (pending).',
    ])
  })

  it('what GitLab does not say is unknown, and nothing else', async () => {
    const silent = await read({
      [REQUEST]: { ...open, detailed_merge_status: 'not_approved' },
      [PROJECT]: 500,
      'GET /approvals': 403,
    })
    expect(silent).toMatchObject({
      status: 'blocked',
      method: null,
      blockers: [{ code: 'reviews', text: 'Approvals are missing.' }],
    })
    expect(silent.unknown).toEqual([
      'The git host did not say which merge methods the project allows.',
      'The git host did not say how many approvals are missing.',
    ])
  })

  it.each<[string, object | number, string, object, string | null]>([
    ['always squashes', { squash_option: 'always' }, 'merge', { squash: true }, 'squash'],
    ['never squashes', { squash_option: 'never' }, 'squash', {}, 'merge'],
    ['squashes as asked', { squash_option: 'default_off' }, 'squash', { squash: true }, 'squash'],
    ['squashes by default', { squash_option: 'default_on' }, 'merge', { squash: false }, 'merge'],
    ['squashes by default', { squash_option: 'default_on' }, '', {}, 'squash'],
    ['moves the branch forward', { merge_method: 'ff', squash_option: 'default_off' }, '', {}, 'rebase'],
    ['does not say what it allows', 500, 'squash', { squash: true }, null],
  ])('a merge in a project that %s (%o, preferred %s) sends %o', async (_, project, preferred, sent, method) => {
    const answers = { [PROJECT]: project, [REQUEST]: open, 'POST /approve': {}, 'PUT /merge': { state: 'merged' } }
    const changes = play(answers)
    expect(await (await host(preferred)).merge(5, { ...freely, commit: COMMIT })).toBe('merged')
    expect(changes).toEqual([
      ['POST /approve', { sha: COMMIT }],
      ['PUT /merge', { sha: COMMIT, ...sent }],
    ])
    expect((await read(answers, preferred)).method).toBe(method)
  })

  it('a merge waits while GitLab computes whether it can be merged, as long as it says so', async () => {
    const seconds = shortenTimers(1_000)
    const states = ['unchecked', 'checking', 'mergeable']
    const merges = [405, { state: 'merged' }]
    const changes = play({
      [PROJECT]: {},
      [REQUEST]: () => HttpResponse.json({ ...open, detailed_merge_status: states.shift() }),
      'POST /approve': {},
      'PUT /merge': () => reply(merges.shift() as Answer),
    })
    expect(await (await host()).merge(5, { ...freely, commit: COMMIT })).toBe('merged')
    expect(changes.map((change) => (change as [string])[0])).toEqual(['POST /approve', 'PUT /merge', 'PUT /merge'])
    expect(seconds.count).toBe(2)
  })

  it.each([
    ['a success at the reviewed commit', COMMIT, 'merged_before'],
    ['nothing to merge at another one', OTHER, 404],
  ])('what is merged already is %s', async (_, sha, expected) => {
    play({ [PROJECT]: {}, [REQUEST]: { state: 'merged', sha }, 'POST /approve': 401, 'PUT /merge': 405 })
    const merge = (await host()).merge(5, { ...freely, commit: COMMIT })
    if (expected === 404) expect(await refusalOf(merge)).toMatchObject({ status: 404 })
    else expect(await merge).toBe(expected)
  })
})

describe('at Azure DevOps', () => {
  const URI = 'https://dev.azure.com/acme/Project/_git/Infra'
  const PULL = 'GET /pullrequests/22'
  const EVALUATIONS = 'GET /policy/evaluations'
  const host = (merge_method = '') => hostOf(URI, `git: { provider: AZURE_DEVOPS, merge_method: "${merge_method}" }`)
  const open = {
    status: 'active',
    mergeStatus: 'succeeded',
    lastMergeSourceCommit: { commitId: COMMIT },
    repository: { project: { id: 'p1' } },
    reviewers: [] as { vote: number }[],
  }
  const policy = (id: string, settings: object, status = 'queued', more = {}) => ({
    status,
    configuration: { isBlocking: true, isEnabled: true, type: { id, displayName: 'Policy' }, settings, ...more },
  })
  const strategies = (settings: object) => policy('fa4e907d-c16b-4a4c-9dfa-4916e5d171ab', settings, 'approved')
  const approvers = (settings: object) => policy('fa4e907d-c16b-4a4c-9dfa-4906e5d171dd', settings)
  const read = async (change: object, value: object[] | number = [], merge_method = '') => {
    play({ [PULL]: { ...open, ...change }, [EVALUATIONS]: typeof value === 'number' ? value : { value } })
    return (await host(merge_method)).readiness(22, { commit: COMMIT, signal: never() })
  }

  it.each<[string, object, object[], string[]]>([
    ['nothing', {}, [], ['ready']],
    [
      'a conflict',
      { mergeStatus: 'conflicts' },
      [],
      ['blocked', 'conflict: The branch conflicts with the branch to merge into.'],
    ],
    [
      'a merge that is tried',
      { mergeStatus: 'queued' },
      [],
      ['waiting', 'computing: Azure DevOps has not computed yet whether it can be merged.'],
    ],
    ['a draft', { isDraft: true }, [], ['blocked', 'draft: It is a draft.']],
    [
      'a rejection',
      { reviewers: [{ vote: -10 }, { vote: 10 }] },
      [],
      ['blocked', 'changes_requested: 1 reviewer rejected it or waits for the author.'],
    ],
    [
      'a build that runs',
      {},
      [policy('0609b952-1397-4640-95ec-e00a01b2c241', { displayName: 'plan' }, 'running')],
      ['waiting', 'checks: Required checks have not passed: plan (running).'],
    ],
    [
      'a build and a status that failed',
      {},
      [
        policy('0609b952-1397-4640-95ec-e00a01b2c241', { displayName: 'plan' }, 'rejected'),
        policy('cbdc66da-9728-4af8-aada-9a5a32e4a226', { statusName: 'cost' }, 'rejected'),
      ],
      ['blocked', 'checks: Required checks have not passed: plan (rejected), cost (rejected).'],
    ],
    [
      'reviewers',
      { reviewers: [{ vote: 10 }] },
      [approvers({ minimumApproverCount: 3, creatorVoteCounts: true })],
      ['blocked', 'reviews: It needs 3 approvals and has 1.'],
    ],
    [
      'a reviewer that the platform is itself',
      {},
      [approvers({ minimumApproverCount: 1, creatorVoteCounts: true })],
      ['ready'],
    ],
    [
      'a reviewer where authors do not count',
      {},
      [approvers({ minimumApproverCount: 1 })],
      ['blocked', 'reviews: It needs 1 approval and has 0.'],
    ],
    [
      'comments',
      {},
      [policy('c6a1889d-b943-4856-b76f-9e46bb6b0df2', {}, 'rejected')],
      ['blocked', 'discussions: Not all comments are resolved.'],
    ],
    [
      'a work item',
      {},
      [policy('40e92b44-2fe1-4dd6-b3d8-74a9c21d0c6e', {}, 'rejected')],
      ['blocked', 'policy: A branch policy is not met: Policy (rejected).'],
    ],
    [
      'a policy that does not block',
      {},
      [policy('40e92b44-2fe1-4dd6-b3d8-74a9c21d0c6e', {}, 'rejected', { isBlocking: false })],
      ['ready'],
    ],
    [
      'a branch that moved',
      { lastMergeSourceCommit: { commitId: OTHER } },
      [],
      ['blocked', 'moved: The branch is not at commit 0123456789ab, with which the last round ended.'],
    ],
    ['that it is merged', { status: 'completed' }, [], ['merged']],
    ['that it was abandoned', { status: 'abandoned' }, [], ['closed', 'closed: It was abandoned.']],
  ])('it is told: %s', async (_, change, evaluations, expected) => {
    expect(told(await read(change, evaluations))).toEqual(expected)
  })

  it('what Azure DevOps does not say is unknown', async () => {
    expect(await read({}, 403)).toEqual({
      status: 'ready',
      method: null,
      blockers: [],
      unknown: ['The git host did not say what the branch policies say.'],
    })
  })

  it.each<[string, object[] | number, string, string | null]>([
    ['no policy limits it', [], '', null],
    ['no policy limits it', [], 'squash', 'squash'],
    ['only squash is allowed', [strategies({ allowSquash: true })], '', 'squash'],
    ['only squash is allowed', [strategies({ allowSquash: true })], 'merge', 'squash'],
    ['rebase with a merge commit is allowed', [strategies({ allowRebaseMerge: true })], 'squash', 'rebaseMerge'],
    [
      'two policies have one in common',
      [strategies({ allowSquash: true, allowRebase: true }), strategies({ allowRebase: true })],
      '',
      'rebase',
    ],
    ['the server says it in its old form', [strategies({ useSquashMerge: true })], '', 'squash'],
    ['the policies cannot be read', 403, 'squash', 'squash'],
    ['the policies cannot be read', 403, '', null],
  ])('a merge where %s (%o, preferred %s) takes %s', async (_, value, preferred, strategy) => {
    const changes = play({
      [PULL]: open,
      [EVALUATIONS]: typeof value === 'number' ? value : { value },
      'GET /connectionData': { authenticatedUser: { id: 'u1' } },
      'PUT /reviewers/u1': {},
      'PATCH /pullrequests/22': { status: 'completed' },
    })
    await (await host(preferred)).merge(22, { ...freely, commit: COMMIT })
    expect(changes.at(-1)).toEqual([
      'PATCH /pullrequests/22',
      {
        status: 'completed',
        lastMergeSourceCommit: { commitId: COMMIT },
        ...(strategy && { completionOptions: { mergeStrategy: strategy } }),
      },
    ])
  })

  it('what is completed at the reviewed commit is a success, and nobody votes for it', async () => {
    const changes = play({ [PULL]: { ...open, status: 'completed' } })
    expect(await (await host()).merge(22, { ...freely, commit: COMMIT })).toBe('merged_before')
    expect(changes).toEqual([])
  })
})

describe('at GitHub', () => {
  const open = {
    state: 'open',
    mergeable: true,
    mergeable_state: 'clean',
    head: { sha: COMMIT },
    base: { ref: 'main' },
  }

  it.each([
    500, 403, 404,
  ])('a host that answers %i to all questions about its rules merges all the same', async (status) => {
    const answers = { 'GET /pulls/7': open, 'GET /repos/Acme/Infra': status, 'GET /rules/branches/main': status }
    const changes = play({ ...answers, 'PUT /merge': { merged: true } })
    const host = await hostOf('https://github.com/Acme/Infra')
    expect(await host.merge(7, { ...freely, commit: COMMIT })).toBe('merged')
    expect(changes).toEqual([['PUT /merge', { sha: COMMIT }]])
    expect(await host.readiness(7, { commit: COMMIT, signal: never() })).toEqual({
      status: 'ready',
      method: null,
      blockers: [],
      unknown: [
        'The git host did not say which merge methods the repository allows.',
        'The git host did not say which rules the branch has.',
      ],
    })
  })
})
