import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'

/**
 * One JSON object a line for each span.
 * @param write receives a line without its line feed
 */
export const createConsoleExporter = (write: (line: string) => void): SpanExporter => ({
  export: (spans, done) => {
    for (const span of spans) write(JSON.stringify(shown(span)))
    done({ code: 0 })
  },
  forceFlush: async () => {},
  shutdown: async () => {},
})

const STATUS = ['unset', 'ok', 'error'] as const

function shown(span: ReadableSpan): Record<string, unknown> {
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
