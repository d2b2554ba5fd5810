import { execFile } from 'node:child_process'
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startBundled } from '../contracts/conformance/bundled.ts'
import { withTemporaryFolder, writeAtomically } from '../dev/files.ts'
import { startObjectStore } from '../dev/object-store.ts'
import { findEngine } from '../sidecars/iac/engine/find.ts'
import { silentLogger } from '../src/base/log.ts'
import { createIacClient } from '../src/services/iac/client.ts'
import type { EngineResult } from '../src/services/iac/contract.ts'
import { percentile, type Section, type Table, timed } from './lib/report.ts'

const AIM_MS = 40
const AIM_RATIO = 1.15
const TOKEN = 'token-of-the-bench'
const KEYS = { access_key: 'bench', secret_key: 'secret-of-the-bench' }
const BUCKET = 'bench-state'
const PLAN = 'bench.plan'
const SCOPE = { scope_id: 'bench', engine_provider: 'aws' as const }
/** Resources of the small root, and of one whose plan takes about two seconds. */
const [SMALL, LARGE] = [8, 1500]

/** One step on a root: the job, and the engine commands that it stands for. */
interface Step {
  name: string
  job: (root: string) => Promise<EngineResult | null>
  commands: readonly (readonly string[])[]
}

/**
 * Runs every engine command as a job of the iac sidecar over HTTP and by hand, in turns, on two equal roots whose states
 * lie in the same store.
 */
export const benchJobs = (options: { cycles: number; large: number }): Promise<Section> =>
  withTemporaryFolder(async (temporary) => {
    const folder = await realpath(temporary)
    const binary = await findEngine({
      binary: process.env.IAC_BINARY ?? '',
      path: process.env.PATH ?? '',
      download: null,
    })
    await writeAtomically(join(folder, 'objects', BUCKET, 'bucket.json'), '{}')
    const store = await startObjectStore({ ...KEYS, data_dir: join(folder, 'objects') })
    const service = await startBundled('iac', {
      PLATFORM_IAC_TOKEN: TOKEN,
      IAC_DATA_DIR: join(folder, 'data'),
      IAC_WORKSPACE_ROOT: folder,
      IAC_BINARY: binary,
      IAC_EGRESS_ALLOW: new URL(store.url).host,
    }).catch(async (error) => {
      await store.close()
      throw error
    })
    try {
      const steps = createSteps(service.url)
      const root = (name: string, size: number) => createRoot({ folder: join(folder, name), size, store: store.url })
      const common = { byHand: await createByHand(binary, folder), sidecar: service.pid ?? 0 }
      const compareAt = async (name: string, size: number, cycles: number, list: readonly Step[]) => {
        const roots = [await root(`${name}-job`, size), await root(`${name}-hand`, size)] as const
        return compare({ ...common, roots, cycles }, list)
      }
      const small = await compareAt('small', SMALL, options.cycles, steps.every)
      const large = await compareAt('large', LARGE, options.large, steps.round)
      return report(small, large, options)
    } finally {
      await service.close()
      await store.close()
    }
  })

/** Times in ms of one way to run a step. */
interface Times {
  wall: number[]
  /** Processor time of the engine and of everything around it, of all runs together; NaN if not on Linux. */
  processor: number
}
type Way = 'job' | 'hand'
/** The times of a step, by its name. */
type Samples = Map<string, Record<Way, Times>>

function report(small: Samples, large: Samples, { cycles, large: repeats }: { cycles: number; large: number }) {
  const median = ({ wall }: Times) => percentile(wall, 0.5)
  const added = ({ job, hand }: Record<Way, Times>) =>
    percentile(
      job.wall.map((ms, index) => ms - (hand.wall[index] ?? 0)),
      0.5,
    )
  const rows = (samples: Samples): Table['rows'] =>
    [...samples].map(([name, times]) => {
      const { job, hand } = times
      const processor = [hand, job].map((way) => Math.round(way.processor / way.wall.length))
      const wall = [median(hand), median(job), added(times)].map(Math.round)
      return [name, ...wall, (median(job) / median(hand)).toFixed(2), ...processor]
    })
  const planned = large.get('plan')
  const columns = ['job', 'by hand', 'as a job', 'added', 'ratio', 'processor by hand', 'processor as a job']
  const all = [...small.values()].map(added)
  const section: Section = {
    title: `Engine jobs (${cycles} and ${repeats} runs, medians)`,
    figures: [
      { name: 'added to a command, median of the kinds', value: percentile(all, 0.5), unit: 'ms', aim: AIM_MS },
      { name: 'added to a command, largest of the kinds', value: Math.max(...all), unit: 'ms', aim: AIM_MS },
      {
        name: 'a plan of about two seconds, as a job to by hand',
        value: planned ? median(planned.job) / median(planned.hand) : Number.NaN,
        unit: 'x',
        aim: AIM_RATIO,
      },
    ],
    tables: [
      { title: `A root of ${SMALL} resources (ms)`, columns, rows: rows(small) },
      { title: `A root of ${LARGE} resources (ms)`, columns, rows: rows(large) },
    ],
    notes: [
      'Added: the median of the differences between a job and the command beside it.',
      'Processor: mean time of the engine, and of sidecar and sandbox, in all processes. It hardly depends on what else ' +
        'the machine does.',
    ],
  }
  return section
}

