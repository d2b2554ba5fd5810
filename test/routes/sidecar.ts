import { HttpResponse, http } from 'msw'
import type { SetupServer } from 'msw/node'

export interface Call {
  headers: Headers
  body: unknown
}

/** Stands in for a sidecar: answers its one route and notes what was asked. */
export function playSidecar(
  server: SetupServer,
  url: string,
): { calls: Call[]; answers(respond: () => Response | Promise<Response>): void } {
  const calls: Call[] = []
  return {
    calls,
    answers: (respond) =>
      server.use(
        http.post(url, async ({ request }) => {
          calls.push({ headers: request.headers, body: await request.json() })
          return respond()
        }),
      ),
  }
}

/** Answers of a sidecar that are none, by what is wrong with them; each must end as 502. */
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
