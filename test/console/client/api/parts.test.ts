import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  ApiError,
  messageOf,
  problemsByField,
  SignInFailed,
  toApiError,
  Unreachable,
} from '../../../../console/client/api/client.ts'
import { createStore } from '../../../../console/client/observable.ts'
import { LinkExpired, readArtifact } from '../../../../console/client/sessions/use-session.ts'
import { inBrowser } from '../../browser.ts'

inBrowser()
afterEach(() => vi.restoreAllMocks())

describe('an artifact', () => {
  const answering = (answer: () => Response | Promise<Response>) => {
    const asked = vi.fn(async (_url: string, _init: RequestInit) => answer())
    vi.stubGlobal('fetch', asked)
    return asked
  }

  const read = (url: string, prefix: string) => readArtifact(url, prefix, new AbortController().signal)

  it('is read without token, cookies and referrer, with its metadata', async () => {
    const headers = { 'x-amz-meta-type': 'code', 'x-amz-meta-new-file': 'true', etag: 'x' }
    const asked = answering(() => new Response('text', { headers }))
    expect(await read('https://s/a?signature=1', 'x-amz-meta-')).toEqual({
      text: 'text',
      metadata: { type: 'code', new_file: 'true' },
    })
    expect(asked.mock.calls[0]?.[1]).toMatchObject({ credentials: 'omit', referrerPolicy: 'no-referrer' })
    expect(asked.mock.calls[0]?.[1].headers).toBeUndefined()
  })

  it.each([400, 403, 404, 410])('whose link is refused with %s may be asked for anew', async (status) => {
    answering(() => new Response('<Error/>', { status }))
    await expect(read('https://s/a', 'x-')).rejects.toBeInstanceOf(LinkExpired)
  })

  it('that cannot be reached is told; one that nobody waits for is not', async () => {
    answering(() => Promise.reject(new TypeError('Failed to fetch')))
    await expect(read('https://s/a', 'x-')).rejects.toBeInstanceOf(Unreachable)
    const abort = new DOMException('stop', 'AbortError')
    answering(() => Promise.reject(abort))
    await expect(readArtifact('https://s/a', 'x-', AbortSignal.abort())).rejects.toBe(abort)
  })

  it('that breaks off is told as one that cannot be reached', async () => {
    const broken = () => new ReadableStream({ start: (controller) => controller.error(new TypeError('reset')) })
    answering(() => new Response(broken()))
    await expect(read('https://s/a', 'x-')).rejects.toBeInstanceOf(Unreachable)
  })
})

describe('errors', () => {
  const invalid = toApiError(
    422,
    JSON.stringify({
      detail: [
        { loc: ['body', 'q'], msg: 'is too long' },
        { loc: ['body', 'q'], msg: 'has no words' },
        { loc: ['body', 'resource_ids', 3], msg: 'is empty' },
        { loc: ['body'], msg: 'must have one of both' },
        { msg: 'without a place' },
        null,
      ],
    }),
  )

  it('know which field is meant', () => {
    expect(problemsByField(invalid)).toEqual({
      q: 'is too long has no words',
      resource_ids: 'is empty',
      '': 'must have one of both',
    })
    expect(problemsByField(new ApiError(409, 'busy'))).toEqual({})
    expect(problemsByField(undefined)).toEqual({})
  })

  it('have a sentence, and those of the code do not show theirs', () => {
    expect(messageOf(new ApiError(409, 'Another round is in flight.'))).toBe('Another round is in flight.')
    expect(messageOf(new Unreachable())).toBe('The platform cannot be reached.')
    expect(messageOf(new SignInFailed('No.'))).toBe('No.')
    expect(messageOf(new TypeError('x is undefined'))).toBe('Something went wrong in this page.')
    expect(toApiError(422, '{"detail":[]}').message).toBe('The platform answered 422.')
  })
})

describe('a store', () => {
  it('tells its listeners of other values only, until they leave', () => {
    const store = createStore(1)
    const listener = vi.fn()
    const leave = store.subscribe(listener)
    store.set(1)
    expect(listener).not.toHaveBeenCalled()
    store.set(2)
    expect([listener.mock.calls.length, store.get()]).toEqual([1, 2])
    leave()
    store.set(3)
    expect(listener).toHaveBeenCalledTimes(1)
  })
})
