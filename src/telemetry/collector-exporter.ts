import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'
import { type Fetch, OutboundError, send } from '../base/http.ts'
import { inPieces } from './pieces.ts'

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
  const under_way = new Set<Promise<void>>()

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
    for (const piece of inPieces(spans, MAX_REQUEST)) {
      const reason = await post(piece, signal).catch((error: unknown) =>
        error instanceof OutboundError ? error.message : 'unexpected fault',
      )
      if (reason !== null) options.lost(piece.length, reason)
    }
  }
  const settled = async () => {
    await Promise.all(under_way)
  }
  return {
    export: (spans, done) => {
      const delivery = deliver(spans)
        .catch(() => options.lost(spans.length, 'unexpected fault'))
        .finally(() => {
          under_way.delete(delivery)
          done({ code: 0 })
        })
      under_way.add(delivery)
    },
    forceFlush: settled,
    shutdown: settled,
  }
}
