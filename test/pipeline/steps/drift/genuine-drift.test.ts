import { describe, expect, it } from 'vitest'
import { createExceptionLedger, findCoveredDrift } from '../../../../pipeline/steps/drift/genuine-drift.ts'
import { remediateDrift } from '../../../../pipeline/steps/drift/remediate-drift.ts'
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
const noted = (drift: DriftOperation[], sent: string[], answered: string[], note: string | null = 'rule') => {
  const ledger = createExceptionLedger()
  ledger.recordPass(drift, sent, { operations: answered, answered, note })
  return ledger
}

describe('the ledger of exceptions', () => {
  it.each([
    ['dropped', ['set x.a', 'set x.b'], ['set x.b'], { covered: [a], open: [b] }],
    ['kept', ['set x.a', 'set x.b'], ['set x.b', 'set x.a'], { open: [a, b] }],
    ['trimmed', ['set x.a', 'set x.b'], ['set size of x.a'], { covered: [b], undecided: [a] }],
    ['not named by the splitter', ['set x.b'], [], { covered: [b], undecided: [a] }],
    [
      'dropped with one text and kept with another',
      ['x.a size', 'x.a tags and x.b'],
      ['x.a tags and x.b'],
      { open: [a, b] },
    ],
    ['answered in words that name nothing', ['set x.a', 'set x.b'], ['all of it'], { undecided: [a, b] }],
  ])('drift that was %s', (_, sent, answered, sorted) => {
    const none = { covered: [], open: [], undecided: [] }
    expect(noted([a, b], sent, answered).sortDrift([a, b])).toEqual({ ...none, ...sorted })
  })

  it('takes no address for another that begins like it', () => {
    expect(noted([a, ab], ['set x.a', 'set x.ab'], ['set x.ab']).sortDrift([a, ab])).toEqual({
      covered: [a],
      open: [ab],
      undecided: [],
    })
  })

  it('knows drift only as it was then, and goes by the last pass', () => {
    const ledger = noted([a, b], ['set x.a', 'set x.b'], ['set x.b'])
    expect(ledger.sortDrift([update('x.a', 9)])).toEqual({ covered: [], open: [], undecided: [update('x.a', 9)] })
    ledger.recordPass([a], ['set x.a'], { operations: ['set x.a'], answered: ['set x.a'], note: 'rule' })
    expect(ledger.sortDrift([a, b])).toEqual({ covered: [], open: [a, b], undecided: [] })
    expect(ledger.notes).toEqual(['rule'])
  })
})

describe('coveredByRules', () => {
  const indexed = update('x.c["k"]')
  const ask = async (operations: string[]) => {
    const world = await steps.world({
      scripts: { report_decomposed_task_operations: { args: { operations, explanation: 'rule' } } },
    })
    return (await findCoveredDrift(world.kit, [a, indexed])).covered.map(({ address }) => address)
  }
  it.each([
    ['everything', [], ['x.a', 'x.c["k"]']],
    ['all but an entry word for word', [JSON.stringify(indexed)], ['x.a']],
    ['all but an entry in other words', ['set x.c["k"]'], ['x.a']],
    ['all but an entry in other JSON', ['{"address": "x.c[\\"k\\"]"}'], ['x.a']],
    ['nothing, when an answer names no address', [JSON.stringify(a), 'and the rest'], []],
    [
      'nothing, when it answers more than it was sent',
      [JSON.stringify(a), JSON.stringify(indexed), 'x.a again', 'x.a more'],
      [],
    ],
  ])('%s', async (_, answer, covered) => {
    expect(await ask(answer)).toEqual(covered)
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

  it('asks again about an operation that was trimmed, address by address', async () => {
    const { left, excepted, world, result } = await run(
      reply(['set x.a', 'set x.b']),
      reply(['set size of x.a', 'set x.b'], 'x.a: tags, first rule'),
      reply([], 'x.a: tags, the same rule'),
    )
    expect([left, excepted]).toEqual([['x.b'], ['x.a']])
    const asked = said(world.llm.of('report_decomposed_task_operations')[2])
    expect(asked).toContain('x.a')
    expect(asked).not.toContain('x.b')
    expect(result.exclusions).toEqual(['x.a: tags, first rule', 'x.a: tags, the same rule'])
  })

  it('does not call covered what the splitter lost', async () => {
    const { left, excepted, result } = await run(
      reply(['set x.a']),
      reply([], 'x.a: rule'),
      reply(['{"address":"x.b","action":"update resource"}']),
    )
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
