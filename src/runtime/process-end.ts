import type { Logger } from '../base/log.ts'
import { onStopSignal } from './stop-signals.ts'

export interface StopPhase {
  name: string
  limit_ms: number
  end: () => Promise<void>
}

/**
 * On SIGTERM or SIGINT ends the phases one after the other, each within its limit, and exits 0. A
 * further signal exits at once. The list is read when the signal comes: call this before the boot and
 * add to the list what was opened.
 */
export function stopOnSignal(log: Logger, phases: readonly StopPhase[]): void {
  onStopSignal((signal) => {
    log.info('stopping', { signal })
    void endAll(log, phases).then(() => process.exit(0))
  })
}

/** A fault that nobody handled: into the log, masked as everything there, and the end of the process. */
export function exitOnFault(log: Logger): void {
  const fail = (error: unknown) => {
    log.error('unexpected fault, the process ends', { error })
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
}

async function endAll(log: Logger, phases: readonly StopPhase[]): Promise<void> {
  for (const phase of phases) {
    let timer: ReturnType<typeof setTimeout> | undefined
    const limit = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), phase.limit_ms)
    })
    try {
      const outcome = await Promise.race([phase.end(), limit])
      if (outcome === 'late') log.warn(`${phase.name}: not ended within ${phase.limit_ms / 1000} s`)
    } catch (error) {
      log.warn(`${phase.name}: ended with an error`, { error })
    } finally {
      clearTimeout(timer)
    }
  }
  log.info('stopped')
}
