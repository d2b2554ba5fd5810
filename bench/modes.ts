import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { RESOURCES } from '../dev/cloud.ts'
import { withTemporaryFolder } from '../dev/files.ts'
import { PROJECT_ROOT } from '../dev/stack/data-folder.ts'
import { findInstalledEngine } from '../sidecars/iac/engine/find.ts'
import { gapsByPlace } from './clock/critical-path.ts'
import { type Figure, percentile, type Section, type Table } from './lib/report.ts'
import { PARTS, type Stretch } from './share/breakdown.ts'
import { type ObservedMode, observeModes } from './share/rounds.ts'

const run = promisify(execFile)
const median = (values: readonly number[]) => percentile(values, 0.5)

/** Aims in seconds: `exhausted` commits and pushes five attempts. */
const AIMS_S: Record<string, number> = { generate: 0.4, exhausted: 1 }
const AIM_S = 0.3

/**
 * Runs every mode of the demo several times, each time on one new stack. The platform's own share of a round is the
 * time from its request to its last status in which neither an engine job nor a model call is open. The baseline of
 * drift, import and apply is the same engine commands without the platform.
 */
export async function benchModes(options: { runs: number }): Promise<Section> {
  const runs = await repeat(options.runs, () => observeModes('all'))
  const played = runs.flat()
  const modes = [...new Set(played.map(({ mode }) => mode))]
  const figures: Figure[] = modes.flatMap((mode) => {
    const of = (pick: (result: ObservedMode) => number) => medianOf(played, mode, pick)
    const share = of((one) => (100 * lengthOf(one.stretches)) / one.wall)
    return [
      { name: `${mode}: neither engine nor model`, value: of(ownSeconds), unit: 's', aim: AIMS_S[mode] ?? AIM_S },
      { name: `${mode}: its share of the whole`, value: share, unit: '%' },
    ]
  })
  for (const mode of ['full-drift', 'full-import', 'apply'] as const) {
    const byHand = median(await repeat(options.runs, () => withHandEngine(BY_HAND[mode])))
    const value = medianOf(played, mode, (result) => result.engine_s) / byHand
    figures.push({ name: `${mode}: engine jobs to the same commands by hand`, value, unit: 'x' })
  }
  return {
    title: `Modes, scripted model (${options.runs} runs, medians)`,
    figures,
    tables: [tableOfParts(played), tableOfPlaces(played)],
    notes: [
      'From the request to the last status; apply holds two rounds. By hand: the commands of the round, with ' +
        'local state.',
      'What an engine job costs beside its command, with its sandbox, counts for the engine: see the part jobs.',
    ],
  }
}

const lengthOf = (stretches: readonly Stretch[]): number => stretches.reduce((sum, { from, to }) => sum + to - from, 0)
const ownSeconds = ({ stretches }: ObservedMode): number => lengthOf(stretches) / 1000

const medianOf = (played: readonly ObservedMode[], mode: string, pick: (result: ObservedMode) => number): number =>
  median(played.filter((result) => result.mode === mode).map(pick))

/** Shows what the own share of each mode consists of, and how much the worker asked for. */
function tableOfParts(played: readonly ObservedMode[]): Table {
  const modes = [...new Set(played.map(({ mode }) => mode))]
  return {
    title: 'Neither engine nor model by what is waited for (ms), and what was asked for in the whole round',
    columns: ['mode', 'in all', ...PARTS, 'processes', 'requests', 'statements'],
    rows: modes.map((mode) => {
      const of = (pick: (result: ObservedMode) => number) => Math.round(medianOf(played, mode, pick))
      return [
        ...[mode, of(({ stretches }) => lengthOf(stretches)), ...PARTS.map((part) => of(({ parts }) => parts[part]))],
        ...(['process', 'request', 'statement'] as const).map((kind) => of(({ counts }) => counts[kind])),
      ]
    }),
  }
}

const MAX_PLACES = 6

/** Shows the places in which most of the own share of each mode lies, as means of the runs. */
function tableOfPlaces(played: readonly ObservedMode[]): Table {
  const rows = [...Map.groupBy(played, ({ mode }) => mode)].flatMap(([mode, runs]) => {
    const gaps = runs.flatMap(({ stretches }) => stretches.map((one) => ({ ...one, ms: one.to - one.from })))
    return gapsByPlace(gaps)
      .slice(0, MAX_PLACES)
      .map(({ after, before, count, ms }): (string | number)[] => [
        ...[mode, after, before, Math.round((10 * count) / runs.length) / 10, Math.round(ms / runs.length)],
      ])
  })
  return {
    title: 'The same by its place: between which steps it lies (ms)',
    columns: ['mode', 'after', 'before', 'times', 'ms'],
    rows,
  }
}

