import { describe, expect, it } from 'vitest'
import {
  createExceptionLedger,
  findCoveredDrift,
  withoutCovered,
} from '../../../../pipeline/steps/drift/genuine-drift.ts'
import { remediateDrift } from '../../../../pipeline/steps/drift/remediate-drift.ts'
import type { Kept } from '../../../../src/chains/shared/operations.ts'
import type { DriftOperation } from '../../../../src/plan/drift.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { type Reply, type Script, said } from '../scripted-llm.ts'
import { calmEngine, createSteps } from '../support.ts'

const steps = startOnce(createSteps)

const update = (address: string, size = 1): DriftOperation => ({
  address,
  action: 'update resource',
  changes: { changed: { size: { old_value: 2, new_value: size } } },
})
const [a, b, ab] = [update('x.a'), update('x.b'), update('x.ab')]
const noted = (drift: DriftOperation[], operations: string[], kept: Kept[], note: string | null = 'rule') => {
  const ledger = createExceptionLedger()
  ledger.recordPass({ operations, drift }, { operations, kept, note })
  return ledger
}

describe('the ledger of exceptions', () => {
  it.each<[string, string[], Kept[], object]>([
    ['dropped', ['set x.a', 'set x.b'], [[], 'all'], { covered: [a], open: [b] }],
    ['kept', ['set x.a', 'set x.b'], ['all', 'all'], { open: [a, b] }],
    ['kept in part', ['set x.a', 'set x.b'], [['size'], []], { covered: [b], undecided: [a] }],
    ['not named by the splitter', ['set x.b'], [[]], { covered: [b], undecided: [a] }],
    ['dropped with one text and kept with another', ['x.a size', 'x.a tags and x.b'], [[], 'all'], { open: [a, b] }],
  ])('drift that was %s', (_, sent, kept, sorted) => {
    const none = { covered: [], open: [], undecided: [] }
    expect(noted([a, b], sent, kept).sortDrift([a, b])).toEqual({ ...none, ...sorted })
  })

  it('takes no address for another that begins like it', () => {
    expect(noted([a, ab], ['set x.a', 'set x.ab'], [[], 'all']).sortDrift([a, ab])).toEqual({
      covered: [a],
      open: [ab],
      undecided: [],
    })
  })

  it('knows drift only as it was then, and goes by the last pass', () => {
    const ledger = noted([a, b], ['set x.a', 'set x.b'], [[], 'all'])
    expect(ledger.sortDrift([update('x.a', 9)])).toEqual({ covered: [], open: [], undecided: [update('x.a', 9)] })
    ledger.recordPass({ operations: ['set x.a'], drift: [a] }, { operations: ['set x.a'], kept: ['all'], note: 'rule' })
    expect(ledger.sortDrift([a, b])).toEqual({ covered: [], open: [a, b], undecided: [] })
    expect(ledger.notes).toEqual(['rule'])
  })
})

describe('findCoveredDrift', () => {
  const size = { size: { old_value: 2, new_value: 1 } }
  const team = { 'tags["the team"]': 'shop' }
  const indexed: DriftOperation = {
    address: 'x.c["k"]',
    action: 'update resource',
    changes: { changed: size, removed: team },
  }
  const part = (changes: object) => ({ ...indexed, changes }) as DriftOperation
  const ask = async (operations: string[]) => {
    const world = await steps.world({
      scripts: { report_decomposed_task_operations: { args: { operations, explanation: 'rule' } } },
    })
    const { covered, note } = await findCoveredDrift(world.kit, [a, indexed])
    return { world, covered, note, left: withoutCovered([a, indexed], covered) }
  }
  it.each<[string, string[], DriftOperation[], DriftOperation[]]>([
    ['everything', [], [a, indexed], []],
    ['all but a number', ['2'], [a], [indexed]],
    ['all but an attribute of it', ['2.1'], [a, part({ removed: team })], [part({ changed: size })]],
    ['all but both of its attributes', ['2.2', '2.1'], [a], [indexed]],
    ['all but an entry word for word', [JSON.stringify(indexed)], [a], [indexed]],
    ['nothing, when an answer is in other words', ['set x.c["k"]'], [], [a, indexed]],
    ['nothing, when a number stands for nothing', ['1', '3'], [], [a, indexed]],
    ['nothing, when an attribute has no number', ['1.1', '2'], [], [a, indexed]],
  ])('%s', async (_, answer, covered, left) => {
    expect(await ask(answer)).toMatchObject({ covered, left, note: covered.length > 0 ? 'rule' : null })
  })
  it('numbers operations and the attributes of those that have several', async () => {
    const { world } = await ask([])
    const query = world.llm.of('report_decomposed_task_operations')[0]?.messages.at(-1)?.content ?? ''
    expect(JSON.parse(query.slice(query.indexOf('{'), query.lastIndexOf('}') + 1))).toEqual({
      1: JSON.stringify(a),
      2: { operation: JSON.stringify(indexed), attributes: { '2.1': 'size', '2.2': 'tags["the team"]' } },
    })
  })
  it('asks nothing about nothing', async () => {
    const world = await steps.world()
    expect(await findCoveredDrift(world.kit, [])).toEqual({ covered: [], note: null })
    expect(world.llm.requests).toEqual([])
  })
})