interface Comparison {
  roots: readonly [job: string, hand: string]
  cycles: number
  byHand: ByHand
  /** Process id of the sidecar. */
  sidecar: number
}

async function compare({ roots, cycles, byHand, sidecar }: Comparison, steps: readonly Step[]): Promise<Samples> {
  const none = (): Times => ({ wall: [], processor: 0 })
  const samples: Samples = new Map(steps.map(({ name }) => [name, { job: none(), hand: none() }]))
  const [ofJob, ofHand] = roots
  // The first cycle prepares both roots.
  for (let cycle = 0; cycle <= cycles; cycle++) {
    await Promise.all(roots.map((root) => writeFile(join(root, 'bench.tf'), `locals {\n  run = ${cycle}\n}\n`)))
    for (const step of steps) {
      const take = async (way: Way, work: () => Promise<void>, processor: () => Promise<number>) => {
        const before = await processor()
        const wall = await timed(work)
        const times = samples.get(step.name)?.[way]
        if (cycle === 0 || times === undefined) return
        times.wall.push(wall)
        times.processor += (await processor()) - before
      }
      const turns = [
        () =>
          take(
            'job',
            () => runJob(step, ofJob),
            () => processorOf(sidecar, 'all'),
          ),
        () =>
          take(
            'hand',
            () => byHand(step.commands, ofHand),
            () => processorOf(process.pid, 'children'),
          ),
      ]
      for (const turn of cycle % 2 === 0 ? turns : turns.reverse()) await turn()
    }
  }
  return samples
}

const TICK_MS = 10

/** Reads the processor time in ms of a process and its ended children, or of these alone; NaN if not on Linux. */
async function processorOf(pid: number, what: 'all' | 'children'): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(what === 'all' ? 11 : 13, 15).map(Number)
  return ticks.length === 0 ? Number.NaN : ticks.reduce((sum, each) => sum + each, 0) * TICK_MS
}

async function runJob({ name, job }: Step, root: string): Promise<void> {
  const result = await job(root)
  if (result?.exit_code !== 0) throw new Error(`the job ${name} failed: ${result?.stderr ?? 'no result'}`)
}

type ByHand = (commands: readonly (readonly string[])[], cwd: string) => Promise<void>

/** Creates the function that runs commands by hand, one after the other. */
async function createByHand(binary: string, folder: string): Promise<ByHand> {
  const home = join(folder, 'home')
  await mkdir(home)
  const { TF_CLI_CONFIG_FILE: _left, ...inherited } = process.env
  const env = { ...inherited, HOME: home, CHECKPOINT_DISABLE: '1', TF_IN_AUTOMATION: '1' }
  return async (commands, cwd) => {
    for (const args of commands) await promisify(execFile)(binary, [...args], { cwd, maxBuffer: 2 ** 28, env })
  }
}

