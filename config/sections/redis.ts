import * as v from 'valibot'
import { decimal, integer, nonEmpty, text } from '../fields.ts'
import type { Source } from '../source.ts'
import type { RedisConfig } from '../types.ts'

export const redisSchema = v.object({
  redis_url_env: text('PLATFORM_REDIS_URL'),
  default_url: text('redis://redis:6379/0', nonEmpty),
  max_connections: integer(20, { min: 1 }),
  socket_connect_timeout: decimal(2, { above: 0 }),
  socket_timeout: decimal(2, { above: 0 }),
  pool_timeout: decimal(2, { above: 0 }),
})

export function readRedis(source: Source): RedisConfig {
  const { default_url, ...values } = source.section('redis', redisSchema).values
  return { ...values, url: source.variable(values.redis_url_env) || default_url }
}
