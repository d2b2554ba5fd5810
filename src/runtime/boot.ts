import { ConfigError } from '../../config/document.ts'
import { secretsOf } from '../../config/mask.ts'
import type { Config } from '../../config/types.ts'
import { createLogger, type Logger } from '../base/log.ts'
import { metricsHandler } from '../observe/registry.ts'
import { buildContext } from './build-context.ts'
import { createLineWriter } from './files.ts'
import { saveCompileCache } from './node-tuning.ts'
import { exitOnFault, type StopPhase, stopOnSignal } from './process-end.ts'
import { type ListenAddress, serve } from './serve.ts'

type Variables = Record<string, string | undefined>

/**
 * Reads an address from two environment variables.
 * @param names the variables of port and host
 * @param defaults the values of unset variables
 * Throws `ConfigError` when the port is no port number.
 */
export function readAddress(
  env: Variables,
  names: { port: string; host: string },
  defaults: { port: string; host: string },
): ListenAddress {
  const text = env[names.port]?.trim() || defaults.port
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new ConfigError([`${names.port} must be a port number, got '${text}'.`])
  return { port, hostname: env[names.host]?.trim() || defaults.host }
}

/**
 * Reads the address of `GET /metrics`; null when `PLATFORM_METRICS_PORT` is not set. The metrics need no credentials,
 * so only this machine can reach them unless `PLATFORM_METRICS_HOST` names another address. Throws `ConfigError`.
 */
export function readMetricsAddress(env: Variables): ListenAddress | null {
  const port = env.PLATFORM_METRICS_PORT?.trim() ?? ''
  if (port === '') return null
  const names = { port: 'PLATFORM_METRICS_PORT', host: 'PLATFORM_METRICS_HOST' }
  return readAddress(env, names, { port, host: '127.0.0.1' })
}

export interface BootedProcess {
  context: Awaited<ReturnType<typeof buildContext>>['context']
  log: Logger
  /** The shutdown phases, in order. A process adds what it opens before its dependencies. */
  phases: StopPhase[]
  /** The URL of the metrics; undefined when they are not served. */
  metricsUrl: string | undefined
}

/**
 * Boots a core or a worker: its log, stop signals, all clients and the metrics. Then `open` starts the process's own
 * work. An error is logged, and the process ends with exit code 1.
 */
export async function bootProcess(
  role: 'core' | 'worker',
  config: Config,
  metricsAddress: ListenAddress | null,
  open: (booted: BootedProcess) => Promise<void>,
): Promise<void> {
  const log = createLogger({ write: createLineWriter(), secrets: secretsOf(config), fields: { process: role } })
  const phases: StopPhase[] = []
  exitOnFault(log)
  stopOnSignal(log, phases)
  try {
    const { context, close } = await buildContext(config, log, role)
    const closeAll = async () => void (await Promise.all([context.tracing?.close(1_400), close()]))
    phases.push({ name: 'connections', limitMs: 1_500, end: closeAll })
    const metrics = metricsAddress && (await serve(metricsHandler(context.metrics.registry), metricsAddress))
    if (metrics) phases.unshift({ name: 'metrics', limitMs: 500, end: () => metrics.close(250) })
    await open({ context, log, phases, metricsUrl: metrics?.url })
    saveCompileCache()
  } catch (error) {
    log.error(error instanceof Error ? error.message : `the ${role} did not start`, { error })
    process.exit(1)
  }
}

/** Runs the command line of an entry. A `ConfigError` is printed, and the process ends with exit code 1. */
export async function runEntry(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
