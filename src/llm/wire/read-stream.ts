import { CallFailure } from '../failure.ts'
import { createFrameReader, EVENT_STREAM } from './event-frames.ts'
import { createEventReader, type EventReader } from './event-lines.ts'
import { NO_SINK, type StreamSink, type Wire } from './wire.ts'

/** Follows a streamed answer while it is read. */
export interface Watch extends StreamSink {
  /** Called before the first event. `partial` returns the answer so far as a chat completion. */
  begin(partial: () => unknown): void
  /** True when nothing more of the answer is wanted. */
  isCut(): boolean
  /** True if a stream was asked for, so that one without an end can be asked for again as a whole. */
  isAsked: boolean
  /** Milliseconds that may pass between two pieces of the stream. */
  idleMs: number
}

/** For a stream that was not asked for, whose server would send no other answer. */
export const NO_WATCH: Watch = {
  ...NO_SINK,
  begin: () => {},
  isCut: () => false,
  isAsked: false,
  idleMs: Number.POSITIVE_INFINITY,
}

/** True if an answer of this content type is read as a stream. */
export const isStream = (contentType: string): boolean =>
  contentType.includes('text/event-stream') || contentType.includes(EVENT_STREAM)

/** How long the usage may take after the end of the answer, and the end of the stream after its end mark. */
const USAGE_MS = 10_000
const ENDING_MS = 1000
/** A stream repeats names and ids with every piece, so it may be this many times as large as a whole answer. */
const OVERHEAD = 8

/**
 * Reads a streamed answer until its end, or until the watch wants no more of it. The time until the first piece is
 * limited by the signal of the request alone, because a model may think before it writes.
 * @param limit the largest whole answer in bytes
 * @returns the answer in the wire's form; undefined when no event is of that form
 * Errors: `CallFailure`, `in_stream`, when the stream stalls, breaks off or is too large.
 */
export async function readStreamed(response: Response, wire: Wire, watch: Watch, limit: number): Promise<unknown> {
  const assembler = wire.assembler(watch)
  watch.begin(() => wire.decode(assembler.answer()))
  const binary = (response.headers.get('content-type') ?? '').includes(EVENT_STREAM)
  const reader = binary ? frameEvents() : textEvents(createEventReader())
  const chunks = response.body?.getReader()
  const isWhole = () => reader.isDone() || assembler.isEnded()
  let size = 0
  let idleMs = Number.POSITIVE_INFINITY
  try {
    for (;;) {
      const patience = reader.isDone() ? ENDING_MS : Math.min(idleMs, assembler.isEnded() ? USAGE_MS : idleMs)
      const next = chunks ? await within(chunks.read(), patience) : null
      for (const event of next?.value ? reader.add(next.value) : reader.end()) assembler.add(event)
      if (watch.isCut() || !next?.value) break
      size += next.value.byteLength
      if (size > limit * OVERHEAD) throw tooLarge(limit * OVERHEAD)
      idleMs = watch.idleMs
    }
  } catch (error) {
    if (error instanceof CallFailure) throw error
    if (!isWhole()) throw brokenStream(error, idleMs)
  } finally {
    // Closes the connection unless the stream has ended.
    chunks?.cancel().catch(() => {})
  }
  const answer = assembler.answer() ?? undefined
  if (answer !== undefined && watch.isAsked && !watch.isCut() && !isWhole()) throw brokenStream()
  return answer
}

interface ByteReader extends Pick<EventReader, 'end' | 'isDone'> {
  add(chunk: Uint8Array): unknown[]
}

function textEvents(reader: EventReader): ByteReader {
  const decoder = new TextDecoder()
  return {
    add: (chunk) => reader.add(decoder.decode(chunk, { stream: true })),
    end: () => [...reader.add(decoder.decode()), ...reader.end()],
    isDone: reader.isDone,
  }
}

const frameEvents = (): ByteReader => ({ add: createFrameReader(), end: () => [], isDone: () => false })

/** Thrown when nothing came in time. */
class Stalled extends Error {}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  if (ms === Number.POSITIVE_INFINITY) return await work
  let timer: ReturnType<typeof setTimeout> | undefined
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Stalled()), ms)
  })
  return await Promise.race([work, stalled]).finally(() => clearTimeout(timer))
}

const tooLarge = (bytes: number) =>
  new CallFailure(`the answer is larger than ${bytes} bytes`, 502, { retryable: false, in_stream: true })

const brokenStream = (cause?: unknown, idleMs = 0) =>
  new CallFailure(
    cause instanceof Stalled
      ? `the answer stopped in the middle, nothing came for ${idleMs / 1000} s`
      : 'the answer broke off in the middle',
    cause instanceof Stalled ? 504 : 502,
    { retryable: true, in_stream: true, cause },
  )
