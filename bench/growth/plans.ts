import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { withTemporaryFolder } from '../../dev/files.ts'
import { type Growth, growthTable } from '../lib/growth.ts'
import type { Section } from '../lib/report.ts'
import { growingPlan } from './plan-text.ts'

const run = promisify(execFile)
const PROGRAM = fileURLToPath(new URL('plan-steps.ts', import.meta.url))

interface Measured {
  size: number
  document_mb: number
  steps: Record<string, { ms: number; peak_mb: number | null }>
}

const AIM_MS = 1_000
const AIM_MEMORY = 6
/** A step that grows as the plan does; the rest is what a fit of few points allows for. */
const LINEAR = 1.1

/** Takes plans of growing size through the steps of a round, each size in a process of its own. */
export async function benchGrowthPlans(options: { sizes: readonly number[]; runs: number }): Promise<Section> {
  const measured: Measured[] = []
  for (const size of options.sizes) measured.push(await measureSize(size, options.runs))
  const names = Object.keys(measured[0]?.steps ?? {})
  const points = (cost: (one: Measured) => number) => measured.map((one) => ({ size: one.size, cost: cost(one) }))
  const sum = ({ steps }: Measured) => Object.values(steps).reduce((total, { ms }) => total + ms, 0)
  const times: Growth[] = [
    ...names.map((name) => ({ name, unit: 'ms', points: points(({ steps }) => steps[name]?.ms ?? Number.NaN) })),
    { name: 'all of them', unit: 'ms', points: points(sum) },
  ]
  const memory = names.map((name) => ({
    ...{ name, unit: 'times', aim: AIM_MEMORY },
    points: points(({ steps, document_mb }) => (steps[name]?.peak_mb ?? Number.NaN) / document_mb),
  }))
  return {
    title: 'Growth of plans',
    figures: [],
    tables: [
      growthTable(
        `Processor time, the best of ${options.runs}`,
        times.map((time) => ({ ...time, aim: AIM_MS, aim_exponent: LINEAR })),
      ),
      growthTable('Peak of memory with the plan, its text and all that was found, to the JSON of the plan', [
        { name: 'JSON of the plan', unit: 'MB', points: points(({ document_mb }) => document_mb) },
        ...memory,
      ]),
    ],
    notes: ['A plan of few resources is small beside what a process needs to run the code at all.'],
  }
}

const measureSize = (size: number, runs: number): Promise<Measured> =>
  withTemporaryFolder(async (folder) => {
    const [planFile, textFile] = [join(folder, 'plan.json'), join(folder, 'plan.txt')]
    const { json, text } = growingPlan(size)
    await writeFile(planFile, json)
    await writeFile(textFile, text)
    const { stdout } = await run(process.execPath, ['--expose-gc', PROGRAM, planFile, textFile, String(runs)])
    return { size, document_mb: Buffer.byteLength(json) / 1e6, steps: JSON.parse(stdout) as Measured['steps'] }
  })
