import { delay, HttpResponse, http } from 'msw'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { conflict } from '../../src/base/errors.ts'
import type { PullRequestHost } from '../../src/pull-requests/host.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import {
  controlCallLimit,
  freely,
  hostOf,
  movedRefusal,
  NEW,
  never,
  refusalOf,
  shortenTimers,
  stuckBody,
} from './support.ts'

const UNEXPECTED = { status: 502, message: 'The git provider answered in an unexpected form.' }
const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const OTHER = 'f'.repeat(40)
const server = interceptRequests()
afterEach(() => void vi.unstubAllGlobals())

type Answer = () => Response | Promise<Response>
const json =
  (body: object | null, status = 200, headers = {}): Answer =>
  () =>
    HttpResponse.json(body, { status, headers })
/** Gives these answers in turn and repeats the last one. */
const inTurn =
  (...answers: object[]): Answer =>
  () =>
    HttpResponse.json(answers.length > 1 ? answers.shift() : answers[0])
const text =
  (body: string | null, status = 200, type = 'application/json'): Answer =>
  () =>
    new HttpResponse(body, { status, headers: { 'content-type': type } })

const GITHUB = 'https://api.github.com/repos/Acme/Infra'
const GITHUB_PULLS = `${GITHUB}/pulls`
const pull = {
  number: 7,
  html_url: 'https://github.com/Acme/Infra/pull/7',
  state: 'open',
  merged: false,
  mergeable: true,
}
const GITLAB = 'https://gitlab.com/api/v4/projects/Acme%2FInfra'
const GITLAB_REQUESTS = `${GITLAB}/merge_requests`
const request = { iid: 5, web_url: 'https://gitlab.com/Acme/Infra/-/merge_requests/5', state: 'opened', title: 'x' }
const AZURE_PULLS = 'https://dev.azure.com/acme/My%20Project/_apis/git/repositories/Infra/pullrequests'
const USER = 'd6245f20-2af8-44f4-9451-8107cb2767db'
const azurePull = {
  pullRequestId: 22,
  status: 'active',
  mergeStatus: 'succeeded',
  lastMergeSourceCommit: { commitId: COMMIT },
}

