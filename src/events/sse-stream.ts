import type { Logger } from '../base/log.ts'
import type { EventHub } from './hub.ts'
import { createReaders, type Reader } from './readers.ts'

export type Chunk = Uint8Array<ArrayBuffer>

export const KEEP_ALIVE: Chunk = new TextEncoder().encode(': keepalive\n\n')

/** The parts that all streams of one process share. */
export type StreamHost = ReturnType<typeof createStreamHost>

/**
 * Creates the host, which ends every open stream when the hub closes.
 * @param periodMs milliseconds between two polls of a stream. Each has its own timer, so that not all poll at the same
 * moment
 * @param perUser most open streams of a user; 0 allows any number
 */
export function createStreamHost(hub: EventHub, periodMs: number, perUser = 0) {
  /** A function for each open stream that ends it. */
  const open = new Set<() => void>()
  hub.closing.addEventListener('abort', () => {
    for (const end of [...open]) end()
  })
  // A little less than a period, so that each poll of a lone stream checks.
  return { hub, periodMs, open, readers: createReaders({ perUser, checkMs: periodMs * 0.8 }) }
}

/** What the route of a stream decides. */
export interface StreamRequest {
  maxPolls: number
  log: Logger
  /** Null while sign-in is off: streams are then neither counted nor checked again. */
  reader: Reader | null
}

export interface StreamOptions extends StreamRequest {
  sessionUuid: string
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
 * the hub closes, when the content fails, when the reader disconnects, and after a poll at which the reader may not read
 * any more. Throws 429 when the reader has too many open streams.
 */
export function createSseStream(host: StreamHost, content: StreamContent, options: StreamOptions) {
  const reader = options.reader && host.readers.enter(options.reader)
  const closers: (() => void)[] = reader ? [reader.leave] : []
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
  const endRefused = (mayRead: boolean) => {
    if (mayRead || isDone) return
    options.log.info('event stream ended: its reader may not read any more', { session_id: options.sessionUuid })
    end()
  }
  const stream: OpenStream = {
    isDone: () => isDone,
    hasRoom: () => (controller.desiredSize ?? 0) > 0,
    send: (chunk) => controller.enqueue(chunk),
    poll: () => {
      if (pollCount++ >= options.maxPolls) return end()
      content.onPoll(stream)
      // A fault ends nothing: the next poll checks again.
      reader?.mayRead().then(endRefused, (error) => options.log.warn('a reader could not be checked', { error }))
    },
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
