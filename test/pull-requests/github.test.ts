import { delay, HttpResponse, http } from 'msw'
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

const URI = 'https://github.com/Acme/Infra.git'
const PULLS = 'https://api.github.com/repos/Acme/Infra/pulls'
const UNEXPECTED = { status: 502, message: 'The git provider answered in an unexpected form.' }
const server = interceptRequests()

afterEach(() => void vi.unstubAllGlobals())

const open = { number: 7, state: 'open', merged: false, mergeable: true as boolean | null }
const merged = () =>
  HttpResponse.json({
    sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
    merged: true,
    message: 'Pull Request successfully merged',
  })

/** Gives these readings in turn and repeats the last one. Records every call. */
function provider(readings: (object | Response)[] = [open], merge: () => Response | Promise<Response> = merged) {
  const calls: { method: string; headers: Headers; body: string }[] = []
  const note = async (request: Request) =>
    calls.push({ method: request.method, headers: request.headers, body: await request.text() })
  server.use(
    http.get(`${PULLS}/7`, async ({ request }) => {
      await note(request)
      const reading = readings.length > 1 ? readings.shift() : readings[0]
      return reading instanceof Response ? reading.clone() : HttpResponse.json(reading)
    }),
    http.put(`${PULLS}/7/merge`, async ({ request }) => {
      await note(request)
      return merge()
    }),
  )
  return calls
}
const merge = async (yaml = '') => (await hostOf(URI, yaml)).merge(7, freely)
const methods = (calls: { method: string }[]) => calls.map(({ method }) => method)
const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const MOVED = movedRefusal(7, COMMIT)

