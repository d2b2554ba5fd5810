import { HttpResponse, http } from 'msw'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { conflict } from '../../src/base/errors.ts'
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

const AZURE = 'git: { provider: AZURE_DEVOPS }'
const URI = 'https://acme@dev.azure.com/acme/My%20Project/_git/Infra'
const PULLS = 'https://dev.azure.com/acme/My%20Project/_apis/git/repositories/Infra/pullrequests'
const USER = 'd6245f20-2af8-44f4-9451-8107cb2767db'
const COMMIT = 'b60280bc6e62e2f880f1b63c1e24987664d3bda3'
const UNEXPECTED = { status: 502, message: 'The git provider answered in an unexpected form.' }
const server = interceptRequests()

afterEach(() => void vi.unstubAllGlobals())

type Answer = () => Response | Promise<Response>
const pull = {
  pullRequestId: 22,
  status: 'active',
  mergeStatus: 'succeeded',
  url: `${PULLS}/22`,
  lastMergeSourceCommit: { commitId: COMMIT },
}
const inTurn =
  (...answers: object[]): Answer =>
  () =>
    HttpResponse.json(answers.length > 1 ? answers.shift() : answers[0])
const refused =
  (status: number, message: string): Answer =>
  () =>
    HttpResponse.json(
      { $id: '1', innerException: null, message, typeKey: 'GitPullRequestException', errorCode: 0 },
      { status },
    )

function provider(
  answers: { create?: Answer; connection?: Answer; vote?: Answer; read?: Answer; complete?: Answer } = {},
) {
  const calls: { call: string; version: string | null; authorization: string | null; body: unknown }[] = []
  const note =
    (call: string, answer: Answer) =>
    async ({ request }: { request: Request }) => {
      const text = await request.text()
      const version = new URL(request.url).searchParams.get('api-version')
      calls.push({
        call,
        version,
        authorization: request.headers.get('authorization'),
        body: text === '' ? null : JSON.parse(text),
      })
      return answer()
    }
  server.use(
    http.post(PULLS, note('create', answers.create ?? (() => HttpResponse.json(pull, { status: 201 })))),
    http.get(
      'https://dev.azure.com/acme/_apis/connectionData',
      note('connection', answers.connection ?? inTurn({ authenticatedUser: { id: USER } })),
    ),
    http.put(`${PULLS}/22/reviewers/${USER}`, note('vote', answers.vote ?? inTurn({ id: USER, vote: 10 }))),
    http.get(`${PULLS}/22`, note('read', answers.read ?? inTurn(pull))),
    http.patch(`${PULLS}/22`, note('complete', answers.complete ?? inTurn({ ...pull, status: 'completed' }))),
  )
  return calls
}
const create = async (changes = {}) => (await hostOf(URI, AZURE)).create({ ...NEW, ...changes }, never())
const merge = async (yaml = AZURE) => (await hostOf(URI, yaml)).merge(22, freely)
const names = (calls: { call: string }[]) => calls.map(({ call }) => call)

