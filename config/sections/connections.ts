import * as v from 'valibot'
import { readDatabaseAddress } from '../database-address.ts'
import { decimal, flag, integer, nonEmpty, text } from '../fields.ts'
import type { Source } from '../source.ts'

export type RedisConfig = ReturnType<typeof readRedis>

export const databaseSchema = v.object({
  platform_database_url_env: text('PLATFORM_SQL_DATABASE_URL'),
  platform_direct_url_env: text('PLATFORM_SQL_DIRECT_URL'),
})

export function readDatabase(source: Source) {
  const { values, failed } = source.section('database', databaseSchema)
  const read = (variable: string) => {
    const url = source.variable(variable)
    try {
      if (url !== '') readDatabaseAddress(url)
    } catch (error) {
      source.problem(`${variable}: ${error instanceof Error ? error.message : 'the database URL is not valid'}`)
    }
    return url
  }
  const url = read(values.platform_database_url_env)
  if (url === '' && failed.size === 0) source.problem('Missing env variable for platform database')
  return {
    ...values,
    url,
    /** Address of the same database without a pooler between; empty when `url` serves for everything. */
    direct_url: read(values.platform_direct_url_env),
  }
}

export const redisSchema = v.object({
  redis_url_env: text('PLATFORM_REDIS_URL'),
  default_url: text('redis://redis:6379/0', nonEmpty),
  max_connections: integer(20, { min: 1 }),
  socket_connect_timeout: decimal(2, { above: 0 }),
  socket_timeout: decimal(2, { above: 0 }),
  pool_timeout: decimal(2, { above: 0 }),
})

export function readRedis(source: Source) {
  const { default_url, ...values } = source.section('redis', redisSchema).values
  return { ...values, url: source.variable(values.redis_url_env) || default_url }
}

/** The address of the collector in the compose deployment. */
export const DEFAULT_COLLECTOR_URL = 'http://phoenix:6006/'

export const telemetrySchema = v.object({
  /**
   * Base URL of the span collector, which is also the prompt registry. If empty, there is neither, and the built-in
   * prompts are used. The text is kept as written, because `v1/traces` is appended to it directly.
   */
  collector_url: text(DEFAULT_COLLECTOR_URL, {
    test: (value) => value === '' || /^https?:\/\/\S+$/i.test(value),
    text: 'must be an http:// or https:// URL, or empty for neither collector nor prompt registry',
  }),
  api_key_env: text('PLATFORM_COLLECTOR_API_KEY'),
  otel_attribute_count_limit: integer(1024, { min: 1 }),
  otel_console_exporter: flag(false),
})

export function readTelemetry(source: Source) {
  const { api_key_env, ...rest } = source.section('telemetry', telemetrySchema).values
  return { ...rest, api_key: source.variable(api_key_env) }
}
