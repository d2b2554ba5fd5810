import { delay, HttpResponse, http } from 'msw'
import { beforeEach, expect, it } from 'vitest'
import { createTestCore, refusalOf, type TestCore } from '../helpers/core.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { startOnce } from '../helpers/start-once.ts'
import { controlTimeLimits } from '../services/iac/limits.ts'

export interface Call {
  headers: Headers
  body: unknown
}
export interface PlayedSidecar {
  /** The core's requests in the running test. */
  calls: Call[]
  answers(respond: () => Response | Promise<Response>): void
}

/** Provides a core with a mocked sidecar at this address, whose answer a test may replace. Other requests fail. */
export function provideCoreWithSidecar(
  address: string,
  usual: () => Response,
  options: { yaml: string; env: Record<string, string> },
): { core: TestCore; sidecar: PlayedSidecar; server: ReturnType<typeof interceptRequests> } {
  const server = interceptRequests()
  const calls: Call[] = []
  const answers: PlayedSidecar['answers'] = (respond) =>
    server.use(
      http.post(address, async ({ request }) => {
        calls.push({ headers: request.headers, body: await request.json() })
        return respond()
      }),
    )
  const core = startOnce(() => createTestCore(options))
  beforeEach(() => {
    calls.length = 0
    answers(usual)
  })
  return { core, sidecar: { calls, answers }, server }
}

/**
 * Returns the result of a request to a sidecar that is silent beyond this limit. `limits` are all limits set, in ms.
 */
export async function askSilent(
  sidecar: PlayedSidecar,
  limitMs: number,
  ask: () => Promise<Response>,
): Promise<{ answer: Response; limits: number[] }> {
  const control = controlTimeLimits()
  try {
    sidecar.answers(async () => {
      control.end(limitMs)
      await delay('infinite')
      return HttpResponse.json({})
    })
    return { answer: await ask(), limits: control.asked }
  } finally {
    control.restore()
  }
}

/** Invalid answers of a sidecar by their fault. Each must end as 502. */
export const NO_ANSWERS: [string, () => Response | Promise<Response>][] = [
  ['400', () => HttpResponse.json({ title: 'internal words' }, { status: 400 })],
  [
    '401',
    () =>
      HttpResponse.json({ title: 'Invalid bearer token.' }, { status: 401, headers: { 'www-authenticate': 'Bearer' } }),
  ],
  ['403', () => HttpResponse.json({ title: 'internal words' }, { status: 403 })],
  ['404', () => HttpResponse.json({ title: 'internal words' }, { status: 404 })],
  ['422', () => HttpResponse.json({ title: 'internal words' }, { status: 422 })],
  ['500', () => new HttpResponse('internal words', { status: 500 })],
  ['502', () => HttpResponse.json({ title: 'internal words' }, { status: 502 })],
  ['503', () => new HttpResponse('internal words', { status: 503 })],
  ['a redirect', () => new HttpResponse(null, { status: 307, headers: { location: 'http://internal.example/' } })],
  ['204', () => new HttpResponse(null, { status: 204 })],
  ['an empty body', () => new HttpResponse('')],
  ['a page', () => HttpResponse.html('<p>internal words</p>')],
  ['null', () => HttpResponse.json(null)],
  ['a list', () => HttpResponse.json([])],
  ['an object without its keys', () => HttpResponse.json({})],
  ['a body beyond all measure', () => HttpResponse.json({ padding: 'x'.repeat(1024 * 1024) })],
]

/** Tests of a route whose sidecar answers nonsense, is not there, or is silent for longer than the limit of the route. */
export function testFaults(
  name: string,
  sidecar: PlayedSidecar,
  options: { ask: () => Promise<Response>; limitS: number; invalid: [string, () => Response][] },
): void {
  const { ask, limitS } = options
  it.each([...NO_ANSWERS, ...options.invalid])('with %s is 502, and its words stay here', async (_, respond) => {
    sidecar.answers(respond)
    const [status, detail] = await refusalOf(ask())
    const beginning = new RegExp(`^${name} service returned an unexpected response: `)
    expect([status, detail]).toEqual([502, expect.stringMatching(beginning)])
    expect(detail).not.toMatch(new RegExp(`internal|bearer|${name}\\.test`, 'i'))
  })

  it('by not being there is 502', async () => {
    sidecar.answers(() => HttpResponse.error())
    const beginning = new RegExp(`^${name} service unreachable: `)
    expect(await refusalOf(ask())).toEqual([502, expect.stringMatching(beginning)])
  })

  it(`by silence is 504 after ${limitS} seconds, whatever the configured timeout`, async () => {
    const { answer, limits } = await askSilent(sidecar, limitS * 1000, ask)
    expect(await refusalOf(answer)).toEqual([504, `${name} service timed out: no answer within ${limitS} s`])
    expect(limits).toEqual([limitS * 1000])
  })
}