describe('a new pull request at Azure DevOps', () => {
  it('goes from branch to branch and has a page for people', async () => {
    const calls = provider()
    expect(await create()).toEqual({
      id: 22,
      url: 'https://dev.azure.com/acme/My%20Project/_git/Infra/pullrequest/22',
      status: 'active',
    })
    expect(calls).toEqual([
      {
        call: 'create',
        version: '7.1-preview',
        authorization: `Basic ${btoa(':token-of-the-bot')}`,
        body: {
          sourceRefName: `refs/heads/${NEW.head}`,
          targetRefName: 'refs/heads/main',
          title: NEW.title,
          description: NEW.description,
        },
      },
    ])
  })

  it('has a description of the length that Azure DevOps takes', async () => {
    const calls = provider()
    await create({ description: 'x'.repeat(5_000) })
    expect(calls[0]?.body).toMatchObject({ description: 'x'.repeat(4_000) })
  })

  it.each([
    [409, 409, 'TF401179: An active pull request for the source and target branch already exists.'],
    [400, 400, 'TF401398: The pull request cannot be activated because the source branch no longer exists.'],
    [429, 429, 'TF400733: The request has been canceled: Request was blocked due to exceeding usage of resource.'],
    [403, 502, 'TF401027: You need the Git PullRequestContribute permission.'],
    [401, 502, 'TF400813: The user is not authorized to access this resource.'],
  ])('that is refused with %i is answered with %i', async (status, answered, message) => {
    provider({ create: refused(status, message) })
    expect(await refusalOf(create())).toEqual({ status: answered, message: expect.stringContaining(message) })
  })

  it.each([
    ['203', () => new HttpResponse('<html>Azure DevOps Services | Sign In</html>', { status: 203 })],
    ['302', () => HttpResponse.redirect('https://spsprodeus21.vssps.visualstudio.com/_signin', 302)],
  ])('with a token that leads to the sign-in page (%s) is a 502', async (status, answer) => {
    provider({ create: answer })
    expect(await refusalOf(create())).toEqual({
      status: 502,
      message: expect.stringMatching(`HTTP ${status}.*check the token`),
    })
  })

  it.each([
    ['half a body', () => new HttpResponse('{"pullRequestId": 22,')],
    ['no number', () => HttpResponse.json({ ...pull, pullRequestId: null })],
    ['no state', () => HttpResponse.json({ pullRequestId: 22 })],
  ])('that is answered with %s is a 502', async (_, answer) => {
    provider({ create: answer })
    expect(await refusalOf(create())).toEqual(UNEXPECTED)
  })

  it('is a 504 after 20 seconds of half an answer', async () => {
    const limit = controlCallLimit()
    provider({ create: () => stuckBody(limit.late) })
    expect(await refusalOf(create()).finally(limit.restore)).toEqual({ status: 504, message: 'PR creation timeout' })
  })
})