describe('a merge at GitHub', () => {
  it('is asked for without a body, after the pull request proved mergeable', async () => {
    const calls = provider()
    await merge()
    expect(methods(calls)).toEqual(['GET', 'PUT'])
    expect(calls[1]?.body).toBe('')
    for (const { headers } of calls) {
      expect(headers.get('authorization')).toBe(`Basic ${btoa('bot:token-of-the-bot')}`)
      expect(headers.get('accept')).toBe('application/vnd.github+json')
      expect(headers.get('x-github-api-version')).toBe('2022-11-28')
    }
  })

  it('waits a second as long as GitHub does not know', async () => {
    const seconds = shortenTimers(1_000)
    const unknown = { ...open, mergeable: null }
    const calls = provider([unknown, unknown, open])
    await merge()
    expect(methods(calls)).toEqual(['GET', 'GET', 'GET', 'PUT'])
    expect(seconds.count).toBe(2)
  })

  it.each([
    ['as shipped', '', 10],
    ['as configured', 'orchestration: { pull_request_readiness_seconds: 3 }', 3],
    ['not at all', 'orchestration: { pull_request_readiness_seconds: 0 }', 0],
  ])('waits so often and no longer: %s', async (_, yaml, waits) => {
    const seconds = shortenTimers(1_000)
    const calls = provider([{ ...open, mergeable: null }])
    expect(await refusalOf(merge(yaml))).toEqual({
      status: 504,
      message: 'Pull Request 7 readiness polling exhausted.',
    })
    expect(seconds.count).toBe(waits)
    expect(methods(calls)).toEqual(Array(waits + 1).fill('GET'))
  })

  it('names the commit that may be merged, and is told when the branch is elsewhere by then', async () => {
    const calls = provider([{ ...open, head: { sha: COMMIT } }])
    await (await hostOf(URI)).merge(7, { ...freely, commit: COMMIT })
    expect(JSON.parse(calls[1]?.body ?? '')).toEqual({ sha: COMMIT })
    provider([{ ...open, head: { sha: COMMIT } }], () =>
      HttpResponse.json({ message: 'Head branch was modified. Review and try the merge again.' }, { status: 409 }),
    )
    expect(await refusalOf((await hostOf(URI)).merge(7, { ...freely, commit: COMMIT }))).toEqual(MOVED)
  })

  it('is not asked for when the branch is at another commit already', async () => {
    const calls = provider([{ ...open, head: { sha: 'f'.repeat(40) } }])
    expect(await refusalOf((await hostOf(URI)).merge(7, { ...freely, commit: COMMIT }))).toEqual(MOVED)
    expect(methods(calls)).toEqual(['GET'])
  })

  it('is refused for conflicts', async () => {
    const calls = provider([{ ...open, mergeable: false }])
    expect(await refusalOf(merge())).toEqual({ status: 400, message: 'Pull Request 7 cannot be merged.' })
    expect(methods(calls)).toEqual(['GET'])
  })

  it.each([
    ['merged', { ...open, state: 'closed', merged: true, mergeable: null }],
    ['closed', { ...open, state: 'closed', merged: false, mergeable: true }],
  ])('of a %s one finds nothing, without waiting', async (state, reading) => {
    const calls = provider([reading])
    expect(await refusalOf(merge())).toEqual({
      status: 404,
      message: `There are no pull requests to merge: Pull Request 7 is ${state}.`,
    })
    expect(methods(calls)).toEqual(['GET'])
  })

  it('does not happen when the caller objects at the last moment', async () => {
    const calls = provider()
    const confirm = async () => {
      expect(methods(calls)).toEqual(['GET'])
      throw conflict('locked meanwhile')
    }
    expect(await refusalOf((await hostOf(URI)).merge(7, { confirm, signal: never() }))).toEqual({
      status: 409,
      message: 'locked meanwhile',
    })
    expect(methods(calls)).toEqual(['GET'])
  })

  it.each([
    [405, 'Pull Request is not mergeable'],
    [409, 'Head branch was modified. Review and try the merge again.'],
    [422, 'Validation Failed'],
    [429, 'API rate limit exceeded'],
    [503, 'Service unavailable'],
  ])('that GitHub refuses with %i is refused with its words', async (status, message) => {
    provider([open], () => HttpResponse.json({ message }, { status, headers: { 'retry-after': '60' } }))
    expect(await refusalOf(merge())).toEqual({ status, message: JSON.stringify({ message }) })
  })

  it.each([
    [401, { message: 'Bad credentials' }, {}],
    [
      403,
      { message: 'API rate limit exceeded for user ID 1.' },
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1900000000' },
    ],
    [403, { message: 'You have exceeded a secondary rate limit.' }, { 'retry-after': '60' }],
  ])('that GitHub refuses with %i is a 502: %o', async (status, body, headers) => {
    provider([HttpResponse.json(body, { status, headers })])
    expect(await refusalOf(merge())).toEqual({ status: 502, message: JSON.stringify(body) })
    provider([open], () => HttpResponse.json(body, { status, headers }))
    expect(await refusalOf(merge())).toEqual({ status: 502, message: JSON.stringify(body) })
  })

  it.each([
    ['a page', new HttpResponse('<html>proxy</html>', { headers: { 'content-type': 'text/html' } })],
    ['half a body', new HttpResponse('{"mergeable": tr', { headers: { 'content-type': 'application/json' } })],
    ['no body', new HttpResponse(null, { status: 204 })],
    ['no word about it', HttpResponse.json({ number: 7, state: 'open' })],
    ['a text instead', HttpResponse.json({ ...open, mergeable: 'yes' })],
    ['a list', HttpResponse.json([open])],
  ])('is not tried on %s', async (_, reading) => {
    const calls = provider([reading])
    expect(await refusalOf(merge())).toEqual(UNEXPECTED)
    expect(methods(calls)).toEqual(['GET'])
  })

  it.each([
    ['an empty answer', () => new HttpResponse('')],
    [
      'half a body',
      () => new HttpResponse('{"merged": true, "sh', { headers: { 'content-type': 'application/json' } }),
    ],
    ['another answer', () => HttpResponse.json({ merged: false, message: 'no' })],
  ])('is not believed on %s', async (_, answer) => {
    provider([open], answer)
    expect(await refusalOf(merge())).toEqual(UNEXPECTED)
  })

  it('believes the status when the body does not contradict it', async () => {
    const calls = provider([open], () => HttpResponse.json({}))
    await expect(merge()).resolves.toBeUndefined()
    expect(methods(calls)).toEqual(['GET', 'PUT'])
  })

  it('is a 502 when the connection is cut, before and after the headers', async () => {
    provider([open], () => HttpResponse.error())
    expect(await refusalOf(merge())).toEqual({ status: 502, message: 'The git provider is not reachable.' })
    const cut = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) })
    provider([open], () => new HttpResponse(cut, { headers: { 'content-type': 'application/json' } }))
    expect(await refusalOf(merge())).toMatchObject({ status: 502 })
  })

  it.each([
    [
      'silence',
      async (late: () => void) => {
        late()
        await delay('infinite')
        return merged()
      },
    ],
    ['half an answer', (late: () => void) => stuckBody(late)],
  ])('is a 504 after 20 seconds of %s', async (_, answer) => {
    const limit = controlCallLimit()
    provider([open], () => answer(limit.late))
    expect(await refusalOf(merge()).finally(limit.restore)).toEqual({ status: 504, message: 'Complete PR timeout' })
  })

  it('ends when the caller goes away, also between two readings', async () => {
    const controller = new AbortController()
    provider([{ ...open, mergeable: null }])
    const host = await hostOf(URI)
    const waiting = host.merge(7, { confirm: async () => {}, signal: controller.signal })
    server.events.on('response:mocked', () => setTimeout(() => controller.abort(new Error('caller is gone')), 0))
    await expect(waiting).rejects.toThrow('caller is gone')
    server.events.removeAllListeners()
  })

  it('shows no secret that a page repeats', async () => {
    const secrets = ['token-of-the-bot', btoa('bot:token-of-the-bot')]
    provider([new HttpResponse(`refused: ${secrets.join(' ')}`, { status: 400 })])
    expect(await refusalOf(merge())).toEqual({ status: 400, message: 'refused: *** ***' })
  })

  it('follows to the new address of a renamed repository', async () => {
    const seen: (string | null)[] = []
    const calls = provider()
    server.use(
      http.get(`${PULLS}/7`, () => HttpResponse.redirect('https://api.github.com/repositories/1/pulls/7', 301)),
      http.get('https://api.github.com/repositories/1/pulls/7', ({ request }) => {
        seen.push(request.headers.get('authorization'))
        return HttpResponse.json(open)
      }),
    )
    await merge()
    expect(seen).toEqual([`Basic ${btoa('bot:token-of-the-bot')}`])
    expect(methods(calls)).toEqual(['PUT'])
  })

  it('takes its credentials to no other host', async () => {
    const seen: (string | null)[] = []
    provider()
    server.use(
      http.get(`${PULLS}/7`, () => HttpResponse.redirect('https://elsewhere.example.org/pulls/7', 302)),
      http.get('https://elsewhere.example.org/pulls/7', ({ request }) => {
        seen.push(request.headers.get('authorization'))
        return new HttpResponse('gone', { status: 410 })
      }),
    )
    expect(await refusalOf(merge())).toEqual({ status: 410, message: 'gone' })
    expect(seen).toEqual([null])
  })
})

