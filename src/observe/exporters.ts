import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'
import { type Fetch, OutboundError, send } from '../base/http.ts'

export interface CollectorExporterOptions {
  /** `v1/traces` is appended as it is. */
  collector_url: string
  /** Sent as bearer token; empty: none. */
  api_key: string
  fetch: Fetch
  /** For one attempt. Default 10,000. */
  timeout_ms?: number
  /** First wait between attempts, doubled each time. Default 500. */
  backoff_ms?: number
  /** Told why this many spans are lost. */
  lost(spans: number, reason: string): void
}

const RETRIES = 2
const PASSING = [429, 502, 503, 504]
const MAX_ANSWER = 64 * 1024
/** For everything that one export does, below the thirty seconds after which the next one begins. */
const EXPORT_LIMIT_MS = 25_000
/** Bytes of one request, about; a plan or a long conversation may make a single span larger. */
const MAX_REQUEST = 4 * 1024 * 1024

/** Sends spans to a collector that speaks OTLP over HTTP with protobuf. What cannot be delivered is lost. */
export function createCollectorExporter(options: CollectorExporterOptions): SpanExporter {
  const { timeout_ms = 10_000, backoff_ms = 500 } = options
  const headers: Record<string, string> = { 'content-type': 'application/x-protobuf' }
  if (options.api_key !== '') headers.authorization = `Bearer ${options.api_key}`
  const underWay = new Set<Promise<void>>()

  const post = async (spans: ReadableSpan[], signal: AbortSignal): Promise<string | null> => {
    const body = ProtobufTraceSerializer.serializeRequest(spans)
    if (!body) return 'they could not be encoded'
    const request = { signal, timeout_ms, retries: RETRIES, retry_statuses: PASSING, backoff_ms, max_bytes: MAX_ANSWER }
    const url = `${options.collector_url}v1/traces`
    const { status } = await send(options.fetch, {
      ...request,
      url,
      method: 'POST',
      headers,
      body: new Uint8Array(body),
    })
    return status >= 200 && status < 300 ? null : `the collector answered HTTP ${status}`
  }
  const deliver = async (spans: readonly ReadableSpan[]): Promise<void> => {
    const signal = AbortSignal.timeout(EXPORT_LIMIT_MS)
    for (const piece of splitBatch(spans, MAX_REQUEST)) {
      const reason = await post(piece, signal).catch((error: unknown) =>
        error instanceof OutboundError ? error.message : 'unexpected fault',
      )
      if (reason !== null) options.lost(piece.length, reason)
    }
  }
  const waitForDeliveries = async () => {
    await Promise.all(underWay)
  }
  return {
    export: (spans, done) => {
      const delivery = deliver(spans)
        .catch(() => options.lost(spans.length, 'unexpected fault'))
        .finally(() => {
          underWay.delete(delivery)
          done({ code: 0 })
        })
      underWay.add(delivery)
    },
    forceFlush: waitForDeliveries,
    shutdown: waitForDeliveries,
  }
}

/** What is needed of a span to guess its size. */
interface Sized {
  readonly attributes: Readonly<Record<string, unknown>>
}

const PER_SPAN = 200
const PER_ATTRIBUTE = 16

/** Cuts a batch so that each piece stays about below `max_bytes`, but holds at least one span. */
export function splitBatch<Item extends Sized>(items: readonly Item[], maxBytes: number): Item[][] {
  const pieces: Item[][] = []
  let piece: Item[] = []
  let size = 0
  for (const item of items) {
    const more = sizeOf(item)
    if (piece.length > 0 && size + more > maxBytes) {
      pieces.push(piece)
      piece = []
      size = 0
    }
    piece.push(item)
    size += more
  }
  if (piece.length > 0) pieces.push(piece)
  return pieces
}

function sizeOf({ attributes }: Sized): number {
  let size = PER_SPAN
  for (const [key, value] of Object.entries(attributes))
    size += PER_ATTRIBUTE + key.length + (typeof value === 'string' ? value.length : 8)
  return size
}

/**
 * One JSON object a line for each span.
 * @param write receives a line without its line feed
 */
export const createConsoleExporter = (write: (line: string) => void): SpanExporter => ({
  export: (spans, done) => {
    for (const span of spans) write(JSON.stringify(describeSpan(span)))
    done({ code: 0 })
  },
  forceFlush: async () => {},
  shutdown: async () => {},
})

const STATUS = ['unset', 'ok', 'error'] as const

function describeSpan(span: ReadableSpan): Record<string, unknown> {
  const { traceId, spanId } = span.spanContext()
  return {
    span: span.name,
    project: span.resource.attributes['openinference.project.name'],
    trace_id: traceId,
    span_id: spanId,
    parent_id: span.parentSpanContext?.spanId ?? null,
    start: new Date(milliseconds(span.startTime)).toISOString(),
    duration_ms: Math.round(milliseconds(span.duration)),
    status: STATUS[span.status.code],
    ...(span.status.message !== undefined && { status_message: span.status.message }),
    attributes: span.attributes,
  }
}

const milliseconds = ([seconds, nanos]: readonly [number, number]) => seconds * 1000 + nanos / 1e6
