import { maskedSecretsOf } from '../../config/mask.ts'
import type { Config } from '../../config/types.ts'
import { delay, type Fetch } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { createMasker } from '../base/masking.ts'
import type { Operation } from '../base/vocabulary.ts'
import { createPricing } from '../llm/prices.ts'
import type { RunTrace, TracedSession } from './run-trace.ts'
import type { TextMask } from './span-recorder.ts'

/**
 * Creates the configured tracing, which records runs and sends the spans to a collector; undefined for none. The large
 * libraries are loaded on first use. Only `close` waits for the collector, and no method throws, so that a run is the
 * same with and without tracing.
 * @param deps.write receives the lines of the console exporter
 */
export function createTracing(config: Config, deps: { fetch: Fetch; log: Logger; write: (line: string) => void }) {
  const { collector_url, api_key, otel_console_exporter, otel_attribute_count_limit } = config.telemetry
  if (collector_url === '' && !otel_console_exporter) return undefined
  const losses = reportLosses(deps.log)
  const load = async () => {
    const [{ createSpanRecorder }, { createRunTrace }, { createCollectorExporter, createConsoleExporter }] =
      await Promise.all([import('./span-recorder.ts'), import('./run-trace.ts'), import('./exporters.ts')])
    const exporter = { collector_url, api_key, fetch: deps.fetch, onLost: losses.reportLost }
    const recorder = createSpanRecorder({
      attributeLimit: otel_attribute_count_limit,
      batched: collector_url === '' ? [] : [createCollectorExporter(exporter)],
      immediate: otel_console_exporter ? [createConsoleExporter(deps.write)] : [],
      onTrouble: losses.reportTrouble,
    })
    return { recorder, createRunTrace }
  }
  const price = createPricing(config.llm.prices)
  let loading: ReturnType<typeof load> | null = null
  const loaded = () => {
    loading ??= load()
    return loading
  }
  const configured = createMasker(maskedSecretsOf(config))
  return {
    /** Preloads the libraries, so that the first run does not wait for them. */
    warm: async (): Promise<void> => {
      await loaded().catch(losses.reportTrouble)
    },
    session: async (session: TracedSession) => {
      const parts = await loaded().catch(losses.reportTrouble)
      const project = projectOf(config.environment, session.operation)
      const both = (mask: TextMask): TextMask => ({ text: (text) => mask.text(configured.text(text)) })
      return {
        /** Returns the trace of one run; the texts of a span are masked when it ends. */
        masked: (mask: TextMask): RunTrace =>
          parts
            ? parts.createRunTrace({
                recorder: parts.recorder,
                project,
                session,
                mask: both(mask),
                llm: config.llm,
                price,
              })
            : silent,
      }
    },
    /** Delivers the pending spans and stops, after at most `limitMs` milliseconds. */
    close: async (limitMs: number): Promise<void> => {
      if (!loading) return
      const closed = loading.then(({ recorder }) => recorder.close()).catch(losses.reportTrouble)
      const late = new AbortController()
      const limit = delay(limitMs, late.signal).then(
        () => losses.reportLate(limitMs),
        () => {},
      )
      await Promise.race([closed, limit])
      late.abort()
      losses.flush()
    },
  }
}

export type Tracing = NonNullable<ReturnType<typeof createTracing>>
export type SessionTrace = Awaited<ReturnType<Tracing['session']>>

const nothing = { end: () => {}, fail: () => {} }
/** Used when the libraries cannot be loaded, so that a run continues without spans. */
const silent: RunTrace = {
  chain: () => ({ ...nothing, model: () => nothing, tool: () => nothing }),
  engine: () => nothing,
}

const PREFIX = { development: 'dev', staging: 'pre', production: 'pro' } as const
const SUFFIX = { generate: 'day2', drift: 'drift', import: 'import' } as const

/** Returns the project under which the collector groups a session's spans, for example `dev-engine-day2`. */
const projectOf = (environment: Config['environment'], operation: Operation): string =>
  `${PREFIX[environment]}-engine-${SUFFIX[operation]}`

const PERIOD_MS = 60_000

/**
 * Logs lost spans, at most one line a minute of each kind. Losses within a minute after a line are counted and written
 * with the next one.
 * @param now milliseconds of a monotonic clock
 */
export function reportLosses(log: Logger, now: () => number = () => performance.now()) {
  let lastWrite = Number.NEGATIVE_INFINITY
  let lastTrouble = Number.NEGATIVE_INFINITY
  let pending = { spans: 0, reason: '' }
  const writePending = () => {
    if (pending.spans === 0) return
    log.warn('spans could not be handed to the collector', { ...pending })
    pending = { spans: 0, reason: '' }
    lastWrite = now()
  }
  return {
    /** Writes the losses that were held back. */
    flush: writePending,
    /** Reports spans that could not be delivered. */
    reportLost: (spans: number, reason: string): void => {
      pending = { spans: pending.spans + spans, reason }
      if (now() - lastWrite >= PERIOD_MS) writePending()
    },
    /** Reports a span that could not be recorded. */
    reportTrouble: (error: unknown): void => {
      if (now() - lastTrouble < PERIOD_MS) return
      lastTrouble = now()
      log.warn('a span could not be recorded', { error })
    },
    /** Reports that the collector did not take the last spans within the limit. */
    reportLate: (limitMs: number) => log.warn(`the collector did not take the last spans within ${limitMs / 1000} s`),
  }
}
