import type { Logger } from '../base/log.ts'
import type { EventHub } from './hub.ts'

export type Chunk = Uint8Array<ArrayBuffer>

export const KEEP_ALIVE: Chunk = new TextEncoder().encode(': keepalive\n\n')

/** The parts that all streams of one process share. */
export type StreamHost = ReturnType<typeof createStreamHost>

/**
 * Creates the host, which ends every open stream when the hub closes.
 * @param periodMs milliseconds between two polls of a stream. Each has its own timer, so that not all poll at the same
 * moment
 */
export function createStreamHost(hub: EventHub, periodMs: number) {
  /** A function for each open stream that ends it. */
  const open = new Set<() => void>()
  hub.closing.addEventListener('abort', () => {
    for (const end of [...open]) end()
  })
  return { hub, periodMs, open }
}

export interface StreamOptions {
  sessionUuid: string
  maxPolls: number
  log: Logger
  /** The limit of the queue for a reader. */
  queue: QueuingStrategy<Chunk>
}

/** An open stream, as its content provider uses it. */
export interface OpenStream {
  isDone(): boolean
  /** True while the reader keeps up. */
  hasRoom(): boolean
  send(chunk: Chunk): void
  /** Counts a poll and calls `onPoll`, or ends the stream after the maximum number of polls. */
  poll(): void
  end(): void
  /** Ends the stream because of an error, which is logged. */
  fail(error: unknown): void
  /** Registers a callback for the end of the stream, called at once if it has ended. */
  onEnd(close: () => void): void
}

export interface StreamContent {
  /** Subscribes. From then on, `onPoll` is called once in each period. */
  begin(stream: OpenStream): Promise<void>
  onPoll(stream: OpenStream): void
  /** Called when the reader has room again. */
  onRoom(stream: OpenStream): void
}

/**
 * Creates the body of an event stream: a comment at once, then its content. It also ends after `maxPolls` polls, when
 * the hub closes, when the content fails and when the reader disconnects.
 */
export function createSseStream(host: StreamHost, content: StreamContent, options: StreamOptions) {
  const closers: (() => void)[] = []
  let controller: ReadableStreamDefaultController<Chunk>
  let pollCount = 0
  let isDone = false
  const release = () => {
    isDone = true
    for (const close of closers.splice(0)) close()
    host.open.delete(end)
  }
  const end = () => {
    if (isDone) return
    release()
    controller.close()
  }
  const stream: OpenStream = {
    isDone: () => isDone,
    hasRoom: () => (controller.desiredSize ?? 0) > 0,
    send: (chunk) => controller.enqueue(chunk),
    poll: () => (pollCount++ < options.maxPolls ? content.onPoll(stream) : end()),
    end,
    fail: (error) => {
      if (!isDone) options.log.warn('event stream ended early', { error, session_id: options.sessionUuid })
      end()
    },
    onEnd: (close) => (isDone ? close() : void closers.push(close)),
  }
  const begin = async () => {
    await content.begin(stream)
    if (isDone) return
    const timer = setInterval(stream.poll, host.periodMs)
    closers.push(() => clearInterval(timer))
  }
  const start = (started: typeof controller) => {
    controller = started
    host.open.add(end)
    controller.enqueue(KEEP_ALIVE)
    if (host.hub.closing.aborted) return end()
    begin().catch(stream.fail)
  }
  const pull = () => {
    if (!isDone) content.onRoom(stream)
  }
  return new ReadableStream<Chunk>({ start, pull, cancel: release }, options.queue)
}
