import * as v from 'valibot'
import { flag, integer, text } from '../fields.ts'
import type { Source } from '../source.ts'
import type { TelemetryConfig } from '../types.ts'

/** The address of the collector in the compose deployment. */
export const DEFAULT_COLLECTOR_URL = 'http://phoenix:6006/'

export const telemetrySchema = v.object({
  // The text stays as it is written, because `v1/traces` is appended to it directly.
  collector_url: text(DEFAULT_COLLECTOR_URL, {
    test: (value) => value === '' || /^https?:\/\/\S+$/i.test(value),
    text: 'must be an http:// or https:// URL, or empty for neither collector nor prompt registry',
  }),
  api_key_env: text('PLATFORM_COLLECTOR_API_KEY'),
  otel_attribute_count_limit: integer(1024, { min: 1 }),
  otel_console_exporter: flag(false),
})

export function readTelemetry(source: Source): TelemetryConfig {
  const { api_key_env, ...rest } = source.section('telemetry', telemetrySchema).values
  return { ...rest, api_key: source.variable(api_key_env) }
}
