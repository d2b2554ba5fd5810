import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PlatformError } from '../../../src/base/errors.ts'
import { createPlanDocument, writePlanDocument } from '../../../src/plan/document/create-document.ts'
import { PlanDocumentSchema } from '../../../src/plan/document/plan-document.ts'
import { type Plan, parsePlan } from '../../../src/plan/plan.ts'
import { addressOf } from '../../../src/plan/planned-changes.ts'
import { changesJson } from '../fixtures.ts'
import { largePlan } from './large-plan.ts'
import { documentOf, entry, plain } from './support.ts'

const folder = (name: string) => new URL(name, import.meta.url)
const REAL = [
  ...readdirSync(folder('plans/')).map((name) => [name, readFileSync(folder(`plans/${name}`), 'utf8')]),
  ['changes.json', changesJson],
  ['every-change.json', readFileSync(new URL('../fixtures/every-change.json', import.meta.url), 'utf8')],
] as [string, string][]

/** Checks the properties of every document. */
function expectSound(plan: Plan, document = documentOf(plan)) {
  expect(PlanDocumentSchema.parse(JSON.parse(JSON.stringify(document)))).toEqual(document)
  expect(document.resources).toHaveLength(plan.resource_changes.length)
  const listed = new Set(document.resources.map(({ address }) => address))
  for (const { depends_on } of document.resources) for (const address of depends_on) expect(listed).toContain(address)
  return document
}

describe('plans of real providers', () => {
  it.each(REAL)('%s', (_, text) => {
    const plan = parsePlan(text)
    const document = expectSound(plan)
    const addresses = document.resources.map(({ address }) => address)
    expect(new Set(addresses).size).toBe(addresses.length)
    if (!text.includes('S3cret')) expect(addresses).toEqual(plan.resource_changes.map(addressOf))
    expect(JSON.stringify(document)).not.toMatch(/planted-|S3cret-Passw0rd/)
  })

  it('finds the dependencies that the code of the first one has', () => {
    const text = REAL.find(([name]) => name === 'aws-create.json')?.[1] ?? ''
    const { resources } = documentOf(parsePlan(text))
    const of = (wanted: string) => resources.find(({ address }) => address === wanted)?.depends_on
    expect(of('aws_security_group.web')).toEqual(['aws_vpc.main'])
    // The code loops over the whole module, and the engine does not say which of its outputs are read.
    expect(of('aws_db_subnet_group.db')).toHaveLength(6)
    expect(of('aws_s3_bucket_versioning.logs[1]')).toEqual(['aws_s3_bucket.logs[1]'])
    expect(of('module.net["b"].aws_subnet.this')).toEqual(['aws_vpc.main'])
    expect(of('module.net["a"].aws_route_table_association.this')).toEqual([
      'module.net["a"].aws_route_table.this',
      'module.net["a"].aws_subnet.this',
    ])
  })
})

const SECRET = 'Planted-5ecret-value'
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, 7, '', 'a', SECRET),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'id', '__proto__', 'x y'), tie('value'), { maxKeys: 4 }),
  ),
})).value
const marks = fc.letrec((tie) => ({
  mark: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    fc.array(tie('mark'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'id', '__proto__'), tie('mark'), { maxKeys: 3 }),
  ),
})).mark
const actions = fc.subarray(['create', 'update', 'delete', 'read', 'forget', 'no-op'], { minLength: 1 })
const change = fc.record({
  actions,
  before: values,
  after: values,
  after_unknown: marks,
  before_sensitive: marks,
  after_sensitive: marks,
})
const address = fc.constantFrom('a.b', 'a.b[0]', 'a.b["k"]', 'module.m.a.b', 'module.m[1].data.a.b', 'odd', '', SECRET)
const document = fc.record({
  resource_changes: fc.array(
    fc
      .tuple(address, change, fc.option(address))
      .map(([at, one, before]) => entry(at, one, before === null ? {} : { previous_address: before })),
    { maxLength: 5 },
  ),
  output_changes: values,
  resource_drift: values,
  configuration: fc.oneof(values, fc.record({ root_module: fc.record({ resources: values, module_calls: values }) })),
  prior_state: values,
})

