import { onStopSignal } from '../../src/runtime/process-end.ts'

/**
 * Handles SIGINT and SIGTERM, and SIGHUP, which comes when the terminal is closed. The exit code is that of an
 * interrupted command.
 */
export const onInterrupt = (ask: (signal: NodeJS.Signals) => void): void =>
  onStopSignal(ask, { signals: ['SIGINT', 'SIGTERM', 'SIGHUP'], exitCode: 130 })
