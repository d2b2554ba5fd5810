import { readVariableFiles } from '../../config/variable-files.ts'
import { createLogger, type LogFields, type Logger, type LogLevel } from '../../src/base/log.ts'
import { readTextFile } from '../../src/runtime/files.ts'
import { onStopSignal } from '../../src/runtime/process-end.ts'
import { serve } from '../../src/runtime/serve.ts'
import { problemResponse } from './http.ts'
import { type Environment, isLoopback, type ServerSettings, SettingsError, textOf } from './settings.ts'

/** `logLevel` is `info` by default. */
type LoggingSettings = ServerSettings & { logLevel?: LogLevel }

export interface OpenService {
  fetch: (request: Request) => Response | Promise<Response>
  /** Additional fields of the log line for readiness. */
  readyFields?: LogFields
  /** Ends the service's own work, and with it the requests that wait for it. */
  close?(): Promise<void>
}

/** The definition of a sidecar, which is one HTTP server. */
export interface Service<Settings extends LoggingSettings> {
  name: string
  /** Variable of the bearer token, the first of the secrets. */
  tokenVariable: string
  /** Other variables whose values never appear in the log. */
  secrets?: readonly string[]
  /** Reads the settings. Errors: `SettingsError`. */
  readSettings(env: Environment): Settings
  /** Opens the service. Errors: `SettingsError` for what an operator has to correct. */
  open(settings: Settings, log: Logger): Promise<OpenService>
}

/** Opens a service and serves it. Errors: those of `open`; the port cannot be opened. */
export async function startService<Settings extends LoggingSettings>(
  service: Service<Settings>,
  settings: Settings,
  log: Logger,
) {
  const { host, port, token } = settings
  const { fetch, readyFields, close = async () => {} } = await service.open(settings, log)
  const isOpen = token === '' && isLoopback(host)
  const server = await serve(isOpen ? refusePages(fetch) : fetch, { hostname: host, port }).catch(
    async (error: unknown) => {
      await close()
      throw error
    },
  )
  if (token === '')
    if (isLoopback(host))
      log.info(`${service.tokenVariable} is blank: every request is accepted, on loopback only`, { host })
    else
      log.warn(
        `${service.tokenVariable} is blank and PLATFORM_HOST names an address that others reach: ` +
          'every request from the network is accepted',
        { host },
      )
  log.info(`${service.name} service ready`, { url: server.url, ...readyFields })
  return {
    /** `http://<host>:<port>` with the actual port. */
    url: server.url,
    /** Accepts no further connections, ends the service's own work and waits five seconds for open requests. */
    stop: async (): Promise<void> => {
      const closed = close()
      await Promise.all([closed, server.close(5_000, closed)])
    },
  }
}

/** Names and addresses of this machine, as `URL.hostname`. */
const OWN_NAME = /^(?:(?:.+\.)?localhost\.?|\d+(?:\.\d+){3}|\[.+\])$/

/**
 * Refuses pages of a browser on this machine, which reach its loopback as its programs do: those whose own name was
 * made to resolve to it, and those that send a form or a simple request from elsewhere.
 */
function refusePages(fetch: OpenService['fetch']): OpenService['fetch'] {
  return (request) => {
    const origin = request.headers.get('origin')
    const asked = [new URL(request.url).hostname, ...(origin === null ? [] : [URL.parse(origin)?.hostname ?? ''])]
    if (asked.every((name) => OWN_NAME.test(name))) return fetch(request)
    return problemResponse(421, 'Without a token only programs of this machine are answered.')
  }
}

/** Serves until SIGTERM or SIGINT; a second signal ends the process at once. Errors end it with code 1. */
export async function runService<Settings extends LoggingSettings>(service: Service<Settings>): Promise<void> {
  const { name, tokenVariable, secrets = [] } = service
  const files = await readVariableFiles(process.env, [tokenVariable, ...secrets], readTextFile)
  const env = { ...process.env, ...Object.fromEntries(files.values) }
  const hidden = [tokenVariable, ...secrets].map((variable) => textOf(env, variable))
  const createServiceLog = (level: LogLevel) => createLogger({ level, fields: { service: name }, secrets: hidden })
  let log = createServiceLog('info')
  try {
    if (files.problems.length > 0) throw new SettingsError(files.problems.join('\n'))
    const settings = service.readSettings(env)
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

/** Stops after the start has completed: an engine that an earlier run left behind may be stopping by then. */
async function stopProcess(starting: ReturnType<typeof startService>, log: Logger): Promise<void> {
  log.info('stopping')
  const running = await starting.catch(() => null)
  // `runService` reports a failed start and ends the process.
  if (running === null) return
  try {
    await running.stop()
    process.exit(0)
  } catch (error) {
    log.error('stop failed', { error })
    process.exit(1)
  }
}
