import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import { ask, askJson, codeOf, messageOf, type Question, readPages } from '../../../../sidecars/iac/inventory/http.ts'
import { RefusedError } from '../../../../sidecars/iac/inventory/request.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { interceptRequests } from '../../../helpers/intercept.ts'
import { inventoryRequest } from './request.ts'

const outside = interceptRequests()

const URL_OF = 'https://cloud.example/list'

/** Gives the answers one after the other, repeats the last one, and counts the calls. */
function answers(...replies: (() => Response)[]) {
  const seen: Request[] = []
  outside.use(
    http.all(URL_OF, ({ request }) => {
      seen.push(request.clone())
      return (replies[Math.min(seen.length, replies.length) - 1] ?? HttpResponse.error)()
    }),
  )
  return seen
}
const cutBody = () => {
  const chunks = [() => new TextEncoder().encode('{"items": ['), () => Promise.reject(new TypeError('terminated'))]
  return new ReadableStream({ pull: async (controller) => controller.enqueue(await chunks.shift()?.()) })
}
const question = (more: Partial<Question> = {}): Question => ({
  source: 'the cloud',
  url: URL_OF,
  request: inventoryRequest('s'),
  ...more,
})
const message = (text: Promise<unknown>) =>
  text.then(
    () => 'no error',
    (error: Error) => error.message,
  )

describe('a call', () => {
  it('posts JSON and answers JSON', async () => {
    const seen = answers(() => HttpResponse.json({ items: [1] }))
    expect(await askJson(question({ method: 'POST', json: { a: 1 } }))).toEqual({ items: [1] })
    expect(seen[0]?.headers.get('content-type')).toBe('application/json')
    expect(await seen[0]?.json()).toEqual({ a: 1 })
  })

  const busy = (status: number, headers?: Record<string, string>) => () => new HttpResponse('busy', { status, headers })
  it.each([
    ['429', busy(429)],
    ['429 with seconds', busy(429, { 'retry-after': '0' })],
    ['503 with a date', busy(503, { 'retry-after': new Date(0).toUTCString() })],
    ['500', busy(500)],
    ['a cut connection', () => HttpResponse.error()],
    ['an answer that is cut', () => new HttpResponse(cutBody())],
    ['throttling that a header names', busy(400, { 'x-amzn-errortype': 'ThrottlingException:' })],
    ['throttling of another status', () => HttpResponse.json({ __type: 'a#ThrottlingException' }, { status: 400 })],
  ])('is repeated after %s', async (_name, trouble) => {
    const seen = answers(trouble, trouble, () => HttpResponse.json('fine'))
    expect(await askJson(question())).toBe('fine')
    expect(seen).toHaveLength(3)
  })

  it('waits as long as the cloud says, and is given up when the time of the job ends', async () => {
    answers(busy(429, { 'retry-after': '3600' }))
    const stop = new AbortController()
    const waits: unknown[] = []
    const info = (_text: string, fields: Record<string, unknown> = {}) => {
      waits.push(fields.wait_ms)
      stop.abort()
    }
    const request = inventoryRequest('s', {}, { signal: stop.signal, log: { ...silentLogger, info } })
    await expect(ask(question({ request }))).rejects.toMatchObject({ kind: 'aborted' })
    expect(waits).toEqual([60_000])
  })

  it('is signed anew for each attempt', async () => {
    const seen = answers(busy(503), () => HttpResponse.json(1))
    let count = 0
    await ask(question({ headers: () => ({ authorization: `signature-${++count}` }) }))
    expect(seen.map(({ headers }) => headers.get('authorization'))).toEqual(['signature-1', 'signature-2'])
  })

  it('is given up after a bounded number of attempts', async () => {
    const seen = answers(busy(429))
    expect(await message(ask(question()))).toBe('429 from the cloud: busy')
    expect(seen).toHaveLength(7)
    const cut = answers(() => HttpResponse.error())
    expect(await message(ask(question({ retries: 1 })))).toMatch(/^the cloud is unreachable: the connection failed/)
    expect(cut).toHaveLength(2)
  })

  it('names the reason of the system', async () => {
    const refused = new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) })
    const request = inventoryRequest('s', {}, { fetch: () => Promise.reject(refused) })
    expect(await message(ask(question({ request })))).toBe(
      'the cloud is unreachable: the connection failed (ECONNREFUSED)',
    )
  })

  it('follows no redirect, for credentials would go along', async () => {
    answers(() => new HttpResponse(null, { status: 302, headers: { location: 'https://elsewhere.example/' } }))
    expect(await message(ask(question()))).toBe('302 from the cloud: moved elsewhere')
  })

  it('does not accept a body without end', async () => {
    const chunk = new Uint8Array(1024 * 1024)
    const endless = () => new HttpResponse(new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }))
    const seen = answers(endless)
    expect(await message(ask(question()))).toMatch(/^the cloud is unreachable: the answer is larger than \d+ bytes$/)
    expect(seen).toHaveLength(1)
  })

  it('says that an answer is not JSON', async () => {
    answers(() => HttpResponse.html('<p>sign in</p>'))
    expect(await message(askJson(question()))).toBe('200 from the cloud: the answer is not JSON')
  })
})