interface Played {
  uri: string
  yaml: string
  number: number
  /** Headers of every request. */
  headers: Record<string, string>
  created: { id: number; url: string; status: string }
  /** The requests by name: method, address and the usual answer. */
  calls: Record<string, readonly [method: 'get' | 'post' | 'put' | 'patch', url: string, answer: Answer]>
}
const HOSTS = {
  GitHub: {
    uri: 'https://github.com/Acme/Infra.git',
    yaml: '',
    number: 7,
    headers: {
      authorization: `Basic ${btoa('bot:token-of-the-bot')}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    },
    created: { id: 7, url: pull.html_url, status: 'open' },
    calls: {
      create: ['post', GITHUB_PULLS, json(pull, 201)],
      find: ['get', GITHUB_PULLS, json([])],
      read: ['get', `${GITHUB_PULLS}/7`, json(pull)],
      allowed: ['get', GITHUB, json({ allow_merge_commit: true })],
      merge: ['put', `${GITHUB_PULLS}/7/merge`, json({ merged: true, sha: COMMIT, message: 'merged' })],
    },
  },
  GitLab: {
    uri: 'https://gitlab.com/Acme/Infra.git',
    yaml: 'git: { provider: GITLAB }',
    number: 5,
    headers: { 'private-token': 'token-of-the-bot' },
    created: { id: 5, url: request.web_url, status: 'opened' },
    calls: {
      create: ['post', GITLAB_REQUESTS, json(request, 201)],
      allowed: ['get', GITLAB, json({ merge_method: 'merge', squash_option: 'default_off' })],
      find: ['get', GITLAB_REQUESTS, json([])],
      approve: ['post', `${GITLAB_REQUESTS}/5/approve`, text('', 201)],
      merge: ['put', `${GITLAB_REQUESTS}/5/merge`, json({ ...request, state: 'merged' })],
      read: ['get', `${GITLAB_REQUESTS}/5`, json(request)],
    },
  },
  'Azure DevOps': {
    uri: 'https://acme@dev.azure.com/acme/My%20Project/_git/Infra',
    yaml: 'git: { provider: AZURE_DEVOPS }',
    number: 22,
    headers: { authorization: `Basic ${btoa(':token-of-the-bot')}`, accept: 'application/json' },
    created: { id: 22, url: 'https://dev.azure.com/acme/My%20Project/_git/Infra/pullrequest/22', status: 'active' },
    calls: {
      create: ['post', AZURE_PULLS, json(azurePull, 201)],
      find: ['get', AZURE_PULLS, json({ value: [] })],
      connection: ['get', 'https://dev.azure.com/acme/_apis/connectionData', json({ authenticatedUser: { id: USER } })],
      vote: ['put', `${AZURE_PULLS}/22/reviewers/${USER}`, json({ id: USER, vote: 10 })],
      read: ['get', `${AZURE_PULLS}/22`, json(azurePull)],
      merge: ['patch', `${AZURE_PULLS}/22`, json({ ...azurePull, status: 'completed' })],
    },
  },
} satisfies Record<string, Played>
type Name = keyof typeof HOSTS
const NAMES = Object.keys(HOSTS) as Name[]

/** Plays a host that gives these answers instead of the usual ones. Records every call. */
function play(name: Name, answers: Record<string, Answer> = {}) {
  const calls: { step: string; url: URL; headers: Headers; body: unknown }[] = []
  const { calls: played, uri, yaml, number }: Played = HOSTS[name]
  server.use(
    ...Object.entries(played).map(([step, [method, address, usual]]) =>
      http[method](address, async ({ request: asked }) => {
        const sent = await asked.text()
        calls.push({
          step,
          url: new URL(asked.url),
          headers: asked.headers,
          body: sent === '' ? null : JSON.parse(sent),
        })
        return (answers[step] ?? usual)()
      }),
    ),
  )
  const host = (more = '') => hostOf(uri, `${yaml}\n${more}`)
  return {
    calls,
    steps: () => calls.map(({ step }) => step),
    create: async (changes = {}) => (await host()).create({ ...NEW, ...changes }, never()),
    merge: async (options: Partial<Parameters<PullRequestHost['merge']>[1]> = {}, more = '') =>
      (await host(more)).merge(number, { ...freely, ...options }),
  }
}
const STEPS = {
  GitHub: ['read', 'allowed', 'merge'],
  GitLab: ['allowed', 'approve', 'merge'],
  'Azure DevOps': ['connection', 'vote', 'read', 'merge'],
}

describe.each(NAMES)('at %s', (name) => {
  const { headers, number } = HOSTS[name]

  it('a new pull request is opened with the credentials of the account', async () => {
    const { create, calls } = play(name)
    expect(await create()).toEqual(HOSTS[name].created)
    expect(Object.fromEntries(calls[0]?.headers ?? [])).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json(; charset=utf-8)?$/),
      ...headers,
    })
  })

  it('a merge takes its steps in order, each with the credentials', async () => {
    const { merge, calls, steps } = play(name)
    await merge()
    expect(steps()).toEqual(STEPS[name])
    for (const call of calls) expect(Object.fromEntries(call.headers)).toMatchObject(headers)
  })

  it('a merge does not happen when the caller objects at the last moment', async () => {
    const { merge, steps } = play(name)
    const confirm = () => Promise.reject(conflict('locked meanwhile'))
    expect(await refusalOf(merge({ confirm }))).toEqual({ status: 409, message: 'locked meanwhile' })
    expect(steps()).toEqual(STEPS[name].slice(0, -1))
  })

  it('a merge is refused when the branch has moved at the end', async () => {
    const { merge } = play(name, { merge: json({ message: 'The head was modified.' }, 409) })
    expect(await refusalOf(merge({ commit: COMMIT }))).toEqual(movedRefusal(number, COMMIT))
  })
})

describe('a new pull request', () => {
  it.each([
    ['GitHub', { head: NEW.head, base: 'main', title: NEW.title, body: NEW.description }],
    ['GitLab', { source_branch: NEW.head, target_branch: 'main', title: NEW.title, description: NEW.description }],
    [
      'Azure DevOps',
      {
        sourceRefName: `refs/heads/${NEW.head}`,
        targetRefName: 'refs/heads/main',
        title: NEW.title,
        description: NEW.description,
      },
    ],
  ] as const)('at %s goes from branch to branch', async (name, body) => {
    const { create, calls } = play(name)
    await create()
    expect(calls).toMatchObject([{ step: 'create', body }])
  })

  it.each([
    ['GitHub', { body: 'x'.repeat(65_536) }],
    ['GitLab', { title: 'y'.repeat(255), description: 'x'.repeat(1_048_576) }],
    ['Azure DevOps', { description: 'x'.repeat(4_000) }],
  ] as const)('at %s has texts of the length that the host takes', async (name, body) => {
    const { create, calls } = play(name)
    await create({ title: 'y'.repeat(256), description: 'x'.repeat(1_048_577) })
    expect(calls).toMatchObject([{ body }])
  })

  it.each([
    [409, 409, { message: ['Another open merge request already exists for this source branch: !4'] }],
    [400, 400, { message: { source_branch: ['is invalid'] } }],
    [404, 404, { message: '404 Project Not Found' }],
    [429, 429, { message: { error: 'This endpoint has been requested too many times. Try again later.' } }],
    [500, 500, { message: '500 Internal Server Error' }],
    [401, 502, { message: '401 Unauthorized' }],
    [403, 502, { message: 'TF401027: You need the Git PullRequestContribute permission.' }],
  ])('that is refused with %i is answered with %i and the words of the host', async (status, answered, body) => {
    const { create } = play('GitLab', { create: json(body, status) })
    expect(await refusalOf(create())).toEqual({ status: answered, message: JSON.stringify(body) })
  })

  it.each([
    ['203', text('<html>Azure DevOps Services | Sign In</html>', 203, 'text/html')],
    ['302', () => HttpResponse.redirect('https://spsprodeus21.vssps.visualstudio.com/_signin', 302)],
  ])('with a token that leads to the sign-in page (%s) is a 502', async (status, answer) => {
    const { create } = play('Azure DevOps', { create: answer })
    const message = expect.stringMatching(`HTTP ${status}.*check the token`)
    expect(await refusalOf(create())).toEqual({ status: 502, message })
  })

  it('sends its token to no other address', async () => {
    const { create } = play('GitLab', { create: () => HttpResponse.redirect('https://elsewhere.example.org/', 307) })
    expect(await refusalOf(create())).toEqual({ status: 502, message: expect.stringContaining('HTTP 307') })
  })

  it.each([
    ['GitHub', 'no address', json({ ...pull, html_url: undefined })],
    ['GitHub', 'a script as address', json({ ...pull, html_url: 'javascript:alert(1)' })],
    ['GitLab', 'a page', text('<html>sign in</html>')],
    ['GitLab', 'half a body', text('{"iid": 5, "web_url": "https://git')],
    ['GitLab', 'a number as text', json({ ...request, iid: '5' })],
    ['GitLab', 'a fraction', json({ ...request, iid: 5.5 })],
    ['GitLab', 'a number beyond the record', json({ ...request, iid: 2 ** 31 })],
    ['GitLab', 'no address', json({ ...request, web_url: undefined })],
    ['GitLab', 'a script as address', json({ ...request, web_url: 'javascript:alert(1)' })],
    ['GitLab', 'null', json(null)],
    ['Azure DevOps', 'no number', json({ ...azurePull, pullRequestId: null })],
    ['Azure DevOps', 'no state', json({ pullRequestId: 22 })],
  ] as const)('that %s answers with %s is a 502', async (name, _, answer) => {
    expect(await refusalOf(play(name, { create: answer }).create())).toEqual(UNEXPECTED)
  })
})

describe('20 seconds', () => {
  const silence = async (late: () => void) => {
    late()
    await delay('infinite')
    return HttpResponse.json({})
  }
  it.each([
    ['create', 'PR creation timeout', 'silence', silence],
    ['create', 'PR creation timeout', 'half an answer', async (late: () => void) => stuckBody(late)],
    ['merge', 'Complete PR timeout', 'silence', silence],
    ['merge', 'Complete PR timeout', 'half an answer', async (late: () => void) => stuckBody(late)],
  ] as const)('end a %s with 504 %s: %s', async (verb, message, _, answer) => {
    const limit = controlCallLimit()
    const host = play('GitHub', { [verb]: () => answer(limit.late) })
    expect(await refusalOf(host[verb]()).finally(limit.restore)).toEqual({ status: 504, message })
  })
})

describe('the commit that may be merged', () => {
  it.each([
    ['GitHub', { read: json({ ...pull, head: { sha: COMMIT } }) }, [null, null, { sha: COMMIT }]],
    ['GitLab', {}, [null, { sha: COMMIT }, { sha: COMMIT }]],
    [
      'Azure DevOps',
      {},
      [null, null, { vote: 10, id: USER }, null, { status: 'completed', lastMergeSourceCommit: { commitId: COMMIT } }],
    ],
  ] as const)('is named to %s', async (name, answers, bodies) => {
    const { merge, calls } = play(name, answers)
    await merge({ commit: COMMIT })
    expect(calls.map(({ body }) => body)).toEqual(bodies)
  })

  const elsewhere = { ...azurePull, lastMergeSourceCommit: { commitId: OTHER } }
  it.each([
    ['GitHub', { read: json({ ...pull, head: { sha: OTHER } }) }, ['read']],
    ['GitLab', { approve: json({ message: 'SHA does not match' }, 409) }, ['allowed', 'approve']],
    ['Azure DevOps', { read: json(elsewhere) }, ['read']],
    ['Azure DevOps', { read: inTurn(azurePull, elsewhere) }, ['read', 'connection', 'vote', 'read']],
  ] as const)('is not where the branch is, %s: %o', async (name, answers, expected) => {
    const { merge, steps } = play(name, answers)
    expect(await refusalOf(merge({ commit: COMMIT }))).toEqual(movedRefusal(HOSTS[name].number, COMMIT))
    expect(steps()).toEqual(expected)
  })
})

describe('a merge', () => {
  it('at Azure DevOps is voted for by the account and completes the commit that was read', async () => {
    const { merge, calls } = play('Azure DevOps')
    await merge()
    expect(calls.map(({ step, body }) => [step, body])).toEqual([
      ['connection', null],
      ['vote', { vote: 10, id: USER }],
      ['read', null],
      ['merge', { status: 'completed', lastMergeSourceCommit: { commitId: COMMIT } }],
    ])
    expect(calls.map(({ url }) => url.search)).toEqual(Array(4).fill('?api-version=7.1-preview'))
  })

  it('at GitHub waits a second as long as the host does not know', async () => {
    const seconds = shortenTimers(1_000)
    const unknown = { ...pull, mergeable: null }
    const { merge, steps } = play('GitHub', { read: inTurn(unknown, unknown, pull) })
    await merge()
    expect(steps()).toEqual(['read', 'read', 'read', 'allowed', 'merge'])
    expect(seconds.count).toBe(2)
  })

  it('at Azure DevOps is done when the background merge is', async () => {
    const seconds = shortenTimers(1_000)
    const queued = { ...azurePull, mergeStatus: 'queued' }
    const read = inTurn(azurePull, queued, { ...azurePull, status: 'completed' })
    const { merge, steps } = play('Azure DevOps', { merge: json(queued), read })
    await merge()
    expect(steps()).toEqual(['connection', 'vote', 'read', 'merge', 'read', 'read'])
    expect(seconds.count).toBe(2)
  })

  it.each([
    ['GitHub', { read: json({ ...pull, mergeable: null }) }, '', 10],
    ['GitHub', { read: json({ ...pull, mergeable: null }) }, 'orchestration: { pull_request_readiness_seconds: 3 }', 3],
    ['GitHub', { read: json({ ...pull, mergeable: null }) }, 'orchestration: { pull_request_readiness_seconds: 0 }', 0],
    ['Azure DevOps', { merge: json(azurePull) }, 'orchestration: { pull_request_readiness_seconds: 4 }', 4],
  ] as const)('at %s is given up after so many seconds: %o %s', async (name, answers, yaml, waits) => {
    const seconds = shortenTimers(1_000)
    const message = `Pull Request ${HOSTS[name].number} readiness polling exhausted.`
    expect(await refusalOf(play(name, answers).merge({}, yaml))).toEqual({ status: 504, message })
    expect(seconds.count).toBe(waits)
  })

  const failed = (mergeStatus: string) => ({
    merge: json({ ...azurePull, mergeStatus: 'queued' }),
    read: inTurn(azurePull, { ...azurePull, mergeStatus }),
  })
  it.each([
    ['GitHub', { read: json({ ...pull, mergeable: false }) }],
    ['Azure DevOps', failed('conflicts')],
    ['Azure DevOps', failed('rejectedByPolicy')],
    ['Azure DevOps', failed('failure')],
  ] as const)('that %s cannot do is a 400', async (name, answers) => {
    shortenTimers(1_000)
    const message = `Pull Request ${HOSTS[name].number} cannot be merged.`
    expect(await refusalOf(play(name, answers).merge())).toEqual({ status: 400, message })
  })

  const refused = json({ message: '405 Method Not Allowed' }, 405)
  const untilRead = STEPS['Azure DevOps'].slice(0, 3)
  it.each([
    ['GitHub', 'merged', { read: json({ ...pull, state: 'closed', merged: true, mergeable: null }) }, ['read']],
    ['GitHub', 'closed', { read: json({ ...pull, state: 'closed' }) }, ['read']],
    ['GitLab', 'merged', { merge: refused, read: json({ state: 'merged' }) }, [...STEPS.GitLab, 'read']],
    ['GitLab', 'closed', { merge: refused, read: json({ state: 'closed' }) }, [...STEPS.GitLab, 'read']],
    ['Azure DevOps', 'completed', { read: json({ ...azurePull, status: 'completed' }) }, untilRead],
    ['Azure DevOps', 'abandoned', { read: json({ ...azurePull, status: 'abandoned' }) }, untilRead],
    ['Azure DevOps', 'abandoned', { merge: json({ ...azurePull, status: 'abandoned' }) }, STEPS['Azure DevOps']],
  ] as const)('at %s of a %s one finds nothing', async (name, state, answers, expected) => {
    const { merge, steps } = play(name, answers)
    const message = `There are no pull requests to merge: Pull Request ${HOSTS[name].number} is ${state}.`
    expect(await refusalOf(merge())).toEqual({ status: 404, message })
    expect(steps()).toEqual(expected)
  })

  it.each([
    ['GitHub', 'read', 401, 502, { message: 'Bad credentials' }, {}],
    ['GitHub', 'merge', 401, 502, { message: 'Bad credentials' }, {}],
    ['GitHub', 'merge', 403, 502, { message: 'Resource not accessible by personal access token' }, {}],
    ['GitHub', 'merge', 405, 405, { message: 'Pull Request is not mergeable' }, {}],
    ['GitHub', 'merge', 409, 409, { message: 'Head branch was modified.' }, {}],
    ['GitHub', 'merge', 422, 422, { message: 'Validation Failed' }, {}],
    ['GitHub', 'merge', 403, 502, { message: 'API rate limit exceeded' }, { 'x-ratelimit-remaining': '0' }],
    ['GitLab', 'approve', 404, 404, { message: 'no' }, {}],
    ['GitLab', 'approve', 403, 502, { message: 'no' }, {}],
    ['GitLab', 'approve', 429, 429, { message: 'no' }, {}],
    ['GitLab', 'merge', 409, 409, { message: 'SHA does not match HEAD of source branch' }, {}],
    ['GitLab', 'merge', 422, 422, { message: 'Branch cannot be merged' }, {}],
    ['GitLab', 'merge', 403, 502, { message: '403 Forbidden' }, {}],
    ['Azure DevOps', 'connection', 401, 502, { message: 'TF400813: not authorized' }, {}],
    ['Azure DevOps', 'vote', 403, 502, { message: 'TF400000: no' }, {}],
    ['Azure DevOps', 'read', 404, 404, { message: 'TF400000: no' }, {}],
    ['Azure DevOps', 'merge', 409, 409, { message: 'TF400000: no' }, {}],
    ['Azure DevOps', 'merge', 429, 429, { message: 'TF400000: no' }, {}],
  ] as const)('stops where %s refuses the %s with %i: %i', async (name, step, status, answered, body, headers) => {
    const { merge, steps } = play(name, { [step]: json(body, status, headers) })
    expect(await refusalOf(merge())).toEqual({ status: answered, message: JSON.stringify(body) })
    expect(steps().at(-1)).toBe(step)
  })

  it('at GitLab that is not allowed is refused as such while the request is open', async () => {
    expect(await refusalOf(play('GitLab', { merge: refused }).merge())).toEqual({
      status: 405,
      message: '{"message":"405 Method Not Allowed"}',
    })
  })

  it('can be repeated although GitLab refuses a second approval', async () => {
    const { merge, steps } = play('GitLab', { approve: json({ message: '401 Unauthorized' }, 401) })
    await merge()
    expect(steps()).toEqual(STEPS.GitLab)
  })

  it('is a 502 with a token that GitLab does not know', async () => {
    const unknown = json({ message: '401 Unauthorized' }, 401)
    const { merge } = play('GitLab', { approve: unknown, merge: unknown })
    expect(await refusalOf(merge())).toEqual({ status: 502, message: '{"message":"401 Unauthorized"}' })
  })

  it.each([
    ['GitHub', 'read', text('<html>proxy</html>', 200, 'text/html')],
    ['GitHub', 'read', text('{"mergeable": tr')],
    ['GitHub', 'read', text(null, 204)],
    ['GitHub', 'read', json({ number: 7, state: 'open' })],
    ['GitHub', 'read', json({ ...pull, mergeable: 'yes' })],
    ['GitHub', 'read', json([pull])],
    ['GitHub', 'merge', text('')],
    ['GitHub', 'merge', text('{"merged": true, "sh')],
    ['GitHub', 'merge', json({ merged: false, message: 'no' })],
    ['GitLab', 'merge', json(request)],
    ['GitLab', 'merge', json({ state: 7 })],
    ['GitLab', 'merge', text('{"state": "mer')],
    ['Azure DevOps', 'connection', json({ authenticatedUser: {} })],
    ['Azure DevOps', 'connection', json({ authenticatedUser: { id: '' } })],
    ['Azure DevOps', 'read', json({ ...azurePull, lastMergeSourceCommit: undefined })],
    ['Azure DevOps', 'read', json({ ...azurePull, lastMergeSourceCommit: { commitId: 7 } })],
    ['Azure DevOps', 'merge', json({ status: 7 })],
  ] as const)('stops at an answer of %s to the %s in another form, %#', async (name, step, answer) => {
    const { merge, steps } = play(name, { [step]: answer })
    expect(await refusalOf(merge())).toEqual(UNEXPECTED)
    expect(steps().at(-1)).toBe(step)
  })

  it.each([
    ['GitHub', { merge: json({}) }],
    ['GitLab', { merge: json({}) }],
    ['Azure DevOps', { merge: json({}) }],
    ['Azure DevOps', { read: json({ lastMergeSourceCommit: azurePull.lastMergeSourceCommit }) }],
  ] as const)('at %s is believed when the body does not contradict the status: %o', async (name, answers) => {
    const { merge, steps } = play(name, answers)
    await merge()
    expect(steps()).toEqual(STEPS[name])
  })

  it('is a 502 when the connection is cut, before and after the headers', async () => {
    const { merge } = play('Azure DevOps', { vote: () => HttpResponse.error() })
    expect(await refusalOf(merge())).toEqual({ status: 502, message: 'The git provider is not reachable.' })
    const cut = () => new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) })
    const later = play('GitHub', { merge: () => new HttpResponse(cut()) })
    expect(await refusalOf(later.merge())).toMatchObject({ status: 502 })
  })

  it('ends when the caller goes away, also between two readings', async () => {
    const controller = new AbortController()
    const waiting = play('GitHub', { read: json({ ...pull, mergeable: null }) }).merge({ signal: controller.signal })
    server.events.on('response:mocked', () => setTimeout(() => controller.abort(new Error('caller is gone')), 0))
    await expect(waiting).rejects.toThrow('caller is gone')
    server.events.removeAllListeners()
  })

  it('shows no secret that a page repeats', async () => {
    const secrets = ['token-of-the-bot', btoa('bot:token-of-the-bot')]
    const { merge } = play('GitHub', { read: text(`refused: ${secrets.join(' ')}`, 400) })
    expect(await refusalOf(merge())).toEqual({ status: 400, message: 'refused: *** ***' })
  })

  it('follows to the new address of a renamed repository at GitHub, also with a change', async () => {
    const moved = 'https://api.github.com/repositories/1/pulls/7'
    const seen: unknown[] = []
    const { merge } = play('GitHub', {
      read: () => HttpResponse.redirect(moved, 301),
      merge: () => HttpResponse.redirect(`${moved}/merge`, 307),
    })
    server.use(
      http.get(moved, ({ request: { headers } }) => {
        seen.push(headers.get('authorization'))
        return HttpResponse.json(pull)
      }),
      http.put(`${moved}/merge`, ({ request }) => {
        seen.push(request.headers.get('authorization'), request.method)
        return HttpResponse.json({ merged: true })
      }),
    )
    await merge()
    const { authorization } = HOSTS.GitHub.headers
    expect(seen).toEqual([authorization, authorization, 'PUT'])
  })

  it('asks GitLab for the number of a moved project, whose changes it refuses', async () => {
    const byNumber = 'https://gitlab.com/api/v4/projects/42'
    const refused = json({ message: '405 Non GET methods are not allowed for moved projects' }, 405)
    const { create, merge } = play('GitLab', {
      create: refused,
      approve: refused,
      allowed: () => HttpResponse.redirect(byNumber, 301),
    })
    const seen: string[] = []
    server.use(
      http.get(byNumber, () => HttpResponse.json({ id: 42, squash_option: 'default_off' })),
      http.all(`${byNumber}/*`, ({ request: { method, url, headers } }) => {
        seen.push(`${method} ${url.slice(byNumber.length)} ${headers.get('private-token')}`)
        return HttpResponse.json({ ...request, state: 'merged' }, { status: method === 'POST' ? 201 : 200 })
      }),
    )
    expect(await create()).toMatchObject({ id: 5 })
    await merge()
    expect(seen).toEqual([
      'POST /merge_requests token-of-the-bot',
      'POST /merge_requests/5/approve token-of-the-bot',
      'PUT /merge_requests/5/merge token-of-the-bot',
    ])
  })

  it.each([
    ['another host', 'https://elsewhere.example.org/repos/Acme/Infra/pulls/7'],
    ['another port', 'https://api.github.com:8443/repositories/1/pulls/7'],
    ['another scheme', 'http://api.github.com/repositories/1/pulls/7'],
  ])('goes to no address at %s', async (_, address) => {
    const { merge } = play('GitHub', { read: () => HttpResponse.redirect(address, 301) })
    let asked = 0
    server.use(
      http.all(address, () => {
        asked++
        return HttpResponse.json(pull)
      }),
    )
    expect(await refusalOf(merge())).toEqual({ status: 502, message: expect.stringContaining('HTTP 301') })
    expect(asked).toBe(0)
  })
})

describe('a host that limits requests', () => {
  /** Counts the waits of exactly this length, and lets them end at once. */
  const waitsOf = (seconds: number) => shortenTimers(seconds * 1_000)
  const now = Math.floor(Date.now() / 1_000)
  const date = new Date(now * 1_000).toUTCString()
  const secondary = { message: 'You have exceeded a secondary rate limit.' }
  const documented = { message: 'no', documentation_url: 'https://docs.github.com/x#about-secondary-rate-limits' }

  it.each([
    ['GitHub', 'create', 403, secondary, { 'retry-after': '12' }],
    ['GitHub', 'merge', 429, secondary, { 'retry-after': '12' }],
    [
      'GitHub',
      'read',
      503,
      { message: 'Unavailable' },
      { 'retry-after': new Date((now + 12) * 1_000).toUTCString(), date },
    ],
    ['GitHub', 'create', 403, {}, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now + 12), date }],
    ['GitLab', 'create', 429, {}, { 'ratelimit-remaining': '0', 'ratelimit-reset': String(now + 12), date }],
    ['GitLab', 'merge', 429, {}, { 'ratelimit-reset': '12' }],
    ['Azure DevOps', 'create', 429, {}, { 'retry-after': '12', 'x-ratelimit-delay': '3' }],
    ['Azure DevOps', 'vote', 429, {}, { 'x-ratelimit-reset': String(now + 12), date }],
  ] as const)('is asked again when it says: %s, %s, %i', async (name, step, status, body, headers) => {
    const waits = waitsOf(12)
    let refusals = 0
    const usual = (HOSTS[name] as Played).calls[step]?.[2]
    const answer = () => (refusals++ === 0 ? json(body, status, headers)() : (usual?.() ?? HttpResponse.error()))
    const host = play(name, { [step]: answer })
    if (step === 'create') expect(await host.create()).toEqual(HOSTS[name].created)
    else await host.merge()
    expect(waits.count).toBe(1)
    expect(host.steps().filter((one) => one === step)).toHaveLength(2)
  })

  it.each([
    ['GitHub', 403, 502, secondary, { 'retry-after': '90' }, 90, 'in 90 seconds'],
    ['GitHub', 403, 502, secondary, {}, 60, 'in 60 seconds'],
    ['GitHub', 403, 502, documented, {}, 60, 'in 60 seconds'],
    [
      'GitHub',
      403,
      502,
      {},
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now + 1_800), date },
      1_800,
      'in 30 minutes',
    ],
    ['GitLab', 429, 429, {}, { 'ratelimit-reset': String(now + 61), date }, 61, 'in 61 seconds'],
    ['Azure DevOps', 503, 503, {}, { 'retry-after': '300' }, 300, 'in 5 minutes'],
  ] as const)('for longer than the call may take is refused, and the answer says until when: %s, %i', async (name, status, answered, body, headers, seconds, when) => {
    const host = play(name, { create: json(body, status, headers) })
    const error = await host.create().then(null, (reason: unknown) => reason)
    const message = `${JSON.stringify(body)}\nThe git host takes further requests ${when}.`
    expect(error).toMatchObject({ status: answered, message, retryAfterSeconds: seconds })
    expect(host.steps()).toEqual(['create'])
  })

  it('is not waited for when the caller goes away', async () => {
    const controller = new AbortController()
    const waiting = play('GitHub', { read: json(secondary, 403, { 'retry-after': '20' }) }).merge({
      signal: controller.signal,
    })
    server.events.on('response:mocked', () => setTimeout(() => controller.abort(new Error('caller is gone')), 0))
    await expect(waiting).rejects.toThrow('caller is gone')
    server.events.removeAllListeners()
  })
})