describe('generated plans', () => {
  it('are described whatever they contain, within the schema, without the planted secret', () => {
    const masker = { text: (text: string) => text.replaceAll(SECRET, '(sensitive value)') }
    fc.assert(
      fc.property(document, (generated) => {
        const plan = parsePlan(JSON.stringify({ format_version: '1.2', ...generated }))
        const found = expectSound(plan, createPlanDocument({ plan, targets: [], masker }))
        expect(JSON.stringify(found)).not.toContain(SECRET)
      }),
      { numRuns: 400 },
    )
  })

  it('never throw once parsePlan took them, whatever stands in the place of a part', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 6 }),
        fc.constantFrom(...REAL.map(([, text]) => text)),
        fc.nat(),
        (json, text, at) => {
          const plan = tryParse(replaceNode(JSON.parse(text), at, JSON.parse(json)))
          if (plan) expectSound(plan, createPlanDocument({ plan, targets: ['a.b'], masker: plain }))
        },
      ),
      { numRuns: 200 },
    )
  })

  it('may nest as deep as the parser reads', () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`
    const text = JSON.stringify({
      format_version: '1.2',
      resource_changes: [
        entry('a.b', { actions: ['update'], before: { x: '@' }, after: { x: '@', y: '@' }, after_unknown: '@' }),
      ],
      configuration: { root_module: { resources: [{ mode: 'managed', type: 'a', name: 'b', expressions: '@' }] } },
      output_changes: { o: { actions: ['create'], after: '@', after_sensitive: '@' } },
      prior_state: '@',
    }).replaceAll('"@"', deep)
    const plan = parsePlan(text)
    const { resources } = createPlanDocument({ plan, targets: [], masker: plain })
    expect(resources[0]?.attributes_left_out).toBeGreaterThan(0)
  })
})

function replaceNode(root: unknown, at: number, value: unknown): unknown {
  const places: [Record<string, unknown>, string][] = []
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key])
      visit((node as Record<string, unknown>)[key])
    }
  }
  visit(root)
  const place = places[at % places.length]
  if (place) place[0][place[1]] = value
  return root
}

function tryParse(document: unknown): Plan | null {
  try {
    return parsePlan(JSON.stringify(document))
  } catch (error) {
    if (error instanceof PlatformError) return null
    throw error
  }
}

describe('large plans', () => {
  it('are read once, however many resources they have', () => {
    const reads = (size: number) => {
      const { plan, count } = countReads(largePlan(size))
      createPlanDocument({ plan, targets: ['module.part', 'aws_thing.r1'], masker: plain })
      return count() / size
    }
    expect(reads(2_000)).toBeLessThan(reads(500) * 1.05)
  })

  it('are written in slices as they are created', async () => {
    const plan = largePlan(400)
    const facts = { plan, targets: [], masker: plain }
    expect(JSON.parse(await writePlanDocument(facts))).toEqual(createPlanDocument(facts))
    await expect(
      writePlanDocument({ ...facts, plan: largePlan(5_000) }, AbortSignal.abort(new Error('stop'))),
    ).rejects.toThrow('stop')
  })
})

/** Wraps a plan and counts how often its parts are read. */
function countReads(plan: Plan): { plan: Plan; count(): number } {
  let reads = 0
  const known = new WeakMap<object, object>()
  const wrap = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    const wrapped =
      known.get(value) ??
      new Proxy(value, {
        get: (target, key) => {
          reads++
          return wrap(Reflect.get(target, key))
        },
      })
    known.set(value, wrapped)
    return wrapped
  }
  return { plan: wrap(plan) as Plan, count: () => reads }
}
