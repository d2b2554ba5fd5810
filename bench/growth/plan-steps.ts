import { readFileSync, writeFileSync } from 'node:fs'
import * as v from 'valibot'
import { describePlan } from '../../src/chains/shared/plan-background.ts'
import { writePlanDocument } from '../../src/plan/document/create-document.ts'
import { parsePlanInSlices } from '../../src/plan/plan.ts'
import { createSecretRegister } from '../../src/plan/sensitive.ts'
import { reportSchemas } from '../../src/reports/schemas.ts'
import { settleGenerateReport } from '../../src/reports/settle-generate.ts'
import { evaluateRules } from '../../src/rules/evaluate.ts'
import { findAdditions } from '../../src/rules/intent/additions.ts'
import { evaluateStatements } from '../../src/rules/intent/evaluate-statements.ts'
import { findLosses } from '../../src/rules/intent/losses.ts'
import { aboutAddresses } from '../../src/rules/intent/resources.ts'
import { readStatements } from '../../src/rules/intent/statement.ts'
import { busyTime } from '../lib/blocking.ts'

/*
 * A process that takes the plan in the file `argv[2]`, with its text in `argv[3]`, through the steps of a round
 * `argv[4]` times, and prints for each step as JSON the least processor time of its thread in ms, and the greatest peak
 * of memory in MB (10^6 bytes) beyond what the process had before it read the plan. The latter is null without Linux.
 */

const STEPS = ['parse', 'mask', 'rules', 'intent', 'report', 'artifacts'] as const
type Step = (typeof STEPS)[number]
const [planFile = '', textFile = '', runs = 1] = process.argv.slice(2)

const { statements } = readStatements(
  [
    { kind: 'resource_count', type: 'aws_sqs_queue', op: 'at_least', value: 1 },
    { kind: 'resource_count', type: 'aws_db_instance', action: 'create', op: 'at_least', value: 1, where: [] },
    { kind: 'attribute', type: 'aws_kms_key', path: 'enable_key_rotation', op: 'eq', value: true },
    { kind: 'attribute', type: 'aws_iam_role_policy', path: 'policy', op: 'not_contains', value: '*:*' },
    { kind: 'unchanged', type: 'aws_s3_bucket' },
    { kind: 'no_deletions' },
    { kind: 'output_exists', name: 'address' },
  ].map((statement) => ({ text: 'A statement', words: '', ...statement })),
)
/** A model writes prose about some of the resources only. */
const narration = v.parse(reportSchemas.generate, {
  summary: { create: 0, update: 0, delete: 0, recreate: 0 },
  detailed_changes: Array.from({ length: 200 }, (_, index) => ({
    ...{ name: `aws_sqs_queue.s${index}_7`, action: 'update', summary: 'The queue gets other tags.', notes: '' },
  })),
  potential_impact: { banner: { level: 'low', title: 'Impact', description: '' }, summary: '', bullet_points: [] },
  estimated_costs: { introduction_paragraph: '' },
})

const base = residentBytes('VmRSS')
const json = readFileSync(planFile, 'utf8')
const text = readFileSync(textFile, 'utf8')
const found = Object.fromEntries(STEPS.map((step) => [step, { ms: Infinity, peak_mb: 0 }])) as Record<
  Step,
  { ms: number; peak_mb: number | null }
>
for (let run = 0; run < Number(runs); run++) await playRound()
console.log(JSON.stringify(found))

async function measure<T>(step: Step, work: () => T | Promise<T>): Promise<T> {
  globalThis.gc?.()
  forgetPeak()
  const started = busyTime()
  const result = await work()
  const figures = found[step]
  figures.ms = Math.min(figures.ms, busyTime() - started)
  const peak = residentBytes('VmHWM')
  figures.peak_mb = peak === null || base === null ? null : Math.max(figures.peak_mb ?? 0, (peak - base) / 1e6)
  return result
}

async function playRound(): Promise<void> {
  const secrets = createSecretRegister()
  const plan = await measure('parse', () => parsePlanInSlices(json))
  const masked = await measure('mask', async () => {
    await secrets.learn(plan)
    return await secrets.textInSlices(text)
  })
  const targets: string[] = []
  const { findings } = await measure('rules', () => evaluateRules(plan, { targets, grades: {} }))
  const checked = await measure('intent', () => {
    const results = evaluateStatements(statements, plan)
    findLosses(statements, plan, new Set())
    findAdditions(statements, plan, () => true)
    return results
  })
  await measure('report', () => {
    describePlan({ plan, text: masked, reference: { targets } }, secrets)
    return settleGenerateReport(narration, plan, secrets, { checked })
  })
  await measure('artifacts', async () => {
    const facts = aboutAddresses(checked, plan).map(({ result: { statement, verdict, finding }, addresses }) => ({
      ...{ id: statement.id, text: statement.text, verdict, finding, addresses },
    }))
    const document = await writePlanDocument({ plan, targets, masker: secrets, findings, statements: facts })
    return new TextEncoder().encode(document).length
  })
}

/** Reads a figure of this process in bytes; null where `/proc` does not have it. */
function residentBytes(figure: 'VmRSS' | 'VmHWM'): number | null {
  try {
    const kilobytes = new RegExp(`${figure}:\\s+(\\d+) kB`).exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return kilobytes === undefined ? null : Number(kilobytes) * 1024
  } catch {
    return null
  }
}

/** Has the kernel measure the peak of the resident memory from here on. */
function forgetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    // Without it the peak is that of all steps so far.
  }
}
