import { ROOT_CONTEXT, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'

/** Masks the sensitive values known at the time of the call. */
export interface TextMask {
  text(text: string): string
}

interface SpanOptions {
  project: string
  name: string
  parent?: OpenSpan
  mask: TextMask
  /** Attributes that are set last, so that they are dropped last beyond the limit. */
  last: Attributes
}

/** An open span, to be ended or failed exactly once. No method throws. Attributes are computed when it ends. */
export interface OpenSpan {
  readonly span: Span
  rename(name: string): void
  end(attributes: () => Attributes): void
  fail(error: unknown, attributes: () => Attributes): void
  /** Returns the result of `make`, or reports its error and returns undefined. */
  attempt<T>(make: () => T): T | undefined
}

interface SpanRecorderOptions {
  /** Maximum attributes of a span; the first ones are dropped first. */
  attributeLimit: number
  /** Exporters that get batches of 512 spans or five seconds. While 2048 spans wait, new ones are lost. */
  batched: readonly SpanExporter[]
  /** Exporters that get each span when it ends. */
  immediate: readonly SpanExporter[]
  /** Receives the error when a span could not be recorded. */
  onTrouble(error: unknown): void
}

/** Every setting is given here, because the library would read a missing one from environment variables. */
const BATCH = { maxExportBatchSize: 512, scheduledDelayMillis: 5_000, maxQueueSize: 2_048, exportTimeoutMillis: 30_000 }
/** Maximum characters of the error text in a span's status. */
const MAX_STATUS = 2_000

/** Creates a span recorder, with a provider per project, because the collector groups spans by project. */
export function createSpanRecorder(options: SpanRecorderOptions) {
  const providers = new Map<string, BasicTracerProvider>()
  const tracerOf = (project: string): Tracer => {
    const provider = providers.get(project) ?? createProvider(project, options)
    providers.set(project, provider)
    return provider.getTracer('platform')
  }
  return {
    open: (spanOptions: SpanOptions): OpenSpan => {
      const parent = spanOptions.parent ? trace.setSpan(ROOT_CONTEXT, spanOptions.parent.span) : ROOT_CONTEXT
      return openSpan(tracerOf(spanOptions.project).startSpan(spanOptions.name, {}, parent), spanOptions, options)
    },
    /** Passes the ended spans to the exporters and stops. Rejects when an exporter fails. */
    close: async (): Promise<void> => {
      await Promise.all([...providers.values()].map((provider) => provider.shutdown()))
    },
  }
}

export type SpanRecorder = ReturnType<typeof createSpanRecorder>

function createProvider(project: string, options: SpanRecorderOptions): BasicTracerProvider {
  const spanProcessors: SpanProcessor[] = [
    ...options.batched.map((exporter) => new BatchSpanProcessor(exporter, BATCH)),
    ...options.immediate.map((exporter) => new SimpleSpanProcessor(exporter)),
  ]
  return new BasicTracerProvider({
    resource: resourceOf({ 'openinference.project.name': project }),
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeCountLimit: options.attributeLimit, attributeValueLengthLimit: Number.POSITIVE_INFINITY },
    spanProcessors,
  })
}

/** Returns a resource with only these attributes. The library's own would also name the process and its libraries. */
function resourceOf(attributes: Record<string, string>): ReadableSpan['resource'] {
  const resource: ReadableSpan['resource'] = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  }
  return resource
}

function openSpan(
  span: Span,
  { mask, last }: SpanOptions,
  { attributeLimit, onTrouble: trouble }: SpanRecorderOptions,
): OpenSpan {
  const attempt = <T>(make: () => T): T | undefined => {
    try {
      return make()
    } catch (error) {
      trouble(error)
      return undefined
    }
  }
  const finish = (attributes: () => Attributes) => {
    const { kept, dropped } = splitAtLimit(
      { ...maskAttributes(attempt(attributes) ?? {}, mask), ...maskAttributes(last, mask) },
      attributeLimit,
    )
    // The library refuses attributes beyond its limit and counts them, so that the span shows how many are missing.
    span.setAttributes(kept).setAttributes(dropped)
  }
  return {
    span,
    attempt,
    rename: (name) => span.updateName(name),
    end: (attributes) => {
      attempt(() => finish(attributes))
      span.setStatus({ code: SpanStatusCode.OK })
      span.end()
    },
    fail: (error, attributes) => {
      attempt(() => finish(attributes))
      attempt(() =>
        span.setStatus({ code: SpanStatusCode.ERROR, message: mask.text(messageOf(error)).slice(0, MAX_STATUS) }),
      )
      span.end()
    },
  }
}

const maskAttributes = (attributes: Attributes, mask: TextMask): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, typeof value === 'string' ? mask.text(value) : value]),
  )

export type Attributes = Record<string, string | number>

/** Splits attributes into the last `limit` ones and those before, in their order. */
function splitAtLimit(attributes: Attributes, limit: number): { kept: Attributes; dropped: Attributes } {
  const entries = Object.entries(attributes)
  const cut = Math.max(0, entries.length - limit)
  return { kept: Object.fromEntries(entries.slice(cut)), dropped: Object.fromEntries(entries.slice(0, cut)) }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