describe('an answer that gets lost', () => {
  const listed = {
    GitHub: [
      { ...pull, number: 9, head: { ref: NEW.head }, base: { ref: 'other' } },
      { ...pull, head: { ref: NEW.head }, base: { ref: 'main' } },
    ],
    GitLab: [{ ...request, source_branch: NEW.head, target_branch: 'main' }],
    'Azure DevOps': {
      value: [{ ...azurePull, sourceRefName: `refs/heads/${NEW.head}`, targetRefName: 'refs/heads/main' }],
    },
  }
  const lost: [string, Answer][] = [
    ['a 502', text('<html>Bad Gateway</html>', 502, 'text/html')],
    ['a 504', text('', 504)],
    ['a 500', json({ message: 'Server Error' }, 500)],
    ['a cut connection', () => HttpResponse.error()],
    ['half a body', text('{"number": 7, "html_')],
    ['word of an older one', json({ message: 'A pull request already exists for Acme:x.' }, 422)],
    ['word of an older one', json({ message: ['Another open merge request already exists: !5'] }, 409)],
  ]

  describe.each(NAMES)('at %s', (name) => {
    it.each(lost)('leads to the pull request that is open then: %s', async (_, answer) => {
      const { create, steps } = play(name, { create: answer, find: json(listed[name]) })
      expect(await create()).toEqual(HOSTS[name].created)
      expect(steps()).toEqual(['create', 'find'])
    })

    it('is asked for again when nothing was opened', async () => {
      let calls = 0
      const usual = (HOSTS[name] as Played).calls.create?.[2]
      const { create, steps } = play(name, {
        create: () => (calls++ === 0 ? text('', 502)() : (usual?.() ?? HttpResponse.error())),
      })
      expect(await create()).toEqual(HOSTS[name].created)
      expect(steps()).toEqual(['create', 'find', 'create'])
    })

    it('ends with what the host said when it stays so', async () => {
      const { create, steps } = play(name, { create: text('Bad Gateway', 502) })
      expect(await refusalOf(create())).toEqual({ status: 502, message: 'Bad Gateway' })
      expect(steps()).toEqual(['create', 'find', 'create', 'find', 'create', 'find'])
    })

    it('is not repeated while nobody can say what was opened', async () => {
      const { create, steps } = play(name, { create: text('Bad Gateway', 502), find: text('no', 400) })
      expect(await refusalOf(create())).toEqual({ status: 502, message: 'Bad Gateway' })
      expect(steps()).toEqual(['create', 'find'])
    })
  })

  it.each(NAMES)('of a question is asked for again, at %s', async (name) => {
    let calls = 0
    const step = name === 'GitLab' ? 'find' : 'read'
    const usual = (HOSTS[name] as Played).calls[step]?.[2]
    const host = play(name, {
      [step]: () =>
        calls++ === 0 ? HttpResponse.error() : calls === 2 ? text('', 503)() : (usual?.() ?? HttpResponse.error()),
      ...(name === 'GitLab' && { create: text('', 422) }),
    })
    if (name === 'GitLab') await refusalOf(host.create())
    else await host.merge()
    expect(calls).toBe(3)
  })
})