describe('remediateDrift', () => {
  const change = { actions: ['update'], before: { size: 1, tags: 'x' }, after: { size: 2, tags: 'y' } }
  const drifting = calmEngine(
    JSON.stringify({
      format_version: '1.2',
      resource_changes: ['x.a', 'x.b'].map((address) => ({ address, mode: 'managed', type: 'x', name: 'a', change })),
    }),
  )
  const run = async (...replies: Reply[]) => {
    const report_decomposed_task_operations: Script[] = replies
    const world = await steps.world({
      scripts: { report_decomposed_task_operations, task_complete: { args: { status: 'done', summary: 'Tried.' } } },
      engine: drifting,
    })
    const result = await remediateDrift(world.kit, {
      valid: null,
      targets: [],
      filterSessionChanges: false,
      conventions: { templates: [], abbreviations: [] },
      maxIterations: 1,
    })
    await world.kit.status.settle()
    const of = (drift: DriftOperation[]) => drift.map(({ address }) => address)
    return { result, world, left: of(result.remaining), excepted: of(result.excepted) }
  }
  const reply = (operations: string[], explanation = ''): Reply => ({ args: { operations, explanation } })

  it('writes the attributes that no rule covers, in the words of the splitter, and asks again about the rest', async () => {
    const { left, excepted, world, result } = await run(
      reply(['set size and tags of x.a', 'set x.b']),
      reply(['1.1', '2'], 'x.a: tags, first rule'),
      reply(['1.1'], 'x.a: tags, the same rule'),
    )
    expect(said(world.llm.of('task_complete')[0])).toContain(
      '- set size and tags of x.a (Write only size. The code keeps tags as it is.)\\n- set x.b\\n',
    )
    expect(left).toEqual(['x.a', 'x.b'])
    expect(result.remaining[0]).toMatchObject({ changes: { changed: { size: { old_value: 2 } } } })
    expect(result.excepted).toEqual([
      { address: 'x.a', action: 'update resource', changes: { changed: { tags: { old_value: 'y', new_value: 'x' } } } },
    ])
    expect(excepted).toEqual(['x.a'])
    const asked = said(world.llm.of('report_decomposed_task_operations')[2])
    expect(asked).toContain('x.a')
    expect(asked).not.toContain('x.b')
    expect(result.exclusions).toEqual(['x.a: tags, first rule', 'x.a: tags, the same rule'])
  })

  it('does not call covered what the splitter lost', async () => {
    const { left, excepted, result } = await run(reply(['set x.a']), reply([], 'x.a: rule'), reply(['1']))
    expect([left, excepted]).toEqual([['x.b'], ['x.a']])
    expect(result.inSync).toBe(false)
  })

  it('gives a reason when the filter gives none', async () => {
    const { result, excepted } = await run(reply(['set x.a', 'set x.b']), reply([]))
    expect(excepted).toEqual(['x.a', 'x.b'])
    expect(result).toMatchObject({
      inSync: true,
      exclusions: ['Covered by the drift exception rules; the filter gave no explanation.'],
    })
  })
})
