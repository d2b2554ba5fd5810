import { createLogger } from '../../src/log/logger.ts'
import { onStopSignal } from '../../src/runtime/stop-signals.ts'
import { readSettings, SettingsError } from './settings.ts'
import { startIacService } from './start.ts'

/** Runs the service until SIGTERM or SIGINT; a later signal ends the process at once. */
export async function main(): Promise<void> {
  const log = createLogger({ fields: { service: 'iac' }, secrets: [process.env.PLATFORM_IAC_TOKEN ?? ''] })
  try {
    const settings = readSettings(process.env)
    const service = await startIacService({ settings, env: process.env, fetch, log })
    onStopSignal(() => {
      log.info('stopping')
      service.stop().then(
        () => process.exit(0),
        (error) => {
          log.error('stop failed', { error })
          process.exit(1)
        },
      )
    })
  } catch (error) {
    if (error instanceof SettingsError) console.error(error.message)
    else log.error('start failed', { error })
    process.exit(1)
  }
}