async function createRoot({ folder, size, store }: { folder: string; size: number; store: string }): Promise<string> {
  await mkdir(folder, { mode: 0o700 })
  const blocks = Array.from({ length: size }, (_, index) => {
    const value = `{ name = "r${index}", tags = merge(local.tags, { n = ${index} }) }`
    return `resource "terraform_data" "r${index}" {\n  input = ${value}\n}\n`
  })
  const files = {
    'main.tf': `locals {\n  tags = { team = "bench" }\n}\n${blocks.join('')}`,
    'changing.tf':
      'resource "terraform_data" "changing" {\n  input = local.run\n}\nresource "terraform_data" "taken" {}\n',
    'backend_override.tf': backend(store, folder),
    '.platform-workspace': '',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

/** The backend block that the worker writes for a store of its own. */
const backend = (store: string, folder: string): string => {
  const skipped = [
    'skip_credentials_validation',
    'skip_region_validation',
    'skip_requesting_account_id',
    'skip_metadata_api_check',
    'skip_s3_checksum',
  ]
  const settings = {
    bucket: JSON.stringify(BUCKET),
    key: JSON.stringify(`${folder.split('/').at(-1)}/terraform.tfstate`),
    region: '"us-east-1"',
    access_key: JSON.stringify(KEYS.access_key),
    secret_key: JSON.stringify(KEYS.secret_key),
    endpoints: `{ s3 = ${JSON.stringify(store)} }`,
    use_path_style: 'true',
    use_lockfile: 'true',
    ...Object.fromEntries(skipped.map((name) => [name, 'true'])),
  }
  const lines = Object.entries(settings).map(([name, value]) => `    ${name} = ${value}\n`)
  return `terraform {\n  backend "s3" {\n${lines.join('')}  }\n}\n`
}

/** Creates the steps of a cycle, in an order in which each finds what it needs: all kinds, and those of a round. */
function createSteps(endpoint: string) {
  const config = { endpoint, token: TOKEN, token_env: '', timeout: 30, job_poll_interval: 5, job_timeout: 600 }
  const iac = createIacClient(config, { fetch, log: silentLogger })
  const at = (workspace_path: string) => ({ workspace_path })
  const optional = async (answer: Promise<unknown> | undefined): Promise<EngineResult> => ({
    exit_code: (await answer) ? 0 : 1,
    stdout: '',
    stderr: '',
  })
  const quiet = ['-no-color', '-input=false']
  const taken = { address: 'terraform_data.taken', resource_id: 'bench' }
  const steps = {
    init: {
      job: (root) => iac.run('init', { ...at(root), ...SCOPE }),
      commands: [['init', ...quiet, '-reconfigure']],
    },
    validate: { job: (root) => iac.run('validate', at(root)), commands: [['validate', '-no-color']] },
    diagnostics: {
      job: (root) => optional(iac.diagnostics(at(root))),
      commands: [['validate', '-json', '-no-color']],
    },
    plan: {
      job: (root) => iac.run('plan', { ...at(root), ...SCOPE, plan_file: PLAN, targets: [] }),
      commands: [['plan', ...quiet, '-out', PLAN]],
    },
    show: {
      job: (root) => iac.run('show', { ...at(root), plan_file: PLAN }),
      commands: [['show', '-json', '-no-color', PLAN]],
    },
    apply: {
      job: (root) => iac.run('apply', { ...at(root), ...SCOPE, plan_file: PLAN }),
      commands: [['apply', ...quiet, '-auto-approve', PLAN]],
    },
    'state-resource-ids': { job: (root) => iac.run('state_resource_ids', at(root)), commands: [['state', 'pull']] },
    'state-summary': {
      job: (root) => iac.run('state_summary', { ...at(root), ...SCOPE }),
      commands: [
        ['state', 'pull'],
        ['workspace', 'list'],
      ],
    },
    'state-rm': {
      job: (root) => iac.run('state_rm', { ...at(root), ...SCOPE, address: taken.address }),
      commands: [
        ['state', 'list', '-no-color', taken.address],
        ['state', 'rm', '-no-color', taken.address],
      ],
    },
    import: {
      job: (root) => iac.run('import', { ...at(root), ...SCOPE, ...taken }),
      commands: [['import', ...quiet, taken.address, taken.resource_id]],
    },
    schema: {
      job: (root) => optional(iac.schema({ ...at(root), resource_types: ['terraform_data'] })),
      commands: [['providers', 'schema', '-json']],
    },
    fmt: {
      job: (root) => optional(iac.fmt?.(root, [{ form: 'tf', text: 'locals {\n a = 1\n}\n' }])),
      commands: [['fmt', '-no-color', '-list=false', 'bench.tf']],
    },
  } satisfies Record<string, Omit<Step, 'name'>>
  const every = Object.entries(steps).map(([name, step]) => ({ name, ...step }))
  const ofRound = ['init', 'validate', 'plan', 'show']
  return { every, round: every.filter(({ name }) => ofRound.includes(name)) }
}
