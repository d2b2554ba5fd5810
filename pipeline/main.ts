import { ConfigError, loadConfig } from '../config/load.ts'
import { secretsOf } from '../config/mask.ts'
import type { Config } from '../config/types.ts'
import { createLogger } from '../src/log/logger.ts'
import { notifyRunFailure } from '../src/notifications/notify-run-failure.ts'
import { buildContext } from '../src/runtime/build-context.ts'
import { exitOnFault, type StopPhase, stopOnSignal } from '../src/runtime/process-end.ts'
import { readTextFile } from '../src/runtime/read-text-file.ts'
import { modes } from './modes/index.ts'
import { startWorker } from './worker.ts'
import { configureGit } from './workspace/configure-git.ts'
import { openWorkspace } from './workspace/open.ts'

async function run(config: Config): Promise<void> {
  const log = createLogger({ secrets: secretsOf(config), fields: { process: 'worker' } })
  const phases: StopPhase[] = []
  exitOnFault(log)
  stopOnSignal(log, phases)
  try {
    const { context, close } = await buildContext(config, log, { role: 'worker' })
    phases.push({ name: 'connections', limit_ms: 1_500, end: close })
    await configureGit(config, log)
    const worker = await startWorker(context, modes, {
      openWorkspace: (round, options) => openWorkspace(config, round, { ...options, resolver: context.resolver }),
      notifyFailure: (session, facts) => notifyRunFailure(context, session, facts),
    })
    phases.unshift({ name: 'rounds', limit_ms: 8_000, end: () => worker.stop() })
  } catch (error) {
    log.error(error instanceof Error ? error.message : 'the worker did not start', { error })
    process.exit(1)
  }
}

try {
  await run(await loadConfig(process.env, readTextFile))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  console.error(error.message)
  process.exit(1)
}
