import { createLogger, type Logger, type LogLevel } from '../../src/base/log.ts'
import { type Running, serve } from '../../src/runtime/serve.ts'
import { onStopSignal } from '../../src/runtime/stop-signals.ts'
import { type Environment, textOf } from './environment.ts'
import { SettingsError } from './settings-error.ts'

interface ServerSettings {
  host: string
  port: number
  token: string
  /** Default `info`. */
  log_level?: LogLevel
}

/** The whole of a sidecar that is one HTTP server. */
export interface Service<Settings extends ServerSettings> {
  name: string
  /** Variables whose values never appear in the log. */
  secrets: readonly string[]
  /** Errors: `SettingsError`. */
  readSettings(env: Environment): Settings
  /** Errors: `SettingsError` for what an operator has to correct. */
  open(
    settings: Settings,
    log: Logger,
  ): Promise<{ fetch: (request: Request) => Response | Promise<Response>; close?(): Promise<void> }>
}

/** Open requests get this long. */
const STOP_LIMIT_MS = 5_000
const LOOPBACK = ['127.0.0.1', '::1', 'localhost']

/**
 * Serves until SIGTERM or SIGINT, answers what is open and ends; a second signal ends the process at
 * once. A wrong setting or a busy port ends it with code 1 and a message.
 */
export async function runService<Settings extends ServerSettings>(service: Service<Settings>): Promise<void> {
  const secrets = service.secrets.map((name) => textOf(process.env, name)).filter((value) => value !== '')
  const logger = (level: LogLevel) => createLogger({ level, fields: { service: service.name }, secrets })
  let log = logger('info')
  try {
    const settings = service.readSettings(process.env)
    log = logger(settings.log_level ?? 'info')
    const opened = await service.open(settings, log)
    const server = await serve(opened.fetch, { hostname: settings.host, port: settings.port })
    if (settings.token === '' && !LOOPBACK.includes(settings.host))
      log.warn('the token is blank: every request from the network is accepted')
    log.info(`${service.name} service ready`, { url: server.url })
    onStopSignal(() => void stop(server, opened.close, log))
  } catch (error) {
    if (error instanceof SettingsError) console.error(error.message)
    else log.error('start failed', { error })
    process.exit(1)
  }
}

async function stop(server: Running, close: (() => Promise<void>) | undefined, log: Logger): Promise<void> {
  log.info('stopping')
  try {
    await server.close(STOP_LIMIT_MS)
    await close?.()
    process.exit(0)
  } catch (error) {
    log.error('stop failed', { error })
    process.exit(1)
  }
}
