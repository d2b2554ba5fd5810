import { createLogger } from '../../src/base/log.ts'
import { onStopSignal } from '../../src/runtime/stop-signals.ts'
import { SettingsError } from '../shared/settings-error.ts'
import { readSettings } from './settings.ts'
import { startIacService } from './start.ts'

/**
 * Runs the service until SIGTERM or SIGINT; a later signal ends the process at once. A signal during
 * the start waits for its end: jobs of an earlier run may be under way by then.
 */
export async function main(): Promise<void> {
  const log = createLogger({ fields: { service: 'iac' }, secrets: [process.env.PLATFORM_IAC_TOKEN ?? ''] })
  try {
    const starting = startIacService({ settings: readSettings(process.env), env: process.env, fetch, log })
    onStopSignal(() => {
      log.info('stopping')
      starting
        .then((service) => service.stop())
        .then(
          () => process.exit(0),
          (error) => {
            log.error('stop failed', { error })
            process.exit(1)
          },
        )
    })
    await starting
  } catch (error) {
    if (error instanceof SettingsError) console.error(error.message)
    else log.error('start failed', { error })
    process.exit(1)
  }
}
