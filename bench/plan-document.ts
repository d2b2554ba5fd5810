import { createMasker } from '../src/base/masking.ts'
import { writePlanDocument } from '../src/plan/document/create-document.ts'
import { parsePlan } from '../src/plan/plan.ts'
import { createSecretRegister } from '../src/plan/sensitive.ts'
import { largePlanText } from '../test/plan/document/large-plan.ts'
import { measureBlocking } from './lib/blocking.ts'
import { type Figure, type Section, timed } from './lib/report.ts'

/** Measures the time to make the document of a large plan, and how long it blocks the event loop. */
export async function benchPlanDocument(options: { size: number; runs: number }): Promise<Section> {
  const small = await measure(Math.ceil(options.size / 4), options.runs)
  const large = await measure(options.size, options.runs)
  const name = `${options.size} resources`
  const figures: Figure[] = [
    { name: `${name}: document`, value: large.document_ms, unit: 'ms', aim: 2_000 },
    { name: `${name}: JSON.parse and JSON.stringify of the plan`, value: large.json_ms, unit: 'ms' },
    { name: `${name}: document to these two`, value: large.document_ms / large.json_ms, unit: 'times' },
    { name: `a quarter of them: document to these two`, value: small.document_ms / small.json_ms, unit: 'times' },
    { name: `${name}: longest time that the loop is held`, value: large.busy_ms, unit: 'ms', aim: 250 },
    { name: `${name}: with a sensitive value in each, all masked`, value: large.masked_ms, unit: 'ms', aim: 2_000 },
  ]
  return { title: 'Plan documents (the best of some runs)', figures }
}

async function measure(size: number, runs: number) {
  const text = largePlanText(size)
  const plan = parsePlan(text)
  const facts = { plan, targets: ['module.part', 'aws_thing.r0'], masker: createMasker([]) }
  const secrets = createSecretRegister()
  await secrets.learn(plan)
  const found = { document_ms: Infinity, json_ms: Infinity, masked_ms: Infinity, busy_ms: Infinity }
  for (let run = 0; run < runs; run++) {
    found.json_ms = Math.min(found.json_ms, await timed(async () => JSON.stringify(JSON.parse(text))))
    const write = () => writePlanDocument(facts)
    found.document_ms = Math.min(found.document_ms, await timed(write))
    found.busy_ms = Math.min(found.busy_ms, (await measureBlocking(write)).busy_ms)
    const masked = await timed(() => writePlanDocument({ ...facts, masker: secrets }))
    found.masked_ms = Math.min(found.masked_ms, masked)
  }
  return found
}
