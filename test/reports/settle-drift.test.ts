import { describe, expect, it } from 'vitest'
import { createMasker } from '../../src/base/masking.ts'
import type { DriftOperation } from '../../src/plan/drift.ts'
import type { DriftReport } from '../../src/reports/schemas.ts'
import { type DriftFacts, settleDriftPreview, settleDriftReport } from '../../src/reports/settle-drift.ts'

const update = (address: string, path = 'size'): DriftOperation => ({
  address,
  action: 'update resource',
  changes: { changed: { [path]: { old_value: 2, new_value: 1 } } },
})
const changedOf = (operation: DriftOperation) =>
  operation.action === 'update resource' ? operation.changes.changed : {}
const facts = (changes: Partial<DriftFacts> = {}): DriftFacts => ({
  detected: [],
  remaining: [],
  excepted: [],
  notes: [],
  failure: null,
  changedFiles: ['main.tf'],
  beyond: null,
  ...changes,
})
const told = (changes: Partial<DriftReport> = {}): DriftReport => ({
  summary: 'Told by the model.',
  status: 'Succeeded',
  remediated_resources: [],
  unreconciled_drift: [],
  whitelisted_exceptions: [],
  ...changes,
})
const mended = (resource_address: string, changes: Partial<DriftReport['remediated_resources'][number]> = {}) => ({
  file_path: 'main.tf',
  resource_address,
  changes: [{ attribute_modified: 'size', change_description: 'Told.', details: [], reason: 'Because.' }],
  ...changes,
})
const nothing = createMasker([])
const settle = (document: DriftReport, certain: DriftFacts) => settleDriftReport(document, certain, nothing)
const addresses = (entries: { resource_address: string }[]) => entries.map(({ resource_address }) => resource_address)

describe('a resource that is expected to differ in part', () => {
  const [size, tags] = [update('x.a'), update('x.a', 'tags')]
  const both = { ...size, changes: { changed: { ...changedOf(size), ...changedOf(tags) } } } as DriftOperation

  it('is told by the attributes that were written, and by those that are expected', () => {
    const certain = facts({ detected: [both, update('x.b')], excepted: [tags], written: [size], notes: ['x.a: rule'] })
    const { summary, remediated_resources, whitelisted_exceptions } = settle(told(), certain)
    expect(remediated_resources.map(({ changes }) => changes.map((change) => change.attribute_modified))).toEqual([
      ['size'],
    ])
    expect(addresses(whitelisted_exceptions)).toEqual(['x.a'])
    expect(summary).toMatch(
      /^2 resources differed: 1 remediated, 0 left, 1 expected to differ by the exception rules\. /,
    )
    expect(summary).toContain('1 resource agreed again without a change of the code.')
  })

  it('is counted once in a preview', () => {
    const seen = { remaining: [size, update('x.b')], excepted: [tags], notes: [], failure: null }
    expect(settleDriftPreview(seen, nothing).summary).toMatch(/^Preview: 2 resources differ, and 0 more as /)
  })
})

describe('the status', () => {
  const [a, b, c] = [update('x.a'), update('x.b'), update('x.c')]
  it.each([
    ['nothing was found', {}, 'Succeeded'],
    ['everything is gone', { detected: [a, b] }, 'Succeeded'],
    ['only expected drift is left', { detected: [a, b], excepted: [b] }, 'Succeeded'],
    ['one is gone and one is left', { detected: [a, b], remaining: [b] }, 'Partial'],
    ['one is gone, one expected, one left', { detected: [a, b, c], excepted: [b], remaining: [c] }, 'Partial'],
    ['all is left', { detected: [a], remaining: [a] }, 'Failed'],
    ['one is left and one went without a commit', { detected: [a, b], remaining: [b], changedFiles: [] }, 'Failed'],
    ['it could not be read', { failure: 'Error: no credentials' }, 'Failed'],
    [
      'it could not be read in the end',
      { detected: [a, b], remaining: [b], failure: 'Error: no credentials' },
      'Partial',
    ],
  ] satisfies [string, Partial<DriftFacts>, string][])('when %s', (_, certain, status) => {
    for (const claimed of ['Succeeded', 'Partial', 'Failed'] as const)
      expect(settle(told({ status: claimed }), facts(certain)).status).toBe(status)
  })
})