describe('an Enterprise server', () => {
  it.each([
    ['alone', 'git: { base_url: "https://git.corp:8443" }', 'https://git.corp:8443/api/v3'],
    [
      'with the address of its interface',
      'git: { base_url: "https://git.corp:8443", api_url: "https://api.corp/github/" }',
      'https://api.corp/github',
    ],
  ])('is used when it is named %s', async (_, yaml, api) => {
    const pulls = `${api}/repos/Team/Infra/pulls`
    const made = { number: 3, html_url: 'https://git.corp:8443/Team/Infra/pull/3', state: 'open' }
    server.use(
      http.post(pulls, () => HttpResponse.json(made, { status: 201 })),
      http.get(`${pulls}/3`, () => HttpResponse.json(open)),
      http.put(`${pulls}/3/merge`, merged),
    )
    const host = await hostOf('https://git.corp:8443/Team/Infra', yaml)
    expect(await host.create(NEW, never())).toEqual({ id: 3, url: made.html_url, status: 'open' })
    await host.merge(3, freely)
  })

  it('gets no repository of the public one', async () => {
    expect(await refusalOf(hostOf(URI, 'git: { base_url: "https://git.corp" }'))).toEqual({
      status: 400,
      message: "Malformed repository URL 'github.com/Acme/Infra'",
    })
  })
})