describe("a server of one's own", () => {
  it.each([
    ['GitHub', 'base_url: "https://git.corp:8443"', 'https://git.corp:8443/api/v3'],
    ['GitHub', 'base_url: "https://git.corp:8443", api_url: "https://api.corp/github/"', 'https://api.corp/github'],
    ['GitLab', 'base_url: "https://git.corp:8443"', 'https://git.corp:8443/api/v4'],
    ['GitLab', 'base_url: "https://git.corp:8443", api_url: "https://a.corp/x/v4"', 'https://a.corp/x/v4'],
  ] as const)('of %s is used when it is named: %s', async (name, fields, api) => {
    const at = name === 'GitHub' ? `${api}/repos/Team/Infra` : `${api}/projects/Team%2FInfra`
    const { calls, number, created }: Played = HOSTS[name]
    server.use(
      ...Object.values(calls).map(([method, address, answer]) => http[method](address.replace(/^.*Infra/, at), answer)),
    )
    const provider = name === 'GitLab' ? 'provider: GITLAB, ' : ''
    const host = await hostOf('https://git.corp:8443/Team/Infra', `git: { ${provider}${fields} }`)
    expect(await host.create(NEW, never())).toEqual(created)
    await host.merge(number, freely)
  })

  it.each([
    [
      'GitLab',
      'provider: GITLAB, base_url: "https://git.corp/gitlab"',
      'https://git.corp/gitlab/Team/Cloud/Net/infra.git',
      'https://git.corp/gitlab/api/v4/projects/Team%2FCloud%2FNet%2Finfra/merge_requests',
    ],
    [
      'GitLab',
      'provider: GITLAB',
      'https://gitlab.com/Team/Cloud/Net/infra.git',
      'https://gitlab.com/api/v4/projects/Team%2FCloud%2FNet%2Finfra/merge_requests',
    ],
    [
      'GitHub',
      'base_url: "https://acme.ghe.com"',
      'https://acme.ghe.com/Team/infra',
      'https://api.acme.ghe.com/repos/Team/infra/pulls',
    ],
    [
      'Azure DevOps',
      'provider: AZURE_DEVOPS, base_url: "https://git.corp/tfs"',
      'https://git.corp/tfs/Main/A%20Shop/_git/Infra.git',
      'https://git.corp/tfs/Main/A%20Shop/_apis/git/repositories/Infra.git/pullrequests',
    ],
    [
      'Azure DevOps',
      'provider: AZURE_DEVOPS',
      'https://acme.visualstudio.com/DefaultCollection/_git/Infra',
      'https://dev.azure.com/acme/Infra/_apis/git/repositories/Infra/pullrequests',
    ],
  ] as const)('of %s is called where the repository is, %s: %s', async (name, fields, uri, at) => {
    const called: string[] = []
    server.use(
      http.post(at, ({ request: { url } }) => {
        called.push(new URL(url).search)
        return HOSTS[name].calls.create[2]()
      }),
    )
    const { id, url } = await (await hostOf(uri, `git: { ${fields} }`)).create(NEW, never())
    expect(id).toBe(HOSTS[name].number)
    expect(called).toHaveLength(1)
    if (name !== 'Azure DevOps') return
    const isServer = fields.includes('base_url')
    expect(called).toEqual([`?api-version=${isServer ? '5.0' : '7.1'}-preview`])
    expect(url).toBe(`${at.replace('/_apis/git/repositories/', '/_git/').replace(/s$/, '')}/22`)
  })

  it('gets no repository of the public one', async () => {
    expect(await refusalOf(hostOf(HOSTS.GitHub.uri, 'git: { base_url: "https://git.corp" }'))).toEqual({
      status: 400,
      message: "Malformed repository URL 'github.com/Acme/Infra'",
    })
  })
})
