import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'
import { type Fetch, OutboundError, type OutboundResponse, send } from '../base/http.ts'

export interface CollectorExporterOptions {
  /** The base URL with a trailing slash, to which `v1/traces` is appended. */
  collector_url: string
  /** Sent as bearer token unless empty. */
  api_key: string
  fetch: Fetch
  /** Milliseconds for one attempt. Default 10,000. */
  timeoutMs?: number
  /** Milliseconds before the second attempt, doubled for the third. Default 500. */
  backoffMs?: number
  onLost(spans: number, reason: string): void
}

/** The time limit of an export. The library gives up after 30 s, so this one must be shorter. */
const EXPORT_LIMIT_MS = 25_000
/** The approximate size of a request in bytes. A single span with a plan or a long conversation may exceed it. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024

/** Sends spans to a collector by OTLP over HTTP with protobuf, in three attempts. An export never fails. */
export function createCollectorExporter(options: CollectorExporterOptions): SpanExporter {
  const { timeoutMs = 10_000, backoffMs = 500 } = options
  const headers: Record<string, string> = { 'content-type': 'application/x-protobuf' }
  if (options.api_key !== '') headers.authorization = `Bearer ${options.api_key}`
  const underWay = new Set<Promise<void>>()

  const post = async (spans: ReadableSpan[], signal: AbortSignal): Promise<Loss | null> => {
    const body = ProtobufTraceSerializer.serializeRequest(spans)
    if (!body) return { spans: spans.length, reason: 'they could not be encoded' }
    const answer = await send(options.fetch, {
      url: `${options.collector_url}v1/traces`,
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      signal,
      timeoutMs,
      retries: 2,
      retryStatuses: [429, 502, 503, 504],
      backoffMs,
      maxBytes: 64 * 1024,
    })
    if (answer.status >= 200 && answer.status < 300) return rejectedOf(answer)
    return { spans: spans.length, reason: `the collector answered HTTP ${answer.status}` }
  }
  const deliver = async (spans: readonly ReadableSpan[]): Promise<void> => {
    const signal = AbortSignal.timeout(EXPORT_LIMIT_MS)
    for (const piece of splitBatch(spans, MAX_REQUEST_BYTES)) {
      const lost = await post(piece, signal).catch((error: unknown) => ({
        spans: piece.length,
        reason: error instanceof OutboundError ? error.message : 'unexpected fault',
      }))
      if (lost) options.onLost(lost.spans, lost.reason)
    }
  }
  const waitForDeliveries = async () => {
    await Promise.all(underWay)
  }
  return {
    export: (spans, done) => {
      const delivery = deliver(spans)
        .catch(() => options.onLost(spans.length, 'unexpected fault'))
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

interface Loss {
  spans: number
  reason: string
}

/**
 * Returns the spans that a collector rejected in an accepted request (OTLP 1.9, "Partial Success"). The response text
 * is dropped, because it may quote a span.
 */
function rejectedOf({ headers, body }: Pick<OutboundResponse, 'headers' | 'body'>): Loss | null {
  if (body.length === 0 || !headers.get('content-type')?.startsWith('application/x-protobuf')) return null
  try {
    const spans = Number(ProtobufTraceSerializer.deserializeResponse(body).partialSuccess?.rejectedSpans ?? 0)
    return spans > 0 ? { spans, reason: 'the collector rejected them' } : null
  } catch {
    return null
  }
}

/** The part of a span from which its size is estimated. */
interface Sized {
  readonly attributes: Readonly<Record<string, unknown>>
}

/** The estimated bytes of a span without attributes, and of an attribute without name and value. */
const BYTES_PER_SPAN = 200
const BYTES_PER_ATTRIBUTE = 16

/** Splits a batch into pieces of about `maxBytes` bytes, with at least one span each. */
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
  let size = BYTES_PER_SPAN
  for (const [key, value] of Object.entries(attributes))
    size += BYTES_PER_ATTRIBUTE + key.length + (typeof value === 'string' ? value.length : 8)
  return size
}

/**
 * Writes each span as one line of JSON.
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
