import type { Config } from '../config/types.ts'
import type { MetricsAddress } from '../src/runtime/metrics-server.ts'
import { saveCompileCache, tuneNode } from '../src/runtime/node-tuning.ts'
import type { StopPhase } from '../src/runtime/process-end.ts'

// Only what is imported after this line profits, so everything else is.
tuneNode()
const { ConfigError, loadConfig } = await import('../config/load.ts')
const { secretsOf } = await import('../config/mask.ts')
const { createLogger } = await import('../src/base/log.ts')
const { notifyRunFailure } = await import('../src/notifications/notify.ts')
const { buildContext } = await import('../src/runtime/build-context.ts')
const { createLineWriter } = await import('../src/runtime/files.ts')
const { readMetricsAddress, serveMetrics } = await import('../src/runtime/metrics-server.ts')
const { exitOnFault, stopOnSignal } = await import('../src/runtime/process-end.ts')
const { readTextFile } = await import('../src/runtime/files.ts')
const { modes } = await import('./modes/index.ts')
const { startSweeper } = await import('./sweeper.ts')
const { startWorker } = await import('./worker.ts')
const { configureGit } = await import('./workspace/git/configure.ts')
const { openWorkspace } = await import('./workspace/open.ts')

const HELP = `The worker: takes rounds from the queue and runs them.

  npm run worker              start
  npm run worker -- --help    this text

Needs git on PATH and a disk that the iac sidecar shares (paths.upload_folder).

Environment
  PLATFORM_CONFIG   path of the configuration file (default /etc/platform/config.yaml)
  PLATFORM_METRICS_PORT   port of GET /metrics (unset: none)
  PLATFORM_METRICS_HOST   its address (default 127.0.0.1)
Further variables are named by the configuration file; npm run core -- --check-config shows what it says.
`

async function run(config: Config, metrics_address: MetricsAddress | null): Promise<void> {
  const log = createLogger({ write: createLineWriter(), secrets: secretsOf(config), fields: { process: 'worker' } })
  const phases: StopPhase[] = []
  exitOnFault(log)
  stopOnSignal(log, phases)
  try {
    const { context, close } = await buildContext(config, log, { role: 'worker' })
    const closeAll = async () => void (await Promise.all([context.tracing?.close(1_400), close()]))
    phases.push({ name: 'connections', limit_ms: 1_500, end: closeAll })
    if (metrics_address) {
      const metrics = await serveMetrics(context.metrics.registry, metrics_address)
      phases.unshift({ name: 'metrics', limit_ms: 500, end: () => metrics.close(250) })
      log.info('metrics', { address: metrics.url })
    }
    await Promise.all([configureGit(config, log), context.tracing?.warm()])
    const worker = await startWorker(context, modes, {
      openWorkspace: (round, options) => openWorkspace(config, round, { ...options, resolver: context.resolver }),
      notifyFailure: (session, facts) => notifyRunFailure(context, session, facts),
    })
    const sweeper = startSweeper(context)
    phases.unshift({ name: 'rounds', limit_ms: 8_000, end: () => worker.stop() })
    phases.unshift({ name: 'cleaning', limit_ms: 100, end: async () => sweeper.stop() })
    saveCompileCache()
  } catch (error) {
    log.error(error instanceof Error ? error.message : 'the worker did not start', { error })
    process.exit(1)
  }
}

async function main(): Promise<void> {
  const argument = process.argv[2]
  if (argument === '--help' || argument === '-h') return console.log(HELP)
  if (argument !== undefined) throw new ConfigError([`unknown argument ${argument}; see --help`])
  await run(await loadConfig(process.env, readTextFile), readMetricsAddress(process.env))
}

try {
  await main()
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  console.error(error.message)
  process.exit(1)
}
