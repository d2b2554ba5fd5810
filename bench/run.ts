import { FLAG, parseOptions, runCommand, TEXT, UsageError } from '../dev/command.ts'
import { addEngineForStack } from '../dev/engine/provide.ts'
import { PROJECT_ROOT } from '../dev/stack/data-folder.ts'
import { benchClock } from './clock.ts'
import { benchConsole } from './console.ts'
import { benchEnqueue } from './enqueue.ts'
import { benchGrowthPlans } from './growth/plans.ts'
import { benchGrowthRepositories } from './growth/repositories.ts'
import { benchQueuedRounds } from './growth/rounds.ts'
import { benchGrowthSessions } from './growth/sessions.ts'
import { benchGrowthStreams } from './growth/streams.ts'
import { benchWaitingRounds } from './growth/waiting-rounds.ts'
import { benchHostile } from './hostile.ts'
import { benchJobs } from './jobs.ts'
import { formatSection, type Section, writeResults } from './lib/report.ts'
import { benchDemo, benchModes } from './modes.ts'
import { benchPlanDocument } from './plan-document.ts'
import { benchProviders } from './providers.ts'
import { benchRequests } from './requests.ts'
import { benchSandbox } from './sandbox.ts'
import { benchStack } from './stack.ts'
import { benchStreams, benchWatchers } from './streams.ts'

const partsOf = (quick: boolean): Record<string, () => Promise<Section>> => ({
  enqueue: () => benchEnqueue({ rounds: quick ? 30 : 200 }),
  stack: () => benchStack(),
  demo: () => benchDemo({ runs: quick ? 1 : 5 }),
  modes: () => benchModes({ runs: quick ? 1 : 3 }),
  clock: () => benchClock({ quick }),
  'growth-sessions': () => benchGrowthSessions({ sizes: quick ? [1_000] : [10_000, 100_000], runs: quick ? 10 : 100 }),
  'growth-sessions-1000000': () =>
    benchGrowthSessions({ sizes: quick ? [1_000, 10_000] : [10_000, 100_000, 1_000_000], runs: quick ? 10 : 100 }),
  'growth-repositories': () =>
    benchGrowthRepositories({
      sizes: quick ? [100] : [100, 10_000],
      history_mb: quick ? 16 : 128,
      runs: quick ? 1 : 5,
    }),
  'growth-repositories-100000': () =>
    benchGrowthRepositories({ sizes: [100, 10_000, quick ? 1_000 : 100_000], history_mb: quick ? 16 : 1_000, runs: 3 }),
  'growth-plans': () => benchGrowthPlans({ sizes: quick ? [10, 100] : [10, 1_000, 10_000], runs: quick ? 1 : 5 }),
  'growth-streams': () =>
    benchGrowthStreams({ sizes: quick ? [100, 500] : [1_000, 5_000], changes: quick ? 100 : 500 }),
  'growth-streams-10000': () => benchGrowthStreams({ sizes: [1_000, 5_000, 10_000], changes: 500 }),
  'growth-waiting-rounds': () =>
    benchWaitingRounds({ sizes: quick ? [1, 5] : [1, 10, 25, 50], first_token_ms: quick ? 500 : 5_000 }),
  'growth-rounds': () =>
    benchQueuedRounds({ rounds: quick ? 60 : 200, workers: [1, 2, 4], concurrency: quick ? 5 : 25 }),
  'growth-rounds-1000': () => benchQueuedRounds({ rounds: 1_000, workers: [1, 2, 4], concurrency: 50 }),
  jobs: () => benchJobs({ cycles: quick ? 2 : 25, large: quick ? 1 : 7 }),
  providers: () => benchProviders({ megabytes: quick ? 20 : 700 }),
  sandbox: () => benchSandbox({ runs: quick ? 10 : 60 }),
  requests: () => benchRequests({ turns: quick ? 1 : 9, share: quick ? 0.1 : 1 }),
  streams: () => benchStreams({ streams: quick ? 200 : 2_000, idle_s: quick ? 3 : 10 }),
  watchers: () => benchWatchers({ watchers: quick ? 100 : 1_000, events: quick ? 20 : 200 }),
  hostile: () => benchHostile({ runs: quick ? 1 : 3 }),
  'plan-document': () => benchPlanDocument({ size: quick ? 1_000 : 10_000, runs: quick ? 1 : 5 }),
  console: () => benchConsole({ size: quick ? 1_000 : 10_000, seconds: quick ? 1 : 5 }),
})
/** Parts that run only if the command line names them. */
const ON_DEMAND = [
  'growth-sessions-1000000',
  'growth-repositories-100000',
  'growth-rounds-1000',
  'growth-streams-10000',
]

const HELP = `npm run bench [-- options]

Measures what is ours, prints a table and writes bench/results/<time>.json.

  --only <names>   comma-separated: ${Object.keys(partsOf(false)).join(', ')}
  --quick          smaller numbers, to see that everything still runs
  --help
`

const run = async (args: string[]) => {
  const { values } = parseOptions(args, { only: TEXT, quick: FLAG })
  if (values.help) return null
  const parts = partsOf(values.quick ?? false)
  const names = values.only?.split(',') ?? Object.keys(parts).filter((name) => !ON_DEMAND.includes(name))
  const unknown = names.filter((name) => !(name in parts))
  if (unknown.length > 0) throw new UsageError(`There is no ${unknown.join(', ')}.`)
  await addEngineForStack()
  const sections: Section[] = []
  for (const name of names) {
    const section = await parts[name]?.()
    if (!section) continue
    console.log(formatSection(section))
    sections.push(section)
  }
  const path = await writeResults(sections, `${PROJECT_ROOT}bench/results`)
  console.log(`written: ${path.slice(PROJECT_ROOT.length)}`)
  return 0
}

process.exit(await runCommand('npm run bench', HELP, run))
