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
import type { TextMask } from './trace-types.ts'

export interface SpanOptions {
  project: string
  name: string
  parent?: OpenSpan
  mask: TextMask
  /** Set behind all others, so that they outlive the limit. */
  last: Attributes
}

/** A span that has to be ended once. Nothing here throws; attributes are made when it ends. */
export interface OpenSpan {
  readonly span: Span
  rename(name: string): void
  end(attributes: () => Attributes): void
  fail(error: unknown, attributes: () => Attributes): void
  /** What `make` answers; undefined, with a word in the log, when it fails. */
  attempt<T>(make: () => T): T | undefined
}

export interface SpanRecorder {
  open(options: SpanOptions): OpenSpan
  /** Hands over everything that has ended. Rejects when it could not be. */
  close(): Promise<void>
}

export interface SpanRecorderOptions {
  /** Most attributes of a span; the oldest are dropped first. */
  attributeLimit: number
  /** Spans that leave in batches: at 512, or five seconds after the first; of more than 2048 waiting ones the newest are lost. */
  batched: readonly SpanExporter[]
  /** Get each span when it ends. */
  immediate: readonly SpanExporter[]
  /** Told of a span that could not be recorded. */
  onTrouble(error: unknown): void
}

/** Everything is said here: the library would take what is left out from variables of the environment. */
const BATCH = { maxExportBatchSize: 512, scheduledDelayMillis: 5_000, maxQueueSize: 2_048, exportTimeoutMillis: 30_000 }
const MAX_STATUS = 2_000

/** One provider for each project, made when its first span opens. */
export function createSpanRecorder(options: SpanRecorderOptions): SpanRecorder {
  const providers = new Map<string, BasicTracerProvider>()
  const tracerOf = (project: string): Tracer => {
    const provider = providers.get(project) ?? createProvider(project, options)
    providers.set(project, provider)
    return provider.getTracer('platform')
  }
  return {
    open: (spanOptions) => {
      const parent = spanOptions.parent ? trace.setSpan(ROOT_CONTEXT, spanOptions.parent.span) : ROOT_CONTEXT
      return openSpan(tracerOf(spanOptions.project).startSpan(spanOptions.name, {}, parent), spanOptions, options)
    },
    close: async () => {
      await Promise.all([...providers.values()].map((provider) => provider.shutdown()))
    },
  }
}

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

/** The project and nothing else: the library's own resource would name the process and its libraries. */
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
    // The library refuses what comes after its limit, and counts it.
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

/** Values that spans of ours carry. */
export type Attributes = Record<string, string | number>

/**
 * At most `limit` attributes: the last ones in the order in which they were set, so that the oldest go first.
 * `dropped` are those before them.
 */
function splitAtLimit(attributes: Attributes, limit: number): { kept: Attributes; dropped: Attributes } {
  const entries = Object.entries(attributes)
  const cut = Math.max(0, entries.length - limit)
  return { kept: Object.fromEntries(entries.slice(cut)), dropped: Object.fromEntries(entries.slice(0, cut)) }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
