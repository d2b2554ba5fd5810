import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { type Exchange, exchangeOf } from './openapi.ts'

/** The assumed answer of a host to a request, by method and end of the path. */
export type Answers = Record<string, { status?: number; body: object }>

/** Runs a call while every request of the process gets one of these answers; what went over the wire comes back. */
export async function recorded(base: string, answers: Answers, call: () => Promise<unknown>): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  const server = setupServer(
    http.all('*', async ({ request }) => {
      const { pathname } = new URL(request.url)
      const key = Object.keys(answers).find((candidate) => {
        const [method = '', end = ''] = candidate.split(' ')
        return request.method === method && pathname.endsWith(end)
      })
      if (!key) throw new Error(`no answer to ${request.method} ${pathname}`)
      const copy = request.clone()
      const response = HttpResponse.json(answers[key]?.body, { status: answers[key]?.status })
      exchanges.push(await exchangeOf(base, copy, response))
      return response
    }),
  )
  server.listen({ onUnhandledFrame: 'error' })
  try {
    await call()
  } finally {
    server.close()
  }
  return exchanges
}