describe('a refusal', () => {
  const GOOGLE = {
    code: 403,
    message: 'Denied.',
    status: 'PERMISSION_DENIED',
    details: [{ '@type': 'x', reason: 'R' }],
  }
  const AZURE = { code: 'BadRequest', message: 'See.' }
  const AZURE_DETAIL = { code: 'InvalidQuery', message: 'Inner.' }
  const FORBIDDEN = { message: 'pods is forbidden', reason: 'Forbidden', details: { kind: 'pods' }, code: 403 }
  const KUBERNETES = { kind: 'Status', status: 'Failure', ...FORBIDDEN }
  it.each([
    ['Azure', { error: { code: 'AuthorizationFailed', message: 'No right.' } }, 'No right.', 'AuthorizationFailed'],
    ['Azure, with details', { error: { ...AZURE, details: [AZURE_DETAIL] } }, 'Inner.', 'BadRequest'],
    ['a token endpoint', { error: 'invalid_client', error_description: 'Wrong.' }, 'Wrong.', 'invalid_client'],
    ['Google', { error: GOOGLE }, 'Denied.', 'PERMISSION_DENIED'],
    ['AWS', { Message: 'No.', __type: 'com.amazonaws#AccessDenied:http://x' }, 'No.', 'AccessDenied'],
    ['OCI', { code: 'NotAuthorizedOrNotFound', message: 'Not found.' }, 'Not found.', 'NotAuthorizedOrNotFound'],
    ['Kubernetes', KUBERNETES, 'pods is forbidden', 'Forbidden'],
    ['of no known form', { fault: [1] }, 'Forbidden', ''],
  ])('of %s is understood', async (_name, body, text, code) => {
    answers(() => HttpResponse.json(body, { status: 403 }))
    await expect(ask(question())).rejects.toMatchObject({ message: `403 from the cloud: ${text}`, status: 403, code })
  })

  it('may be XML', async () => {
    const xml =
      '<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>The token is\n' +
      ' invalid.</Message></Error></ErrorResponse>'
    answers(() => HttpResponse.xml(xml, { status: 403 }))
    await expect(ask(question())).rejects.toMatchObject({
      message: '403 from the cloud: The token is invalid.',
      code: 'InvalidClientTokenId',
    })
  })

  it.each([
    ['a page', '<html><body>Blocked</body></html>', 'Forbidden'],
    ['nothing', '', 'Forbidden'],
    ['a short text', 'go away\u0007\n', 'go away'],
    ['a long text', 'x'.repeat(5000), 'Forbidden'],
    ['deep nesting', `${'{"error":'.repeat(5000)}1${'}'.repeat(5000)}`, 'Forbidden'],
    ['a message of the wrong type', '{"message":{"a":1},"code":[]}', 'Forbidden'],
  ])('with %s has a text', async (_name, body, text) => {
    answers(() => new HttpResponse(body, { status: 403 }))
    expect(await message(ask(question()))).toBe(`403 from the cloud: ${text}`)
  })

  it('has at most a thousand characters of the cloud', async () => {
    answers(() => HttpResponse.json({ message: 'y'.repeat(3000) }, { status: 400 }))
    const text = (await message(ask(question()))).replace('400 from the cloud: ', '')
    expect(text).toHaveLength(1000)
  })

  it('does not give credentials away that the cloud echoes', async () => {
    const headers = {
      authorization: 'AWS4 Credential=AKIA, Signature=0123456789abcdef',
      'x-amz-security-token': 'session-token-1',
      accept: 'application/json',
    }
    answers(() =>
      HttpResponse.json(
        { message: 'canonical: session-token-1 Signature=0123456789abcdef posted-secret application/json' },
        { status: 403 },
      ),
    )
    const request = inventoryRequest('s')
    const failed = ask(question({ request, headers, secrets: ['posted-secret'] }))
    await expect(failed).rejects.toBeInstanceOf(RefusedError)
    expect(await message(failed)).toBe(
      '403 from the cloud: canonical: (sensitive value) (sensitive value) (sensitive value) application/json',
    )
  })
})

describe('pages', () => {
  const read = (pages: Record<string, { items: number[]; next?: string | null }>) => (cursor: string | null) =>
    Promise.resolve({ next: undefined, ...(pages[cursor ?? ''] ?? { items: [] }) })

  it('are read to the end, in order, empty ones in between included', async () => {
    const pages = { '': { items: [1], next: 'b' }, b: { items: [], next: 'c' }, c: { items: [2], next: '' } }
    expect(await readPages('the cloud', read(pages), 3)).toEqual([1, 2])
  })

  it('are too many beyond the limit', async () => {
    let page = 0
    const endless = async () => ({ items: [page], next: String(++page) })
    await expect(readPages('the cloud', endless, 5)).rejects.toThrow('the cloud has more than 5 pages of results')
    expect(page).toBe(5)
  })

  it('do not go in circles', async () => {
    const pages = { '': { items: [1], next: 'b' }, b: { items: [2], next: 'c' }, c: { items: [3], next: 'b' } }
    await expect(readPages('the cloud', read(pages), 9)).rejects.toThrow('the cloud repeats a page of results')
  })
})

it('reads code and message of an XML document, blanks around them left out', () => {
  const xml = '<Error><Code> AccessDenied\n</Code><Message>\n  The role may\n  not list. </Message></Error>'
  expect(codeOf(xml, new Headers())).toBe('AccessDenied')
  expect(messageOf(xml)).toBe('The role may not list.')
})

it('takes blanks that never end in reasonable steps', () => {
  expect(messageOf(`<Error><Message>${' '.repeat(1_000_000)}`)).toBe('')
})
