import { secretsOf } from '../../config/mask.ts'
import type { Config } from '../../config/types.ts'
import { delay, type Fetch } from '../base/http.ts'
import type { Logger } from '../base/log.ts'
import { createMasker } from '../base/masking.ts'
import type { Operation } from '../base/vocabulary.ts'
import { createPricing } from '../llm/prices.ts'
import type { RunTrace, TextMask, Tracing } from './trace-types.ts'

export interface TracingDeps {
  fetch: Fetch
  log: Logger
  /** Receives the lines of the console exporter. */
  write: (line: string) => void
}

/** Shorter secrets of the configuration are not masked, because they would match ordinary words. */
const MIN_SECRET = 12

/** Creates the configured tracing; undefined for none. The large libraries are loaded on first use. */
export function createTracing(config: Config, deps: TracingDeps): Tracing | undefined {
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
  const configured = createMasker(secretsOf(config).filter(({ length }) => length >= MIN_SECRET))
  return {
    warm: async () => {
      await loaded().catch(losses.reportTrouble)
    },
    session: async (session) => {
      const parts = await loaded().catch(losses.reportTrouble)
      if (!parts) return { masked: () => silent }
      const project = projectOf(config.environment, session.operation)
      const both = (mask: TextMask): TextMask => ({ text: (text) => mask.text(configured.text(text)) })
      return {
        masked: (mask) =>
          parts.createRunTrace({
            recorder: parts.recorder,
            project,
            session,
            mask: both(mask),
            llm: config.llm,
            price,
          }),
      }
    },
    close: async (limitMs) => {
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

/** Logs lost spans, at most one line a minute of each kind. */
export interface LossReport {
  /** Reports spans that could not be delivered. */
  reportLost(spans: number, reason: string): void
  /** Reports a span that could not be recorded. */
  reportTrouble(error: unknown): void
  /** Reports that the collector did not take the last spans within the limit. */
  reportLate(limitMs: number): void
  /** Writes the losses that were held back. */
  flush(): void
}

const PERIOD_MS = 60_000

/**
 * Counts losses within a minute after a line and writes them with the next one.
 * @param now milliseconds of a monotonic clock
 */
export function reportLosses(log: Logger, now: () => number = () => performance.now()): LossReport {
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
    flush: writePending,
    reportLost: (spans, reason) => {
      pending = { spans: pending.spans + spans, reason }
      if (now() - lastWrite >= PERIOD_MS) writePending()
    },
    reportTrouble: (error) => {
      if (now() - lastTrouble < PERIOD_MS) return
      lastTrouble = now()
      log.warn('a span could not be recorded', { error })
    },
    reportLate: (limitMs) => log.warn(`the collector did not take the last spans within ${limitMs / 1000} s`),
  }
}
