import { ConfigError } from '../../config/errors.ts'
import { metricsHandler, type Registry } from '../observe/registry.ts'
import { type Running, serve } from './serve.ts'

export interface MetricsAddress {
  port: number
  hostname: string
}

/**
 * Where `GET /metrics` is offered; null when `PLATFORM_METRICS_PORT` is unset. Only this machine can
 * reach it unless `PLATFORM_METRICS_HOST` says otherwise: it asks for no credentials.
 * Errors: `ConfigError`.
 */
export function readMetricsAddress(env: Record<string, string | undefined>): MetricsAddress | null {
  const text = env.PLATFORM_METRICS_PORT?.trim() ?? ''
  if (text === '') return null
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new ConfigError([`PLATFORM_METRICS_PORT must be a port number, got '${text}'.`])
  return { port, hostname: env.PLATFORM_METRICS_HOST?.trim() || '127.0.0.1' }
}

/** Errors: the port cannot be opened. */
export const serveMetrics = (registry: Registry, address: MetricsAddress): Promise<Running> =>
  serve(metricsHandler(registry), address)