describe('remediated resources', () => {
  it('are those that differed, do so no more, and whose code changed; the model tells how', () => {
    const document = told({
      remediated_resources: [mended('x.invented'), mended('x.left'), mended('`x.gone`'), mended('x.expected')],
    })
    const certain = facts({
      detected: [update('x.gone'), update('x.left'), update('x.expected'), update('x.forgotten')],
      remaining: [update('x.left')],
      excepted: [update('x.expected')],
    })
    expect(settle(document, certain).remediated_resources).toEqual([
      mended('x.gone'),
      mended('x.forgotten', {
        changes: [
          {
            attribute_modified: 'size',
            change_description: 'The code was brought in line with the infrastructure.',
            details: ['Before: size: 2 in the code, 1 in the infrastructure'],
            reason: '',
          },
        ],
      }),
    ])
    expect(settle(document, { ...certain, changedFiles: [] }).remediated_resources).toEqual([])
  })

  it('name attributes that the model left out, and files that really changed', () => {
    const both: DriftOperation = {
      address: 'x.a',
      action: 'update resource',
      changes: { added: { 'tags["cost"]': 'c1' }, removed: { size: 3 } },
    }
    const document = told({ remediated_resources: [mended('x.a', { file_path: '/etc/passwd' })] })
    const [entry] = settle(document, facts({ detected: [both], changedFiles: ['live/a.tf'] })).remediated_resources
    expect(entry?.file_path).toBe('live/a.tf')
    expect(entry?.changes.map(({ attribute_modified }) => attribute_modified)).toEqual(['size', 'tags["cost"]'])
    const [unsure] = settle(document, facts({ detected: [both], changedFiles: ['a.tf', 'b.tf'] })).remediated_resources
    expect(unsure?.file_path).toBe('')
  })

  it('tell a difference once, however the model spells its path, in the file that has the block', () => {
    const tags: DriftOperation = {
      address: 'x.a',
      action: 'update resource',
      changes: { added: { 'tags["a b"]': 'c' } },
    }
    const spelled = { attribute_modified: '`tags.a b`', change_description: 'Told.', details: [], reason: '' }
    const certain = facts({ detected: [tags], changedFiles: ['a.tf', 'b.tf'], fileOf: () => 'b.tf' })
    const document = told({ remediated_resources: [mended('x.a', { file_path: '', changes: [spelled, spelled] })] })
    expect(settle(document, certain).remediated_resources).toEqual([
      { file_path: 'b.tf', resource_address: 'x.a', changes: [spelled] },
    ])
    const unreconciled_drift = [{ resource_address: 'x.a', reason: 'r', details: ['tags.a b: c', 'Ask them.'] }]
    expect(settle(told({ unreconciled_drift }), { ...certain, remaining: [tags] }).unreconciled_drift).toMatchObject([
      { details: ['tags["a b"]: not in the code, "c" in the infrastructure', 'Ask them.'] },
    ])
  })

  it('match a model that leaves the index out, and join its entries', () => {
    const document = told({ remediated_resources: [mended('module.m.x.a'), mended('module.m.x.a'), mended('x.a')] })
    const [entry] = settle(document, facts({ detected: [update('module.m["k"].x.a[0]')] })).remediated_resources
    expect(entry).toMatchObject({ resource_address: 'module.m["k"].x.a[0]', changes: [{ attribute_modified: 'size' }] })
    expect(entry?.changes).toHaveLength(1)
  })
})

describe('what is left', () => {
  it('has an entry for each address, with the plan’s details before the model’s', () => {
    const document = told({
      unreconciled_drift: [
        { resource_address: 'x.a', reason: 'Needs a person.', details: ['Ask them.'] },
        { resource_address: 'x.invented', reason: 'Made up.', details: [] },
        { resource_address: '', reason: 'Made up.', details: [] },
      ],
    })
    expect(
      settle(document, facts({ detected: [update('x.a'), update('x.b')], remaining: [update('x.a'), update('x.b')] })),
    ).toMatchObject({
      unreconciled_drift: [
        {
          resource_address: 'x.a',
          reason: 'Needs a person.',
          details: ['size: 2 in the code, 1 in the infrastructure', 'Ask them.'],
        },
        {
          resource_address: 'x.b',
          reason: 'The last plan still shows this difference.',
          details: ['size: 2 in the code, 1 in the infrastructure'],
        },
      ],
    })
  })

  it('holds the words of the engine when drift could not be read, and what was not verified', () => {
    const { unreconciled_drift } = settle(
      told(),
      facts({ detected: [update('x.a')], remaining: [update('x.a')], failure: 'Error: no credentials' }),
    )
    expect(unreconciled_drift).toMatchObject([
      { resource_address: '', reason: 'The drift could not be read.', details: ['Error: no credentials'] },
      { resource_address: 'x.a', reason: 'It could not be read again whether this difference is gone.' },
    ])
  })

  it('says which side has a resource that the other has not', () => {
    const remaining: DriftOperation[] = [
      { address: 'x.code', action: 'delete resource' },
      { address: 'x.cloud', action: 'create resource', changes: { size: 1 } },
    ]
    const { unreconciled_drift } = settle(told(), facts({ detected: remaining, remaining }))
    expect(unreconciled_drift.map(({ details }) => details)).toEqual([
      ['The code has it, the infrastructure does not.'],
      ['The infrastructure has it, the code does not.'],
    ])
  })

  it('is cut where it is endless', () => {
    const changed = Object.fromEntries(
      Array.from({ length: 150 }, (_, index) => [`a${index}`, { old_value: 'x'.repeat(5_000), new_value: 1 }]),
    )
    const remaining: DriftOperation[] = [{ address: 'x.a', action: 'update resource', changes: { changed } }]
    const [entry] = settle(told(), facts({ detected: remaining, remaining })).unreconciled_drift
    expect(entry?.details).toHaveLength(101)
    expect(entry?.details.at(-1)).toBe('and 50 more differences')
    expect(JSON.stringify(entry).length).toBeLessThan(50_000)
  })
})

