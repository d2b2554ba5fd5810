import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createApi } from '../../../../console/client/api/client.ts'
import type { Frame } from '../../../../console/client/api/event-stream.ts'
import { followStream, type StreamState } from '../../../../console/client/api/event-stream.ts'
import { inBrowser } from '../../browser.ts'

inBrowser()
beforeEach(() => void vi.useFakeTimers())

type Send = (text: string) => void
type Behaviour = (send: Send, end: () => void) => void
type Answer = Behaviour | Response | Error | 'silence'

const END = 'event: end\ndata: {}\n\n'
const frame = (id: number, data = `n${id}`) => `id: ${id}\ndata: ${data}\n\n`

/** Follows a stream over connections that behave as told, in order. */
function follow(answers: Answer[], refused = async () => false) {
  const asked: Headers[] = []
  const frames: Frame[] = []
  const states: StreamState[] = []
  const stop = new AbortController()
  const call = async (_: string, { headers, signal }: { headers: Headers; signal: AbortSignal }) => {
    if (headers?.get('accept') !== 'text/event-stream') return Response.json({})
    asked.push(headers)
    const answer = answers.shift()
    if (answer === undefined) throw new Error('nobody expected this connection')
    if (answer instanceof Response) return answer
    if (answer instanceof Error) throw answer
    if (answer === 'silence')
      return new Promise<Response>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const encoder = new TextEncoder()
        answer(
          (text) => controller.enqueue(encoder.encode(text)),
          () => controller.close(),
        )
        signal.addEventListener('abort', () => controller.error(signal.reason))
      },
    })
    return new Response(body)
  }
  const api = createApi({ base: '', tokens: { token: async () => null, refused }, fetch: call as never })
  const done = followStream(api, {
    path: '/events',
    signal: stop.signal,
    onFrame: (next) => frames.push(next),
    isLast: ({ event }) => event === 'end',
    onState: (state) => states.push(state),
  }).then(
    () => 'ended',
    (error: Error) => error,
  )
  return { asked, frames, states, stop, done, pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) }
}

describe('an event stream', () => {
  it('is followed to its last frame', async () => {
    const { done, frames, states, asked } = follow([(send) => send(frame(1) + END)])
    expect(await done).toBe('ended')
    expect(frames.map(({ data }) => data)).toEqual(['n1', '{}'])
    expect(states).toEqual(['connecting', 'open', 'ended'])
    expect(asked[0]?.has('last-event-id')).toBe(false)
  })

  it('goes on behind the last frame when its connection ends', async () => {
    const { done, asked, frames, pass } = follow([
      (send, end) => {
        send(`${frame(1)}${frame(2)}data: without id\n\n`)
        end()
      },
      (send) => send(frame(3) + END),
    ])
    await pass(500)
    expect(await done).toBe('ended')
    expect(asked[1]?.get('last-event-id')).toBe('2')
    expect(frames.map(({ data }) => data)).toEqual(['n1', 'n2', 'without id', 'n3', '{}'])
  })

  it('forgets half a frame of a connection that broke', async () => {
    const { done, frames, pass } = follow([
      (send, end) => {
        send(`${frame(1)}id: 2\ndata: ha`)
        end()
      },
      (send) => send(frame(2) + END),
    ])
    await pass(500)
    await done
    expect(frames.map(({ id, data }) => id + data)).toEqual(['1n1', '2n2', '{}'])
  })

  it('waits longer from failure to failure, and starts anew when something comes', async () => {
    const fault = () => new Response('', { status: 503 })
    const { done, asked, pass } = follow([
      fault(),
      fault(),
      fault(),
      (send, end) => {
        send(frame(1))
        end()
      },
      (send) => send(END),
    ])
    await pass(499)
    expect(asked).toHaveLength(1)
    await pass(1)
    expect(asked).toHaveLength(2)
    await pass(1_000)
    expect(asked).toHaveLength(3)
    await pass(2_000)
    expect(asked).toHaveLength(4)
    await pass(500)
    expect(asked).toHaveLength(5)
    expect(await done).toBe('ended')
  })

  it('goes on at once when the platform answers again', async () => {
    const { done, asked, pass } = follow([new TypeError('Failed to fetch'), (send) => send(END)])
    await pass(500)
    expect(asked).toHaveLength(2)
    expect(await done).toBe('ended')
  })

  it.each([
    ['after it was open', (send: Send) => send(frame(1))],
    ['before it answers', 'silence'],
  ] as [string, Answer][])('takes a connection that is silent %s for dead', async (_, first) => {
    const { done, asked, pass } = follow([first, (send) => send(END)])
    await pass(39_000)
    expect(asked).toHaveLength(1)
    await pass(2_000)
    expect(asked).toHaveLength(2)
    expect(await done).toBe('ended')
  })

  it('is kept alive by comments', async () => {
    const { done, asked, pass } = follow([
      (send) => {
        for (let second = 15; second <= 90; second += 15) setTimeout(() => send(': ping\n\n'), second * 1_000)
        setTimeout(() => send(END), 100_000)
      },
    ])
    await pass(101_000)
    expect(await done).toBe('ended')
    expect(asked).toHaveLength(1)
  })

  it('goes on with a new token', async () => {
    const { done, asked } = follow([new Response('', { status: 401 }), (send) => send(END)], async () => true)
    expect(await done).toBe('ended')
    expect(asked).toHaveLength(2)
  })

  it.each([401, 403, 404, 422])('that is refused with %s ends with this error', async (status) => {
    const { done, asked } = follow([new Response('', { status })])
    expect(await done).toMatchObject({ name: 'ApiError', status })
    expect(asked).toHaveLength(1)
  })

  it.each([429, 500, 502])('that is answered with %s is tried again', async (status) => {
    const { done, pass } = follow([new Response('', { status }), (send) => send(END)])
    await pass(500)
    expect(await done).toBe('ended')
  })

  it('ends silently when nobody watches any more, open or waiting', async () => {
    const open = follow([(send) => send(frame(1))])
    await open.pass(10)
    open.stop.abort()
    expect(await open.done).toBe('ended')
    const waiting = follow([new Response('', { status: 500 })])
    await waiting.pass(10)
    waiting.stop.abort()
    expect(await waiting.done).toBe('ended')
    await waiting.pass(60_000)
    expect(waiting.asked).toHaveLength(1)
  })
})
