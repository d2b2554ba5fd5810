import { withTimeLimit } from '../../../src/base/time.ts'
import { CHECKS, type Subject, stopsWithOpenStream } from './checks.ts'
import { startCore } from './core-process.ts'
import { installRuntimes, type Runtime } from './install.ts'
import {
  connectionsArePinned,
  edwardsTokensAreVerified,
  frozenWorkersKeepLeases,
  modelsStream,
  vendorsGiveTokens,
} from './script-checks.ts'
import { SIDECARS } from './sidecars.ts'
import { type Stores, startStores } from './stores.ts'

type Outcome = 'passed' | 'FAILED'
/** Outcomes by name of the check, in the order of the checks. */
type Column = Map<string, Outcome>

const LIMIT_MS = 120_000

const inTime = (work: Promise<void>): Promise<void> =>
  withTimeLimit(LIMIT_MS, work, () => new Error(`no outcome within ${LIMIT_MS / 1000} s`))

/** Runs the checks against a core on this runtime. A failed one does not stop the others. */
async function checkRuntime(runtime: Runtime, stores: Stores): Promise<Column> {
  const column: Column = new Map()
  const attempt = async (name: string, work: () => Promise<void>) => {
    try {
      await inTime(work())
      column.set(name, 'passed')
    } catch (error) {
      column.set(name, 'FAILED')
      console.log(`${runtime.name}: ${name}\n    ${error instanceof Error ? error.message : error}`)
    }
  }
  await attempt('starts', async () => {
    const core = await startCore(runtime, stores.env)
    console.log(`${runtime.name} ${runtime.version}: ready after ${Math.round(core.ready_ms)} ms`)
    const subject: Subject = { url: core.url, sql: stores.sql }
    try {
      for (const [name, run] of CHECKS) await attempt(name, () => run(subject))
      await attempt('SIGTERM ends streams and process', () => stopsWithOpenStream(subject, core.stop))
    } finally {
      core.kill()
    }
  })
  await attempt('starts with a redis:// cache', async () => {
    const core = await startCore(runtime, { ...stores.env, PLATFORM_REDIS_URL: stores.redis_url })
    const ready = await fetch(`${core.url}/readyz`)
    const code = await core.stop()
    if (ready.status !== 200 || code !== 0) throw new Error(`/readyz answered ${ready.status}, exit code ${code}`)
  })
  for (const [name, run] of SIDECARS) await attempt(name, () => run(runtime))
  await attempt('tokens signed with Ed25519 are verified', () => edwardsTokensAreVerified(runtime))
  await attempt('git requests connect to the checked addresses only', () => connectionsArePinned(runtime))
  await attempt('a worker whose event loop is blocked keeps its leases', () => frozenWorkersKeepLeases(runtime, stores))
  await attempt('answers of models are streamed', () => modelsStream(runtime))
  await attempt("the vendors' libraries get tokens of Azure and GCP", () => vendorsGiveTokens(runtime))
  return column
}

function print(columns: [Runtime, Column][]): number {
  const names = [...new Set(columns.flatMap(([, column]) => [...column.keys()]))]
  const width = Math.max(...names.map((name) => name.length))
  console.log(`\n${''.padEnd(width)}  ${columns.map(([{ name }]) => name.padEnd(8)).join('')}`)
  for (const name of names)
    console.log(
      `${name.padEnd(width)}  ${columns.map(([, column]) => (column.get(name) ?? 'not run').padEnd(8)).join('')}`,
    )
  const outcomes = columns.flatMap(([, column]) => names.map((name) => column.get(name)))
  const passed = outcomes.filter((outcome) => outcome === 'passed').length
  console.log(`\n${passed} passed, ${outcomes.length - passed} failed`)
  return outcomes.length - passed
}

const runtimes = await installRuntimes()
const stores = await startStores()
let failed = 1
try {
  const columns: [Runtime, Column][] = []
  for (const runtime of runtimes) columns.push([runtime, await checkRuntime(runtime, stores)])
  failed = print(columns)
} finally {
  await stores.close()
}
process.exit(failed === 0 ? 0 : 1)
