import { describe, expect, it } from 'vitest'
import type { PlannedResource } from '../../../console/client/api/client.ts'
import { boxWith, draw, MOST_BOXES } from '../../../console/screens/graph/drawing/grouping.ts'
import { arrange } from '../../../console/screens/graph/drawing/layout-worker.ts'
import { nextPlace } from '../../../console/screens/graph/drawing/use-layout.ts'
import {
  buildGraph,
  byUrgency,
  countActions,
  dependentsOf,
  isCriticalLoss,
  select,
} from '../../../console/screens/graph/graph-model.ts'

const NOTHING_OPEN = { open: new Set<string>(), apart: null }

const resource = (address: string, depends_on: string[] = [], more: Partial<PlannedResource> = {}) =>
  ({
    address,
    module_address: null,
    type: address.split('.').at(-2) ?? '',
    name: address.split('.').at(-1) ?? '',
    index: null,
    deposed: null,
    action: 'none',
    is_critical: false,
    depends_on,
    depends_on_left_out: 0,
    findings: [],
    ...more,
  }) as unknown as PlannedResource

describe('the graph of a plan', () => {
  it('ties resources, bears missing and repeated addresses, and forgets a resource that needs itself', () => {
    const graph = buildGraph([
      resource('a.a'),
      resource('a.b', ['a.a', 'a.a', 'a.b', 'a.gone'], { depends_on_left_out: 2 }),
      resource('a.a', ['a.b'], { deposed: 'x1' }),
    ])
    expect(graph.needs).toEqual([[], [0], [1]])
    expect(graph.neededBy).toEqual([[1], [2], []])
    expect(graph.elsewhere).toEqual([0, 3, 0])
    expect(graph.byKey.get('a.a (deposed x1)')).toBe(2)
  })

  it('follows dependents over any detour, and through cycles', () => {
    const graph = buildGraph([
      resource('a.a', ['a.c']),
      resource('a.b', ['a.a']),
      resource('a.c', ['a.b']),
      resource('a.d', ['a.c']),
      resource('a.e'),
    ])
    expect([...dependentsOf(graph, 0)].toSorted()).toEqual([1, 2, 3])
    expect(dependentsOf(graph, 4).size).toBe(0)
  })

  it('selects by action, and what changes with its neighbours', () => {
    const graph = buildGraph([
      resource('net.vpc'),
      resource('net.subnet', ['net.vpc'], { action: 'update' }),
      resource('app.vm', ['net.subnet']),
      resource('app.log', ['app.vm']),
    ])
    const all = { action: null, changesOnly: false }
    expect(select(graph, all)).toEqual([0, 1, 2, 3])
    expect(select(graph, { ...all, changesOnly: true })).toEqual([0, 1, 2])
    expect(select(graph, { ...all, action: 'update' })).toEqual([1])
  })

  it('puts critical losses first, and a critical resource that is only changed is none', () => {
    const graph = buildGraph([
      resource('a.kept'),
      resource('a.gone', [], { action: 'delete' }),
      resource('a.data', [], { action: 'replace', is_critical: true }),
      resource('a.changed', [], { action: 'update', is_critical: true }),
    ])
    expect(byUrgency(graph, [0, 1, 2, 3])).toEqual([2, 1, 3, 0])
    expect(graph.resources.map(isCriticalLoss)).toEqual([false, false, true, false])
    expect(countActions(graph.resources).map(([action]) => action)).toEqual(['delete', 'replace', 'update', 'none'])
  })
})

describe('the drawing', () => {
  const many = (count: number, module: (index: number) => string | null) =>
    buildGraph(
      Array.from({ length: count }, (_, index) =>
        resource(`m.r${index}`, index === 0 ? [] : [`m.r${index - 1}`], { module_address: module(index) }),
      ),
    )
  const everything = (count: number) => Array.from({ length: count }, (_, index) => index)

  it('gives each resource its box while they are few, and collapses modules when they are many', () => {
    const few = many(MOST_BOXES, () => 'module.a')
    expect(draw(few, everything(MOST_BOXES), NOTHING_OPEN).boxes).toHaveLength(MOST_BOXES)
    const graph = many(400, (index) => `module.m${index % 4}`)
    const drawing = draw(graph, everything(400), NOTHING_OPEN)
    expect(drawing.boxes.map(({ group }) => group?.title)).toEqual(['module.m0', 'module.m1', 'module.m2', 'module.m3'])
    expect(drawing.ties).toHaveLength(4)
    const opened = draw(graph, everything(400), { open: new Set(['mmodule.m0']), apart: 5 })
    expect(opened.boxes).toHaveLength(100 + 3 + 1)
    expect(boxWith(opened, 5)).toBe('r5')
    expect(boxWith(opened, 4)).toBe('r4')
    expect(boxWith(opened, 6)).toBe('mmodule.m2')
  })

  it('draws a critical loss by itself, also among many', () => {
    const resources = many(400, () => 'module.a').resources.map((one, index) =>
      index === 7 ? { ...one, action: 'delete' as const, is_critical: true } : one,
    )
    expect(boxWith(draw(buildGraph(resources), everything(400), NOTHING_OPEN), 7)).toBe('r7')
  })

  it('draws no more than a few hundred boxes of ten thousand resources, each in exactly one', () => {
    for (const module of [
      () => null,
      (index: number) => `module.a["${index}"]`,
      (index: number) => `module.m${index}`,
    ]) {
      const graph = many(10_000, module)
      const { boxes, ties } = draw(graph, everything(10_000), NOTHING_OPEN)
      expect(boxes.length).toBeLessThanOrEqual(MOST_BOXES)
      expect(boxes.flatMap(({ members }) => members).toSorted((a, b) => a - b)).toEqual(everything(10_000))
      expect(ties.length).toBeLessThanOrEqual(1_500)
    }
  })
})

describe('the layout', () => {
  const size = { width: 100, height: 50 }
  it('puts what is needed to the left, bears cycles, and keeps loose boxes apart from the others', () => {
    const places = arrange({
      sizes: [size, size, size, size],
      ties: [
        [0, 1],
        [1, 2],
        [2, 1],
      ],
    })
    const [a, b, , loose] = places
    expect(a?.x).toBeLessThan(b?.x ?? 0)
    expect(loose?.y).toBeGreaterThan(Math.max(...places.slice(0, 3).map(({ y }) => y + size.height)))
    expect(new Set(places.map(({ x, y }) => `${x} ${y}`)).size).toBe(4)
  })

  it('moves to the next box in a direction, and stays at the edge', () => {
    const places = [
      { x: 0, y: 0 },
      { x: 300, y: 0 },
      { x: 300, y: 80 },
    ]
    expect(nextPlace(places, 0, 'ArrowRight')).toBe(1)
    expect(nextPlace(places, 1, 'ArrowDown')).toBe(2)
    expect(nextPlace(places, 2, 'ArrowLeft')).toBe(0)
    expect(nextPlace(places, 0, 'ArrowUp')).toBeNull()
  })
})
