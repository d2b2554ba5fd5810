import type { Config } from '../config/types.ts'
import { saveCompileCache, tuneNode } from '../src/runtime/node-tuning.ts'
import type { StopPhase } from '../src/runtime/process-end.ts'

// Only what is imported after this line profits, so everything else is.
tuneNode()
const { runCheckConfig } = await import('../config/check.ts')
const { ConfigError, loadConfig } = await import('../config/load.ts')
const { secretsOf } = await import('../config/mask.ts')
const { startStatusHub } = await import('../src/sessions/events/hub.ts')
const { createLogger } = await import('../src/base/log.ts')
const { watchStreams } = await import('../src/observe/gauges.ts')
const { createAssetReader } = await import('../src/runtime/assets.ts')
const { buildContext } = await import('../src/runtime/build-context.ts')
const { createLineWriter } = await import('../src/runtime/files.ts')
const { readMetricsAddress, serveMetrics } = await import('../src/runtime/metrics-server.ts')
const { exitOnFault, stopOnSignal } = await import('../src/runtime/process-end.ts')
const { readTextFile } = await import('../src/runtime/files.ts')
const { serve } = await import('../src/runtime/serve.ts')
const { createApp } = await import('./app.ts')

const HELP = `The core: HTTP API and event streams.

  npm run core                     start
  npm run core -- --check-config   print the effective configuration, secrets masked, or all its errors
  npm run core -- --rules          print the rules that plans are checked against, with the severities in force
  npm run core -- --help           this text

Environment
  PLATFORM_CONFIG   path of the configuration file (default /etc/platform/config.yaml)
  PLATFORM_PORT     port (default 8000; 0 takes a free one)
  PLATFORM_HOST     address to listen on (default 0.0.0.0: all interfaces)
  PLATFORM_METRICS_PORT   port of GET /metrics (unset: none)
  PLATFORM_METRICS_HOST   its address (default 127.0.0.1)
Further variables are named by the configuration file.
`

interface Address {
  port: number
  hostname: string
}

function readAddress(env: Record<string, string | undefined>): Address {
  const text = env.PLATFORM_PORT?.trim() || '8000'
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new ConfigError([`PLATFORM_PORT must be a port number, got '${text}'.`])
  return { port, hostname: env.PLATFORM_HOST?.trim() || '0.0.0.0' }
}

async function run(config: Config, address: Address, metrics_address: Address | null): Promise<void> {
  const log = createLogger({ write: createLineWriter(), secrets: secretsOf(config), fields: { process: 'core' } })
  const phases: StopPhase[] = []
  exitOnFault(log)
  stopOnSignal(log, phases)
  try {
    const { context, close } = await buildContext(config, log, { role: 'core' })
    const closeAll = async () => void (await Promise.all([context.tracing?.close(1_400), close()]))
    phases.push({ name: 'connections', limit_ms: 1_500, end: closeAll })
    const events = await startStatusHub(context.sql, log)
    const { registry } = context.metrics
    watchStreams(registry, events)
    const metrics = metrics_address && (await serveMetrics(registry, metrics_address))
    const app = createApp({ ...context, events, asset: createAssetReader() })
    const server = await serve((request) => app.fetch(request), address)
    phases.unshift(
      { name: 'event streams', limit_ms: 1_000, end: () => events.close() },
      { name: 'requests', limit_ms: 6_000, end: () => server.close(5_000) },
      { name: 'metrics', limit_ms: 500, end: async () => metrics?.close(250) },
    )
    saveCompileCache()
    log.info('core ready', {
      address: server.url,
      authentication: config.oidc.issuer_url || 'disabled',
      metrics: metrics?.url,
    })
  } catch (error) {
    log.error(error instanceof Error ? error.message : 'the core did not start', { error })
    process.exit(1)
  }
}

async function printRules(): Promise<void> {
  const { listRules } = await import('../src/rules/list.ts')
  process.stdout.write(listRules((await loadConfig(process.env, readTextFile)).orchestration.rules))
}

async function main(): Promise<void> {
  const argument = process.argv[2]
  if (argument === '--help' || argument === '-h') return console.log(HELP)
  if (argument === '--check-config')
    process.exit(await runCheckConfig(process.env, readTextFile, (text) => void process.stdout.write(text)))
  if (argument === '--rules') return await printRules()
  if (argument !== undefined) throw new ConfigError([`unknown argument ${argument}; see --help`])
  await run(await loadConfig(process.env, readTextFile), readAddress(process.env), readMetricsAddress(process.env))
}

try {
  await main()
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  console.error(error.message)
  process.exit(1)
}
