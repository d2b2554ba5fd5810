import * as v from 'valibot'
import { flag, integer, text } from '../fields.ts'
import type { Source } from '../source.ts'
import type { Config } from '../types.ts'

export const telemetrySchema = v.object({
  // Kept as written: `v1/traces` is appended by concatenation.
  collector_url: text('http://phoenix:6006/'),
  otel_attribute_count_limit: integer(1024, { min: 1 }),
  otel_console_exporter: flag(false),
})

export const readTelemetry = (source: Source): Config['telemetry'] => source.section('telemetry', telemetrySchema).values
