import { createLogger, type LogFields, type Logger, type LogLevel } from '../../src/base/log.ts'
import { onStopSignal } from '../../src/runtime/process-end.ts'
import { serve } from '../../src/runtime/serve.ts'
import { type Environment, SettingsError, textOf } from './settings.ts'

interface ServerSettings {
  host: string
  port: number
  /** Blank accepts every request. */
  token: string
  /** Default `info`. */
  logLevel?: LogLevel
}

/** A service that is open. */
export interface OpenService {
  fetch: (request: Request) => Response | Promise<Response>
  /** Further fields of the log line that says that the service is ready. */
  readyFields?: LogFields
  /** Ends the service's own work, and with it the answers that requests are waiting for. */
  close?(): Promise<void>
}

/** The whole of a sidecar, which is one HTTP server. */
export interface Service<Settings extends ServerSettings> {
  name: string
  /** Variable of the bearer token, the first of the secrets. */
  tokenVariable: string
  /** Further variables whose values never appear in the log. */
  secrets?: readonly string[]
  /** Errors: `SettingsError`. */
  readSettings(env: Environment): Settings
  /** Errors: `SettingsError` for what an operator has to correct. */
  open(settings: Settings, log: Logger): Promise<OpenService>
}

export interface RunningService {
  /** `http://<host>:<port>` with the port that was really opened. */
  url: string
  /**
   * Takes no further connections, ends the service's own work and waits for the open requests, which are cut five
   * seconds after that work has ended.
   */
  stop(): Promise<void>
}

/** Open requests get this long after the service's own work has ended. */
const STOP_LIMIT_MS = 5_000
const LOOPBACK = ['127.0.0.1', '::1', 'localhost']

/** Opens a service and serves it. Errors: those of `open`; the port cannot be opened. */
export async function startService<Settings extends ServerSettings>(
  service: Service<Settings>,
  settings: Settings,
  log: Logger,
): Promise<RunningService> {
  const { host, port, token } = settings
  const { fetch, readyFields, close = async () => {} } = await service.open(settings, log)
  const server = await serve(fetch, { hostname: host, port }).catch(async (error: unknown) => {
    await close()
    throw error
  })
  if (token === '' && !LOOPBACK.includes(host))
    log.warn(`${service.tokenVariable} is blank: every request from the network is accepted`)
  log.info(`${service.name} service ready`, { url: server.url, ...readyFields })
  return {
    url: server.url,
    stop: async () => {
      const closed = close()
      await Promise.all([closed, server.close(STOP_LIMIT_MS, closed)])
    },
  }
}

/**
 * The process of a sidecar: serves until SIGTERM or SIGINT, answers what is open and ends; a second signal ends the
 * process at once. A wrong setting or a busy port ends it with code 1 and a message.
 */
export async function runService<Settings extends ServerSettings>(service: Service<Settings>): Promise<void> {
  const { name, tokenVariable, secrets = [] } = service
  const hidden = [tokenVariable, ...secrets].map((variable) => textOf(process.env, variable))
  const createServiceLog = (level: LogLevel) => createLogger({ level, fields: { service: name }, secrets: hidden })
  let log = createServiceLog('info')
  try {
    const settings = service.readSettings(process.env)
    log = createServiceLog(settings.logLevel ?? 'info')
    const starting = startService(service, settings, log)
    onStopSignal(() => void stopProcess(starting, log))
    await starting
  } catch (error) {
    if (error instanceof SettingsError) console.error(error.message)
    else log.error('start failed', { error })
    process.exit(1)
  }
}

/** A signal during the start waits for its end: an engine that an earlier run left behind may be stopping by then. */
async function stopProcess(starting: Promise<RunningService>, log: Logger): Promise<void> {
  log.info('stopping')
  const running = await starting.catch(() => null)
  // A start that failed is reported by `runService`, which ends the process too.
  if (running === null) return
  try {
    await running.stop()
    process.exit(0)
  } catch (error) {
    log.error('stop failed', { error })
    process.exit(1)
  }
}
