import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { RESOURCES } from '../dev/cloud/account.ts'
import type { AllResult, DemoResult } from '../dev/demo/result.ts'
import { COMMANDS, type HandEngine, withHandEngine } from './lib/engine.ts'
import { projectRoot } from './lib/process.ts'
import type { Figure, Section } from './lib/report.ts'
import { percentile } from './lib/statistics.ts'

const run = promisify(execFile)
const median = (values: readonly number[]) => percentile(values, 0.5)

/**
 * Aims in seconds. They are higher for `apply`, which has two rounds, and for `exhausted`, which commits and pushes
 * five attempts.
 */
const AIMS_S: Record<string, number> = { apply: 3, exhausted: 3 }

/**
 * Runs every mode of the demo several times on one stack. The time that is neither engine nor model is the platform's.
 * For drift, import and apply the same engine commands are run by hand for comparison.
 */
export async function benchModes(options: { runs: number }): Promise<Section> {
  const played: DemoResult[] = []
  for (let index = 0; index < options.runs; index++) played.push(...(await playAll()).results)
  const modes = [...new Set(played.map(({ mode }) => mode))]
  const of = (mode: string, pick: (result: DemoResult) => number) =>
    median(played.filter((result) => result.mode === mode).map(pick))
  const figures: Figure[] = modes.flatMap((mode) => [
    {
      name: `${mode}: neither engine nor model`,
      value: of(mode, (result) => result.platform_s),
      unit: 's',
      aim: AIMS_S[mode] ?? 1.5,
    },
    {
      name: `${mode}: its share of the whole`,
      value: of(mode, ({ platform_s, duration_s }) => (100 * platform_s) / duration_s),
      unit: '%',
    },
  ])
  for (const [mode, hand] of Object.entries(BY_HAND)) {
    const times: number[] = []
    for (let index = 0; index < options.runs; index++) times.push(await withHandEngine(hand))
    figures.push({
      name: `${mode}: engine jobs to the same commands by hand`,
      value: of(mode, (result) => result.engine_s) / median(times),
      unit: 'x',
    })
  }
  return {
    title: `Modes, scripted model (${options.runs} runs, medians)`,
    figures,
    notes: [
      'From the request to the last status; apply holds two rounds. By hand: the commands of the round, with ' +
        'local state.',
    ],
  }
}

/** Runs the demo. Errors: its output when it fails. */
async function playAll(): Promise<AllResult> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'))
  try {
    const { stdout } = await run(process.execPath, ['dev/demo.ts', '--mode', 'all', '--json', '--data', folder], {
      cwd: projectRoot,
      env: { ...process.env, PLATFORM_PORT: undefined },
      maxBuffer: 2 ** 26,
    })
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '{}') as AllResult
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const { init, validate, plan, show, apply, pull } = COMMANDS

async function sample(name: string): Promise<Record<string, string>> {
  const folder = join(projectRoot, 'dev/samples', name)
  const files = (await readdir(folder)).filter((file) => file.endsWith('.tf'))
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')])),
  )
}

const block = (name: string) => `resource "terraform_data" "${name}" {\n}\n`

/** The engine commands of each round, in order. What has to exist before them is not measured. */
const BY_HAND: Record<string, (engine: HandEngine) => Promise<number>> = {
  'full-drift': async ({ write, measure: timed }) => {
    const files = await sample('network-baseline')
    await write(files)
    await timed([init, plan, apply])
    await write({ 'logging.tf': (files['logging.tf'] ?? '').replace('= 90', '= 30') })
    return timed([init, validate, plan, show, validate, plan, show])
  },
  'full-import': async ({ write, measure: timed }) => {
    // As many resources as the demo imports. The first two of the account are managed already, and the last five are
    // managed by somebody else.
    const imported = RESOURCES.slice(2, -5)
    await write({ 'imported.tf': 'resource "terraform_data" "refused" {\n  arn = ""\n}\n' })
    const refused = await timed([init, pull, validate])
    await write({ 'imported.tf': imported.map((_, index) => block(`r${index}`)).join('\n') })
    const imports = imported.map(({ arn }, index) => [
      'import',
      '-no-color',
      '-input=false',
      `terraform_data.r${index}`,
      arn,
    ])
    return refused + (await timed([validate, plan, show, ...imports, validate, plan, show]))
  },
  apply: async ({ write, remove, measure: timed }) => {
    await write({ 'main.tf': ['a', 'b', 'c'].map(block).join('\n'), 'broken.tf': 'locals {\n  x = local.missing\n}\n' })
    const refused = await timed([init, validate])
    await remove('broken.tf')
    return refused + (await timed([validate, plan, show, plan, show, apply]))
  },
}
