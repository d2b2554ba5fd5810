import fc from 'fast-check'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createApi } from '../../../../console/client/api/client.ts'
import {
  createFrameReader,
  type Frame,
  followStream,
  type StreamState,
} from '../../../../console/client/api/event-stream.ts'
import { inBrowser } from '../../browser.ts'

inBrowser()
beforeEach(() => void vi.useFakeTimers())

type Send = (text: string) => void
type Behaviour = (send: Send, end: () => void) => void
type Answer = Behaviour | Response | Error | 'silence'

const END = 'event: end\ndata: {}\n\n'
const frame = (id: number, data = `n${id}`) => `id: ${id}\ndata: ${data}\n\n`

/** Makes a connection that ends after this text. */
const cutAfter =
  (text: string): Behaviour =>
  (send, end) => {
    send(text)
    end()
  }

/** Follows a stream over connections that give these answers, in order. */
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
      cutAfter(`${frame(1)}${frame(2)}data: without id\n\n`),
      (send) => send(frame(3) + END),
    ])
    await pass(500)
    expect(await done).toBe('ended')
    expect(asked[1]?.get('last-event-id')).toBe('2')
    expect(frames.map(({ data }) => data)).toEqual(['n1', 'n2', 'without id', 'n3', '{}'])
  })

  it('forgets half a frame of a connection that broke', async () => {
    const { done, frames, pass } = follow([cutAfter(`${frame(1)}id: 2\ndata: ha`), (send) => send(frame(2) + END)])
    await pass(500)
    await done
    expect(frames.map(({ id, data }) => id + data)).toEqual(['1n1', '2n2', '{}'])
  })

  it('waits longer from failure to failure, and starts anew when something comes', async () => {
    const fault = () => new Response('', { status: 503 })
    const { done, asked, pass } = follow([fault(), fault(), fault(), cutAfter(frame(1)), (send) => send(END)])
    const counts: number[] = []
    for (const ms of [499, 1, 1_000, 2_000, 500]) {
      await pass(ms)
      counts.push(asked.length)
    }
    expect(counts).toEqual([1, 2, 3, 4, 5])
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

const readAll = (pieces: string[]): Frame[] => pieces.flatMap(createFrameReader())

it.each([
  ['the fields of a frame', 'id: 7\nevent: step\ndata: {"a":1}\n\n', '7', 'step', '{"a":1}'],
  ['lines of data, less one blank, and fields without it', 'data:a\ndata:  b\ndata\nid:1\n\n', '1', '', 'a\n b\n'],
  ['no comments and no unknown fields', ': ping\n\nretry: 1\n\n: ping\ndata: x\nother: y\n\n', '', '', 'x'],
  ['no frames without data', 'id: 4\n\ndata: x\n\n', '', '', 'x'],
])('reads %s', (_, text, id, event, data) => expect(readAll([text])).toEqual([{ id, event, data }]))

it('waits for the end of a frame', () => {
  const read = createFrameReader()
  expect(read('data: a\n')).toEqual([])
  expect(read('data: b')).toEqual([])
  expect(read('\n\ndata: c')).toEqual([{ id: '', event: '', data: 'a\nb' }])
})

it.each(['\n', '\r\n', '\r'])('reads the same however the text is cut, with %j at the end of lines', (end) => {
  const text = ': hello\n\nid: 1\nevent: lines\ndata: á\ndata: 😀\n\n:\n\nid: 2\ndata: {"t":"x: y"}\n\n'
  const whole = readAll([text])
  expect(whole).toHaveLength(2)
  const sent = text.replaceAll('\n', end)
  fc.assert(
    fc.property(fc.array(fc.nat(sent.length), { maxLength: 8 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), sent.length]
      const pieces = places.slice(1).map((place, index) => sent.slice(places[index], place))
      expect(readAll(pieces)).toEqual(whole)
    }),
  )
  expect(readAll([...sent])).toEqual(whole)
})

it('is not slowed down by a frame that comes in many pieces', () => {
  const read = createFrameReader()
  const started = performance.now()
  for (let piece = 0; piece < 20_000; piece++) read('x'.repeat(50))
  expect(performance.now() - started).toBeLessThan(2_000)
  read('\n\n')
})