describe('a merge at Azure DevOps', () => {
  it('is voted for by the account and completes the commit that was read', async () => {
    const calls = provider()
    await merge()
    expect(calls.map(({ call, body }) => [call, body])).toEqual([
      ['connection', null],
      ['vote', { vote: 10, id: USER }],
      ['read', null],
      ['complete', { status: 'completed', lastMergeSourceCommit: { commitId: COMMIT } }],
    ])
    for (const { version, authorization } of calls)
      expect([version, authorization]).toEqual(['7.1-preview', `Basic ${btoa(':token-of-the-bot')}`])
  })

  it('of a known commit looks at the branch before it votes', async () => {
    const calls = provider()
    await (await hostOf(URI, AZURE)).merge(22, { ...freely, commit: COMMIT })
    expect(names(calls)).toEqual(['read', 'connection', 'vote', 'read', 'complete'])
    const other = 'f'.repeat(40)
    const refusedCalls = provider()
    expect(await refusalOf((await hostOf(URI, AZURE)).merge(22, { ...freely, commit: other }))).toEqual(
      movedRefusal(22, other),
    )
    expect(names(refusedCalls)).toEqual(['read'])
  })

  it.each([
    [
      'after the vote',
      { read: inTurn(pull, { ...pull, lastMergeSourceCommit: { commitId: 'f'.repeat(40) } }) },
      ['read', 'connection', 'vote', 'read'],
    ],
    [
      'at the end',
      { complete: refused(409, 'The source branch has been modified since the last merge attempt.') },
      ['read', 'connection', 'vote', 'read', 'complete'],
    ],
  ])('is refused when the branch moves %s', async (_, answers, expected) => {
    const calls = provider(answers)
    expect(await refusalOf((await hostOf(URI, AZURE)).merge(22, { ...freely, commit: COMMIT }))).toEqual(
      movedRefusal(22, COMMIT),
    )
    expect(names(calls)).toEqual(expected)
  })

  it('is done when the background merge is', async () => {
    const seconds = shortenTimers(1_000)
    const queued = { ...pull, mergeStatus: 'queued' }
    const calls = provider({ complete: inTurn(queued), read: inTurn(pull, queued, { ...pull, status: 'completed' }) })
    await merge()
    expect(names(calls)).toEqual(['connection', 'vote', 'read', 'complete', 'read', 'read'])
    expect(seconds.count).toBe(2)
  })

  it('is given up when the background merge does not end', async () => {
    const seconds = shortenTimers(1_000)
    provider({ complete: inTurn(pull) })
    const yaml = `${AZURE}\norchestration: { pull_request_readiness_seconds: 4 }`
    expect(await refusalOf(merge(yaml))).toEqual({
      status: 504,
      message: 'Pull Request 22 readiness polling exhausted.',
    })
    expect(seconds.count).toBe(4)
  })

  it('needs no more of the reading than the commit', async () => {
    const calls = provider({ read: inTurn({ lastMergeSourceCommit: pull.lastMergeSourceCommit }) })
    await merge()
    expect(names(calls)).toEqual(['connection', 'vote', 'read', 'complete'])
  })

  it.each(['conflicts', 'rejectedByPolicy', 'failure'])('that fails in the background: %s', async (mergeStatus) => {
    shortenTimers(1_000)
    provider({ complete: inTurn({ ...pull, mergeStatus: 'queued' }), read: inTurn(pull, { ...pull, mergeStatus }) })
    expect(await refusalOf(merge())).toEqual({ status: 400, message: 'Pull Request 22 cannot be merged.' })
  })

  it.each(['completed', 'abandoned'])('of a %s one finds nothing', async (status) => {
    const calls = provider({ read: inTurn({ ...pull, status }) })
    expect(await refusalOf(merge())).toEqual({
      status: 404,
      message: `There are no pull requests to merge: Pull Request 22 is ${status}.`,
    })
    expect(names(calls)).not.toContain('complete')
  })

  it('does not happen when the caller objects at the last moment', async () => {
    const calls = provider()
    const confirm = () => Promise.reject(conflict('locked meanwhile'))
    expect(await refusalOf((await hostOf(URI, AZURE)).merge(22, { confirm, signal: never() }))).toMatchObject({
      status: 409,
    })
    expect(names(calls)).toEqual(['connection', 'vote', 'read'])
  })

  it.each([
    ['connection', 401, 502],
    ['vote', 403, 502],
    ['read', 404, 404],
    ['complete', 409, 409],
    ['complete', 429, 429],
  ])('stops where Azure DevOps refuses: %s with %i', async (step, status, answered) => {
    const calls = provider({ [step]: refused(status, 'TF400000: no') })
    expect(await refusalOf(merge())).toEqual({ status: answered, message: expect.stringContaining('TF400000: no') })
    expect(names(calls).at(-1)).toBe(step)
  })

  it.each([
    ['connection', { authenticatedUser: {} }],
    ['connection', { authenticatedUser: { id: '' } }],
    ['read', { ...pull, lastMergeSourceCommit: undefined }],
    ['read', { ...pull, lastMergeSourceCommit: { commitId: 7 } }],
    ['complete', { status: 7 }],
  ])('stops at another form: %s with %o', async (step, body) => {
    const calls = provider({ [step]: inTurn(body) })
    expect(await refusalOf(merge())).toEqual(UNEXPECTED)
    expect(names(calls).at(-1)).toBe(step)
  })

  it('takes an accepted completion that tells no status for done', async () => {
    const calls = provider({ complete: inTurn({}) })
    await merge()
    expect(names(calls).at(-1)).toBe('complete')
  })

  it('is a 502 when the connection is cut', async () => {
    provider({ vote: () => HttpResponse.error() })
    expect(await refusalOf(merge())).toEqual({ status: 502, message: 'The git provider is not reachable.' })
  })
})
