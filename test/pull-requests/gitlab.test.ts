import { delay, HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import { conflict } from '../../src/base/errors.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { controlCallLimit, freely, hostOf, movedRefusal, NEW, never, refusalOf, stuckBody } from './support.ts'

const GITLAB = 'git: { provider: GITLAB }'
const URI = 'https://gitlab.com/Acme/Infra.git'
const REQUESTS = 'https://gitlab.com/api/v4/projects/Acme%2FInfra/merge_requests'
const UNEXPECTED = { status: 502, message: 'The git provider answered in an unexpected form.' }
const server = interceptRequests()

type Answer = () => Response | Promise<Response>
const made = {
  id: 84,
  iid: 5,
  web_url: 'https://gitlab.com/Acme/Infra/-/merge_requests/5',
  state: 'opened',
  title: 'Add a bucket',
}
const merged: Answer = () =>
  HttpResponse.json({ ...made, state: 'merged', merge_commit_sha: '9999999999999999999999999999999999999999' })
const approved: Answer = () =>
  HttpResponse.json({ id: 84, iid: 5, approved_by: [{ user: { id: 1 } }] }, { status: 201 })

function provider(answers: { create?: Answer; approve?: Answer; merge?: Answer; read?: Answer } = {}) {
  const calls: { call: string; url: string; token: string | null; type: string | null; body: string }[] = []
  const note =
    (call: string, answer: Answer) =>
    async ({ request }: { request: Request }) => {
      const { url, headers } = request
      calls.push({
        call,
        url,
        token: headers.get('private-token'),
        type: headers.get('content-type'),
        body: await request.text(),
      })
      return answer()
    }
  server.use(
    http.post(REQUESTS, note('create', answers.create ?? (() => HttpResponse.json(made, { status: 201 })))),
    http.post(`${REQUESTS}/5/approve`, note('approve', answers.approve ?? approved)),
    http.put(`${REQUESTS}/5/merge`, note('merge', answers.merge ?? merged)),
    http.get(`${REQUESTS}/5`, note('read', answers.read ?? (() => HttpResponse.json(made)))),
  )
  return calls
}
const create = async (changes = {}) => (await hostOf(URI, GITLAB)).create({ ...NEW, ...changes }, never())
const merge = async () => (await hostOf(URI, GITLAB)).merge(5, freely)
const names = (calls: { call: string }[]) => calls.map(({ call }) => call)
const COMMIT = '0123456789abcdef0123456789abcdef01234567'

describe('a new merge request at GitLab', () => {
  it('goes from branch to branch of the project', async () => {
    const calls = provider()
    expect(await create()).toEqual({ id: 5, url: made.web_url, status: 'opened' })
    expect(calls).toMatchObject([{ url: REQUESTS, token: 'token-of-the-bot', type: 'application/json' }])
    expect(JSON.parse(calls[0]?.body ?? '')).toEqual({
      source_branch: NEW.head,
      target_branch: 'main',
      title: NEW.title,
      description: NEW.description,
    })
  })

  it('has a title of the length that GitLab takes', async () => {
    const calls = provider()
    await create({ title: 'x'.repeat(256) })
    expect(JSON.parse(calls[0]?.body ?? '').title).toBe('x'.repeat(255))
  })

  it.each([
    [409, { message: ['Another open merge request already exists for this source branch: !4'] }],
    [400, { message: { source_branch: ['is invalid'] } }],
    [404, { message: '404 Project Not Found' }],
    [429, { message: { error: 'This endpoint has been requested too many times. Try again later.' } }],
    [500, { message: '500 Internal Server Error' }],
  ])('is refused with %i and the words of GitLab', async (status, body) => {
    provider({ create: () => HttpResponse.json(body, { status }) })
    expect(await refusalOf(create())).toEqual({ status, message: JSON.stringify(body) })
  })

  it.each([401, 403])('that GitLab refuses with %i is a 502', async (status) => {
    provider({ create: () => HttpResponse.json({ message: '401 Unauthorized' }, { status }) })
    expect(await refusalOf(create())).toEqual({ status: 502, message: '{"message":"401 Unauthorized"}' })
  })

  it.each([
    ['a page', () => new HttpResponse('<html>sign in</html>')],
    ['half a body', () => new HttpResponse('{"iid": 5, "web_url": "https://git')],
    ['a number as text', () => HttpResponse.json({ ...made, iid: '5' })],
    ['a fraction', () => HttpResponse.json({ ...made, iid: 5.5 })],
    ['a number beyond the record', () => HttpResponse.json({ ...made, iid: 2 ** 31 })],
    ['no address', () => HttpResponse.json({ ...made, web_url: undefined })],
    ['a script as address', () => HttpResponse.json({ ...made, web_url: 'javascript:alert(1)' })],
    ['null', () => HttpResponse.json(null)],
  ])('that is answered with %s is a 502', async (_, answer) => {
    provider({ create: answer })
    expect(await refusalOf(create())).toEqual(UNEXPECTED)
  })

  it('sends its token to no other address', async () => {
    provider({ create: () => HttpResponse.redirect('https://elsewhere.example.org/', 307) })
    expect(await refusalOf(create())).toEqual({ status: 502, message: expect.stringContaining('HTTP 307') })
  })

  it.each([
    [
      'silence',
      async (late: () => void) => {
        late()
        await delay('infinite')
        return HttpResponse.json(made)
      },
    ],
    ['half an answer', (late: () => void) => stuckBody(late)],
  ])('is a 504 after 20 seconds of %s', async (_, answer) => {
    const limit = controlCallLimit()
    provider({ create: () => answer(limit.late) })
    expect(await refusalOf(create()).finally(limit.restore)).toEqual({ status: 504, message: 'PR creation timeout' })
  })
})

describe('a merge at GitLab', () => {
  it('is approved first', async () => {
    const calls = provider()
    await merge()
    expect(names(calls)).toEqual(['approve', 'merge'])
    expect(calls.map(({ token }) => token)).toEqual(['token-of-the-bot', 'token-of-the-bot'])
  })

  it('names the commit that may be merged, for the approval too', async () => {
    const calls = provider()
    await (await hostOf(URI, GITLAB)).merge(5, { ...freely, commit: COMMIT })
    expect(calls.map(({ call, body }) => [call, JSON.parse(body)])).toEqual([
      ['approve', { sha: COMMIT }],
      ['merge', { sha: COMMIT }],
    ])
  })

  it.each(['approve', 'merge'] as const)('is refused when the %s finds the branch elsewhere', async (step) => {
    const moved = () => HttpResponse.json({ message: 'SHA does not match HEAD of source branch' }, { status: 409 })
    const calls = provider({ [step]: moved })
    expect(await refusalOf((await hostOf(URI, GITLAB)).merge(5, { ...freely, commit: COMMIT }))).toEqual(
      movedRefusal(5, COMMIT),
    )
    expect(names(calls)).toEqual(step === 'approve' ? ['approve'] : ['approve', 'merge'])
  })

  it('can be repeated although GitLab refuses a second approval', async () => {
    const calls = provider({ approve: () => HttpResponse.json({ message: '401 Unauthorized' }, { status: 401 }) })
    await merge()
    expect(names(calls)).toEqual(['approve', 'merge'])
  })

  it('is a 502 with a token that GitLab does not know', async () => {
    const unknown = () => HttpResponse.json({ message: '401 Unauthorized' }, { status: 401 })
    provider({ approve: unknown, merge: unknown })
    expect(await refusalOf(merge())).toEqual({ status: 502, message: '{"message":"401 Unauthorized"}' })
  })

  it.each([
    [404, 404],
    [403, 502],
    [429, 429],
  ])('is not tried after an approval that failed with %i', async (status, answered) => {
    const calls = provider({ approve: () => HttpResponse.json({ message: 'no' }, { status }) })
    expect(await refusalOf(merge())).toEqual({ status: answered, message: '{"message":"no"}' })
    expect(names(calls)).toEqual(['approve'])
  })

  it('does not happen when the caller objects at the last moment', async () => {
    const calls = provider()
    const confirm = () => Promise.reject(conflict('locked meanwhile'))
    expect(await refusalOf((await hostOf(URI, GITLAB)).merge(5, { confirm, signal: never() }))).toMatchObject({
      status: 409,
    })
    expect(names(calls)).toEqual(['approve'])
  })

  it.each([
    [405, 405, { message: '405 Method Not Allowed' }],
    [409, 409, { message: 'SHA does not match HEAD of source branch' }],
    [422, 422, { message: 'Branch cannot be merged' }],
    [403, 502, { message: '403 Forbidden' }],
  ])('that GitLab refuses with %i is answered with %i', async (status, answered, body) => {
    provider({ merge: () => HttpResponse.json(body, { status }) })
    expect(await refusalOf(merge())).toEqual({ status: answered, message: JSON.stringify(body) })
  })

  it.each(['merged', 'closed'])('of a %s one finds nothing', async (state) => {
    provider({
      merge: () => HttpResponse.json({ message: '405 Method Not Allowed' }, { status: 405 }),
      read: () => HttpResponse.json({ ...made, state }),
    })
    expect(await refusalOf(merge())).toEqual({
      status: 404,
      message: `There are no pull requests to merge: Pull Request 5 is ${state}.`,
    })
  })

  it.each([
    ['that is open still', () => HttpResponse.json(made)],
    ['of another form', () => HttpResponse.json({ state: 7 })],
    ['that breaks off', () => new HttpResponse('{"state": "mer')],
  ])('is not believed on an answer %s', async (_, answer) => {
    provider({ merge: answer })
    expect(await refusalOf(merge())).toEqual(UNEXPECTED)
  })
})

describe("a GitLab server of one's own", () => {
  it.each([
    ['alone', 'base_url: "https://git.corp"', 'https://git.corp/api/v4'],
    [
      'with the address of its interface',
      'base_url: "https://git.corp", api_url: "https://git.corp/gitlab/api/v4"',
      'https://git.corp/gitlab/api/v4',
    ],
  ])('is used when it is named %s', async (_, fields, api) => {
    server.use(
      http.put(`${api}/projects/Team%2FInfra/merge_requests/5/merge`, merged),
      http.post(`${api}/projects/Team%2FInfra/merge_requests/5/approve`, approved),
    )
    await (await hostOf('https://git.corp/Team/Infra', `git: { provider: GITLAB, ${fields} }`)).merge(5, freely)
  })
})