describe('expected drift', () => {
  it('is what the exceptions cover, not what the model lists', () => {
    const document = told({
      whitelisted_exceptions: [
        { resource_address: 'x.a', change: 'The size.', rule: 'Scaling.' },
        { resource_address: 'x.invented', change: 'All of it.', rule: 'None.' },
      ],
    })
    expect(
      settle(
        document,
        facts({
          detected: [update('x.a'), update('x.b')],
          excepted: [update('x.a'), update('x.b')],
          notes: ['x.b: one', 'two'],
        }),
      ).whitelisted_exceptions,
    ).toEqual([
      { resource_address: 'x.a', change: 'The size.', rule: 'Scaling.' },
      { resource_address: 'x.b', change: 'size: 2 in the code, 1 in the infrastructure', rule: 'x.b: one\ntwo' },
    ])
    expect(settle(document, facts()).whitelisted_exceptions).toEqual([])
  })
})

describe('the summary', () => {
  const certain = facts({ detected: [update('x.a'), update('x.b')], remaining: [update('x.b')] })
  it('begins with what was counted; a model that claims another result is not quoted', () => {
    const counts = '2 resources differed: 1 remediated, 1 left, 0 expected to differ by the exception rules.'
    expect(settle(told({ status: 'Partial' }), certain).summary).toBe(`${counts} Told by the model.`)
    expect(settle(told({ status: 'Succeeded' }), certain).summary).toBe(counts)
  })
  it('ends with what a plan of the whole root shows beside the targets', () => {
    const text = (beyond: DriftFacts['beyond']) => settle(told(), { ...certain, beyond }).summary
    const changes = [{ address: 'x.c', type: 'x', action: 'update' as const }]
    expect(text({ made: true, changes, operations: [update('x.c')] })).toMatch(
      /shows 1 more difference, which it left alone; [^\n]* was not looked at:\n- update x\.c: .+ in the code, .+ in the infrastructure$/,
    )
    expect(text({ made: true, changes: [] })).toMatch(/A plan of the whole root shows no other difference\.$/)
    expect(text({ made: false, reason: 'no time' })).toMatch(/was not looked at, and could not be: no time$/)
  })
  it('says of some targets that nothing else was looked at', () => {
    const none = facts({ targets: ['x.a', 'module.b'] })
    const looked = 'Nothing but x.a, module.b and what it depends on was looked at.'
    const expected = `No drift was found. ${looked}`
    expect(settle(told(), none).summary).toBe(expected)
    const preview = { remaining: [], excepted: [], notes: [], failure: null, targets: ['x.a', 'module.b'] }
    expect(settleDriftPreview(preview, createMasker([])).summary).toBe(expected)
    const differs = { ...preview, remaining: [update('x.a')] }
    expect(settleDriftPreview(differs, createMasker([])).summary).toMatch(`Nothing was changed. ${looked}`)
    const left = facts({ ...differs, detected: differs.remaining, changedFiles: [] })
    expect(settle(told({ status: 'Failed' }), left).summary).toBe(
      `1 resource differed: 0 remediated, 1 left, 0 expected to differ by the exception rules. Told by the model. ${looked}`,
    )
  })
  it('counts only what the round wrote into the code as remediated, whatever else went away meanwhile', () => {
    const settled = settle(told(), facts({ detected: [update('x.a'), update('x.b')], written: [update('x.a')] }))
    expect(addresses(settled.remediated_resources)).toEqual(['x.a'])
    expect(settled.summary).toContain('1 resource agreed again without a change of the code.')
  })
  it('tells what went away by itself, and what could not be read', () => {
    expect(settle(told(), { ...certain, remaining: [], changedFiles: [] }).summary).toContain(
      '2 resources agreed again without a change of the code.',
    )
    expect(settle(told(), facts({ failure: 'Error' })).summary).toBe('The drift could not be read.')
  })
})

it('hides secrets in every text', () => {
  const document = told({
    status: 'Failed',
    summary: 'topsecret-1',
    unreconciled_drift: [{ resource_address: 'x.a', reason: 'topsecret-1', details: ['topsecret-1'] }],
  })
  const settled = settleDriftReport(
    document,
    facts({ detected: [update('x.a')], remaining: [update('x.a')], failure: 'topsecret-1' }),
    createMasker(['topsecret-1']),
  )
  expect(addresses(settled.unreconciled_drift)).toEqual(['', 'x.a'])
  expect(JSON.stringify(settled)).not.toContain('topsecret-1')
})
