import { afterEach, describe, expect, it, vi } from 'vitest'
import { calls, createApi, type Tokens } from '../../../../console/client/api/client.ts'
import { inBrowser } from '../../browser.ts'

const browser = inBrowser()
afterEach(() => vi.restoreAllMocks())

type Answer = Response | Error | ((signal: AbortSignal) => Promise<Response>)

/** Makes an API that gives these answers in order. `asked` lists the requests. */
function apiOf(answers: Answer[], tokens: Partial<Tokens> = {}) {
  const asked: { url: string; init: RequestInit & { headers: Headers } }[] = []
  const api = createApi({
    base: 'https://platform.example.com/api/v1',
    tokens: { token: async () => null, refused: async () => false, ...tokens },
    fetch: (async (url: string, init: RequestInit & { headers: Headers; signal: AbortSignal }) => {
      asked.push({ url, init })
      const answer = answers.shift() ?? new Error('nobody expected this request')
      if (answer instanceof Error) throw answer
      return typeof answer === 'function' ? answer(init.signal) : answer
    }) as typeof fetch,
  })
  return { api, asked }
}
const ok = (body: unknown = {}) => Response.json(body)
const never = (signal: AbortSignal) =>
  new Promise<Response>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })

describe('a request', () => {
  it('has token, path values, query and body as the API takes them', async () => {
    const { api, asked } = apiOf([ok({ locked: true })], { token: async () => 'a-token' })
    await calls.setLock(api, { params: { session_id: 'a/b?c' }, body: { locked: true }, query: { x: '', n: 0 } })
    expect(asked[0]?.url).toBe('https://platform.example.com/api/v1/admin/sessions/a%2Fb%3Fc/toggle_lock?n=0')
    expect(asked[0]?.init).toMatchObject({ method: 'PATCH', body: '{"locked":true}', cache: 'no-store' })
    expect(Object.fromEntries(asked[0]?.init.headers ?? [])).toEqual({
      authorization: 'Bearer a-token',
      'content-type': 'application/json',
    })
  })

  it('without authentication has no token, and without a body no type of one', async () => {
    const { api, asked } = apiOf([ok()])
    await calls.getMe(api)
    expect([...(asked[0]?.init.headers ?? [])]).toEqual([])
    expect(asked[0]?.init.body).toBeUndefined()
  })

  it('is sent once more with a new token when the old one is refused', async () => {
    let token = 'old'
    const refused = vi.fn(async () => {
      token = 'new'
      return true
    })
    const { api, asked } = apiOf([new Response('', { status: 401 }), ok({ email: 'a' })], {
      token: async () => token,
      refused,
    })
    expect(await calls.getMe(api)).toEqual({ email: 'a' })
    expect(asked.map(({ init }) => init.headers.get('authorization'))).toEqual(['Bearer old', 'Bearer new'])
  })

  it('is not sent a third time, and not a second time without a new token', async () => {
    const refusal = () => Response.json({ detail: 'Not authenticated' }, { status: 401 })
    const twice = apiOf([refusal(), refusal(), ok()], { refused: async () => true })
    await expect(calls.getMe(twice.api)).rejects.toMatchObject({ status: 401, message: 'Not authenticated' })
    expect(twice.asked).toHaveLength(2)
    const once = apiOf([refusal(), ok()])
    await expect(calls.getMe(once.api)).rejects.toMatchObject({ status: 401 })
    expect(once.asked).toHaveLength(1)
  })

  it('ends after a minute; the end of who asked is told as such', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort(new Error('late')))
    const late = apiOf([(signal) => Promise.reject(signal.reason)])
    await expect(calls.getMe(late.api)).rejects.toMatchObject({ name: 'Unreachable' })
    expect(timeout).toHaveBeenCalledWith(60_000)
    vi.restoreAllMocks()
    const stop = new AbortController()
    const { api } = apiOf([never])
    const asked = calls.getMe(api, { signal: stop.signal })
    stop.abort()
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
    expect(api.connection.get()).toEqual({ online: true })
  })

  it('that asks for a stream has no limit of its own', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout')
    const { api } = apiOf([ok()])
    await api.send({ method: 'GET', path: '/x', headers: { accept: 'text/event-stream' } })
    expect(timeout).not.toHaveBeenCalled()
  })
})

describe('an answer', () => {
  it('without a body is null', async () => {
    expect(await calls.mergePullRequest(apiOf([new Response(null, { status: 204 })]).api)).toBeNull()
  })

  it.each([
    [502, '<html><body>Bad Gateway</body></html>', 'The platform answered 502.'],
    [413, '', 'The platform answered 413.'],
    [409, '{"detail":"Another round is in flight."}', 'Another round is in flight.'],
    [500, '{"detail":null}', 'The platform answered 500.'],
    [503, 'null', 'The platform answered 503.'],
  ])('%s with the body %j is an error with a sentence', async (status, body, message) => {
    await expect(calls.getMe(apiOf([new Response(body, { status })]).api)).rejects.toMatchObject({ status, message })
  })

  it('that is none of the platform is told, although it says that all is well', async () => {
    const { api } = apiOf([new Response('<html>Welcome to the network of this hotel</html>')])
    await expect(calls.getMe(api)).rejects.toMatchObject({ name: 'ApiError', status: 502 })
  })

  it('that breaks off is no connection', async () => {
    const broken = new ReadableStream({ start: (controller) => controller.error(new TypeError('reset')) })
    await expect(calls.getMe(apiOf([new Response(broken)]).api)).rejects.toMatchObject({ name: 'Unreachable' })
  })
})

describe('the connection', () => {
  it('is lost with the first request that gets no answer, asks by itself, and comes back', async () => {
    vi.useFakeTimers({ now: 1_000_000 })
    const failed = new TypeError('Failed to fetch')
    const { api, asked } = apiOf([failed, failed, failed, ok()])
    await expect(calls.getMe(api)).rejects.toThrow('The platform cannot be reached.')
    expect(api.connection.get()).toEqual({ online: false, since: 1_000_000 })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(asked).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1_999)
    expect(asked).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1)
    expect(asked).toHaveLength(3)
    await vi.advanceTimersByTimeAsync(4_000)
    expect(asked.at(-1)?.url).toBe('https://platform.example.com/api/v1/auth/config')
    expect(api.connection.get()).toEqual({ online: true })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(asked).toHaveLength(4)
  })

  it('follows what the browser says, and every answer proves it', async () => {
    vi.useFakeTimers()
    const { api } = apiOf([new Response('', { status: 500 }), ok()])
    browser.fire('offline')
    expect(api.connection.get().online).toBe(false)
    await calls.getMe(api).catch(() => {})
    expect(api.connection.get().online).toBe(true)
    browser.fire('offline')
    browser.fire('online')
    await vi.advanceTimersByTimeAsync(0)
    expect(api.connection.get().online).toBe(true)
  })
})
