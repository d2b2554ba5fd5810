import { text as readAll } from 'node:stream/consumers'
import { runCheckConfig } from '../config/check.ts'
import { ConfigError, loadConfig } from '../config/load.ts'
import type { Config } from '../config/types.ts'
import { createRefusalCounter } from '../src/access/audit/refusals.ts'
import { startEventHub } from '../src/events/hub.ts'
import { isPriced } from '../src/llm/prices.ts'
import { watchStreams } from '../src/observe/metrics.ts'
import { readRuleIds } from '../src/rules/ids.ts'
import { createAssetReader } from '../src/runtime/assets.ts'
import { type BootedProcess, bootProcess, readAddress, readMetricsAddress, runEntry } from '../src/runtime/boot.ts'
import { keepStoring, readConsoleFiles } from '../src/runtime/console-files.ts'
import { createFetch } from '../src/runtime/fetch.ts'
import { readTextFile } from '../src/runtime/files.ts'
import { type ListenAddress, responseClass, serve } from '../src/runtime/serve.ts'
import { createApp } from './app.ts'

const HELP = `The core: HTTP API and event streams.

  npm run core                     start
  npm run core -- --check-config   print the effective configuration, secrets masked, or all its errors
  npm run core -- --check-token <file> [--json]
                                   say of a token (- for standard input) claim by claim why it is accepted or refused,
                                   and whose it is; the token itself is not printed
  npm run core -- --rules          print the rules that plans are checked against, with the severities in force
  npm run core -- --help           this text

Environment
  PLATFORM_CONFIG   path of the configuration file (default /etc/platform/config.yaml)
  PLATFORM_PORT     port (default 8000; 0 takes a free one)
  PLATFORM_HOST     address to listen on (default 0.0.0.0: all interfaces; without an identity provider 127.0.0.1)
  PLATFORM_METRICS_PORT   port of GET /metrics (unset: none)
  PLATFORM_METRICS_HOST   its address (default 127.0.0.1)
Further variables are named by the configuration file.
`

/** Runs the command line of the core. */
export const start = (): Promise<void> => runEntry(main)

async function main(): Promise<void> {
  const argument = process.argv[2]
  if (argument === '--help' || argument === '-h') return console.log(HELP)
  if (argument === '--check-config')
    process.exit(
      await runCheckConfig(process.env, readTextFile, (text) => void process.stdout.write(text), readRuleIds, isPriced),
    )
  if (argument === '--check-token') process.exit(await runCheckToken(process.argv.slice(3)))
  if (argument === '--rules') return await printRules()
  if (argument !== undefined) throw new ConfigError([`unknown argument ${argument}; see --help`])
  const config = await loadConfig(process.env, readTextFile, readRuleIds, isPriced)
  const names = { port: 'PLATFORM_PORT', host: 'PLATFORM_HOST' }
  // Without an identity provider every caller has all roles, so by default only this machine can connect.
  const host = config.oidc.issuer_url === '' ? '127.0.0.1' : '0.0.0.0'
  const address = readAddress(process.env, names, { port: '8000', host })
  await bootProcess('core', config, readMetricsAddress(process.env), (booted) => openCore(config, address, booted))
}

async function openCore(config: Config, address: ListenAddress, booted: BootedProcess): Promise<void> {
  const { context, log, phases, metricsUrl } = booted
  if (config.oidc.issuer_url === '' && !process.env.PLATFORM_HOST?.trim())
    log.warn(
      'no identity provider is configured, so the core listens on loopback only; ' +
        'set oidc.issuer_url, or name an address with PLATFORM_HOST',
      { address: address.hostname },
    )
  const events = await startEventHub(context.sql, log)
  watchStreams(context.metrics.registry, events)
  const refusals = createRefusalCounter(context)
  const consoleFiles = config.http.console ? await readConsoleFiles() : null
  if (config.http.console && !consoleFiles)
    log.warn('the console was not built, so there is none at /console/; build it with npm run console:build')
  const app = createApp({
    ...context,
    events,
    refusals,
    asset: createAssetReader(),
    Response: responseClass(),
    console: consoleFiles,
  })
  const server = await serve((request, peer) => app.fetch(request, { peer }), address)
  phases.unshift(
    { name: 'event streams', limitMs: 1_000, end: () => events.close() },
    { name: 'requests', limitMs: 6_000, end: () => server.close(5_000) },
    { name: 'counts of refused sign-ins', limitMs: 1_000, end: () => refusals.flush() },
  )
  if (consoleFiles) {
    const end = keepStoring(context.sql, log, consoleFiles)
    phases.unshift({ name: 'files of the console', limitMs: 1_000, end })
  }
  log.info('core ready', {
    address: server.url,
    console: consoleFiles ? `${server.url}/console/` : 'none',
    authentication: config.oidc.issuer_url || 'disabled',
    metrics: metricsUrl,
  })
}

/** Writes what the core makes of the token in a file. Returns the exit code: 0 if it is accepted, otherwise 1. */
async function runCheckToken([path, format, ...more]: string[]): Promise<number> {
  if (path === undefined || more.length > 0 || (format !== undefined && format !== '--json'))
    throw new ConfigError(['use --check-token <file> [--json], with - for standard input'])
  const config = await loadConfig(process.env, readTextFile, readRuleIds, isPriced)
  const token = path === '-' ? await readAll(process.stdin) : await readTextFile(path)
  if (token === null) throw new ConfigError([`there is no file ${path}`])
  const { checkToken, writeTokenReport } = await import('../src/access/check-token.ts')
  const now = new Date()
  const report = await checkToken(token, { config, fetch: createFetch(), now: () => now })
  process.stdout.write(format ? `${JSON.stringify(report, null, 2)}\n` : writeTokenReport(report, now))
  return report.accepted ? 0 : 1
}

async function printRules(): Promise<void> {
  const { listRules } = await import('../src/rules/index.ts')
  process.stdout.write(
    listRules((await loadConfig(process.env, readTextFile, readRuleIds, isPriced)).orchestration.rules),
  )
}