/** Runs the main job several times on a new stack. The baseline is the same engine commands on as large a root. */
export async function benchDemo(options: { runs: number }): Promise<Section> {
  const played = (await repeat(options.runs, () => observeModes('generate'))).flat()
  const of = (pick: (result: ObservedMode) => number) => median(played.map(pick))
  const byHand = await withHandEngine(BY_HAND.generate)
  const engine = of(({ engine_s }) => engine_s)
  return {
    title: `Main job, scripted model (${options.runs} runs, medians)`,
    figures: [
      { name: 'request to reviewed plan', value: of(({ wall }) => wall / 1000), unit: 's' },
      { name: 'neither engine nor model', value: of(ownSeconds), unit: 's', aim: AIMS_S.generate },
      { name: 'engine jobs', value: engine, unit: 's' },
      { name: 'model calls (with the scripted model)', value: of(({ model_s }) => model_s), unit: 's' },
      { name: 'the same engine commands by hand', value: byHand, unit: 's' },
      { name: 'engine jobs to commands by hand', value: engine / byHand, unit: 'x' },
    ],
    tables: [tableOfParts(played), tableOfPlaces(played)],
    notes: ['By hand: init, validate (refused), validate, plan, show, plan, show, with local state.'],
  }
}

async function repeat<T>(runs: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let run = 0; run < runs; run++) results.push(await work())
  return results
}

const init = ['init', '-no-color', '-input=false']
const validate = ['validate', '-no-color']
const plan = ['plan', '-no-color', '-input=false', '-out', 'session.plan']
const show = ['show', '-json', '-no-color', 'session.plan']
const apply = ['apply', '-no-color', '-input=false', '-auto-approve', 'session.plan']
const pull = ['state', 'pull']

/** An engine in its own folder with local state, without the platform. */
type HandEngine = ReturnType<typeof handEngine>

function handEngine(cwd: string, binary: string) {
  const env = { ...process.env, CHECKPOINT_DISABLE: '1' }
  return {
    write: async (files: Record<string, string>): Promise<void> => {
      for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text)
    },
    remove: (file: string) => rm(join(cwd, file)),
    /** Runs commands one after the other and returns their total time in seconds, whether they succeed or not. */
    measure: async (commands: readonly (readonly string[])[]): Promise<number> => {
      const started = performance.now()
      for (const args of commands) await run(binary, [...args], { cwd, maxBuffer: 2 ** 24, env }).catch(() => {})
      return (performance.now() - started) / 1000
    },
  }
}

/** Runs `work` with an engine in a new folder, which is removed at the end. */
const withHandEngine = (work: (engine: HandEngine) => Promise<number>): Promise<number> =>
  withTemporaryFolder(async (cwd) => {
    const binary = process.env.IAC_BINARY || (await findInstalledEngine(process.env.PATH ?? '')) || 'terraform'
    return await work(handEngine(cwd, binary))
  })

async function sample(name: string): Promise<Record<string, string>> {
  const folder = join(PROJECT_ROOT, 'dev/samples', name)
  const files = (await readdir(folder)).filter((file) => file.endsWith('.tf'))
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')])),
  )
}

const BROKEN = 'resource "terraform_data" "broken" {\n  input = local.missing\n}\n'
const block = (name: string) => `resource "terraform_data" "${name}" {\n}\n`

/** The engine commands of each round, in order. Their prerequisites are not measured. */
const BY_HAND = {
  generate: async ({ write, remove, measure: timed }) => {
    const blocks = [1, 2, 3, 4, 5, 6, 7, 8].map(
      (n) => `resource "terraform_data" "r${n}" {\n  input = merge(local.tags, { n = ${n} })\n}\n`,
    )
    await write({ 'main.tf': `locals { tags = { team = "bench" } }\n${blocks.join('')}`, 'broken.tf': BROKEN })
    const refused = await timed([init, validate])
    await remove('broken.tf')
    return refused + (await timed([validate, plan, show, plan, show]))
  },
  'full-drift': async ({ write, measure: timed }) => {
    const files = await sample('network-baseline')
    await write(files)
    await timed([init, plan, apply])
    await write({ 'logging.tf': (files['logging.tf'] ?? '').replace('= 90', '= 30') })
    return timed([init, validate, plan, show, validate, plan, show])
  },
  'full-import': async ({ write, measure: timed }) => {
    // As many resources as the demo imports: the first two of the account are managed, the last five by others.
    const imported = RESOURCES.slice(2, -5)
    await write({ 'imported.tf': 'resource "terraform_data" "refused" {\n  arn = ""\n}\n' })
    const refused = await timed([init, pull, validate])
    await write({ 'imported.tf': imported.map((_, index) => block(`r${index}`)).join('\n') })
    const flags = ['import', '-no-color', '-input=false']
    const imports = imported.map(({ arn }, index) => [...flags, `terraform_data.r${index}`, arn])
    return refused + (await timed([validate, plan, show, ...imports, validate, plan, show]))
  },
  apply: async ({ write, remove, measure: timed }) => {
    await write({ 'main.tf': ['a', 'b', 'c'].map(block).join('\n'), 'broken.tf': BROKEN })
    const refused = await timed([init, validate])
    await remove('broken.tf')
    return refused + (await timed([validate, plan, show, plan, show, apply]))
  },
} satisfies Record<string, (engine: HandEngine) => Promise<number>>
