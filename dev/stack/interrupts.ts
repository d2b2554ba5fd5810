import { onStopSignal } from '../../src/runtime/stop-signals.ts'

/** As for every process, also when the terminal is closed; the exit code is that of an interrupted command. */
export const onInterrupt = (ask: (signal: NodeJS.Signals) => void): void =>
  onStopSignal(ask, { signals: ['SIGINT', 'SIGTERM', 'SIGHUP'], exitCode: 130 })
