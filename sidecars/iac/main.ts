import { createLogger } from '../../src/log/logger.ts'
import { readSettings, SettingsError } from './settings.ts'
import { startIacService } from './start.ts'

/** Runs the service until SIGTERM or SIGINT; a second signal ends the process at once. */
export async function main(): Promise<void> {
  const log = createLogger({ fields: { service: 'iac' }, secrets: [process.env.PLATFORM_IAC_TOKEN ?? ''] })
  try {
    const settings = readSettings(process.env)
    const service = await startIacService({ settings, env: process.env, fetch, log })
    let stopping = false
    const stop = () => {
      if (stopping) process.exit(1)
      stopping = true
      log.info('stopping')
      service.stop().then(
        () => process.exit(0),
        (error) => {
          log.error('stop failed', { error })
          process.exit(1)
        },
      )
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  } catch (error) {
    if (error instanceof SettingsError) console.error(error.message)
    else log.error('start failed', { error })
    process.exit(1)
  }
}
