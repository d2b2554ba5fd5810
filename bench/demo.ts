import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { COMMANDS, withHandEngine } from './lib/engine.ts'
import { projectRoot } from './lib/process.ts'
import type { Section } from './lib/report.ts'
import { percentile } from './lib/statistics.ts'

const run = promisify(execFile)

interface DemoLine {
  duration_s: number
  engine_s: number
  model_s: number
  engine: { name: string }
}

/**
 * Runs the main job several times on a stack of its own. The time that is neither engine nor model is the platform's.
 * For comparison the same kinds of engine commands are run by hand, on a root with as many resources.
 */
export async function benchDemo(options: { runs: number }): Promise<Section> {
  const own: number[] = []
  const durations: number[] = []
  const engine: number[] = []
  const model: number[] = []
  for (let index = 0; index < options.runs; index++) {
    const line = await demoOnce()
    own.push(line.duration_s - line.engine_s - line.model_s)
    durations.push(line.duration_s)
    engine.push(line.engine_s)
    model.push(line.model_s)
  }
  const byHand = await engineByHand()
  const median = (values: number[]) => percentile(values, 0.5)
  return {
    title: `Main job, scripted model (${options.runs} runs, medians)`,
    figures: [
      { name: 'request to reviewed plan', value: median(durations), unit: 's' },
      { name: 'neither engine nor model', value: median(own), unit: 's', aim: 1.5 },
      { name: 'engine jobs', value: median(engine), unit: 's' },
      { name: 'model calls (with the scripted model)', value: median(model), unit: 's' },
      { name: 'the same engine commands by hand', value: byHand, unit: 's' },
      { name: 'engine jobs to commands by hand', value: median(engine) / byHand, unit: 'x' },
    ],
    notes: ['By hand: init, validate (refused), validate, plan, show, plan, show, with local state.'],
  }
}

async function demoOnce(): Promise<DemoLine> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'))
  try {
    const env = { ...process.env, PLATFORM_PORT: undefined }
    const { stdout } = await run(process.execPath, ['dev/demo.ts', '--json', '--data', folder], {
      cwd: projectRoot,
      env,
      maxBuffer: 2 ** 24,
    })
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '{}') as DemoLine
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const ROOT = `
locals { tags = { team = "bench" } }
${[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `resource "terraform_data" "r${n}" {\n  input = merge(local.tags, { n = ${n} })\n}`).join('\n')}
`
const BROKEN = 'resource "terraform_data" "broken" {\n  input = local.missing\n}\n'

const engineByHand = (): Promise<number> =>
  withHandEngine(async ({ write, remove, measure: timed }) => {
    const { init, validate, plan, show } = COMMANDS
    await write({ 'main.tf': ROOT, 'broken.tf': BROKEN })
    const refused = await timed([init, validate])
    await remove('broken.tf')
    return refused + (await timed([validate, plan, show, plan, show]))
  })
