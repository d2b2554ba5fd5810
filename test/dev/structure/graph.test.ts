import { describe, expect, test } from 'vitest'
import { buildGraph, type Cycle } from '../../../dev/structure/graph.ts'
import type { ParsedFile } from '../../../dev/structure/parse.ts'
import { roomByFolder } from '../../../dev/structure/table.ts'

/** Files by what they import: `a.ts` by value, `type a.ts` for its types. */
function parsed(files: Record<string, string[]>): ParsedFile[] {
  return Object.entries(files).map(([path, imports]) => ({
    ...{ path, lines: 1, longLines: [], functions: [] },
    imports: imports.map((entry, index) => {
      const target = entry.replace('type ', '')
      return {
        specifier: target,
        target,
        line: index + 1,
        kind: entry === target ? ('value' as const) : ('type' as const),
      }
    }),
  }))
}

const build = (files: Record<string, string[]>) => buildGraph(parsed(files), roomByFolder)
const members = (cycles: Cycle[]) => cycles.map((cycle) => cycle.members.join(' '))

describe('rooms and the imports between them', () => {
  test('imports between the same two rooms are one edge', () => {
    const { edges } = build({
      'src/a/1.ts': ['src/b/1.ts', 'type src/b/2.ts', 'src/a/2.ts'],
      'src/a/2.ts': ['src/b/1.ts', 'src/c.ts'],
    })
    expect(edges.map(({ from, to, ties }) => `${from} ${to} ${ties.length}`)).toEqual([
      'src/a src/b 3',
      'src/a src/c.ts 1',
    ])
  })

  test('a cycle of values names its rooms and the imports that close it', () => {
    const { roomCycles } = build({
      'src/a/1.ts': ['src/b/1.ts'],
      'src/b/2.ts': ['src/c/1.ts'],
      'src/c/2.ts': ['src/a/2.ts', 'src/d/1.ts'],
    })
    expect(members(roomCycles.values)).toEqual(['src/a src/b src/c'])
    expect(roomCycles.values[0]?.ties.map(({ file, target }) => `${file} ${target}`)).toEqual([
      'src/a/1.ts src/b/1.ts',
      'src/b/2.ts src/c/1.ts',
      'src/c/2.ts src/a/2.ts',
    ])
    expect(roomCycles.types).toEqual([])
  })

  test('a cycle that only types close, and one that types make larger, count as cycles of types', () => {
    const { roomCycles } = build({
      'src/a/1.ts': ['src/b/1.ts'],
      'src/b/1.ts': ['type src/a/1.ts'],
      'src/c/1.ts': ['src/d/1.ts'],
      'src/d/1.ts': ['src/c/1.ts', 'type src/e/1.ts'],
      'src/e/1.ts': ['src/c/1.ts'],
    })
    expect(members(roomCycles.values)).toEqual(['src/c src/d'])
    expect(members(roomCycles.types)).toEqual(['src/c src/d src/e', 'src/a src/b'])
  })

  test('a graph with many ways to the same room has no cycle', () => {
    const { roomCycles, fileCycles } = build({
      'src/a/1.ts': ['src/b/1.ts', 'src/c/1.ts', 'src/d/1.ts'],
      'src/b/1.ts': ['src/c/1.ts', 'src/d/1.ts'],
      'src/c/1.ts': ['src/d/1.ts'],
      'src/d/1.ts': [],
    })
    expect([roomCycles, fileCycles]).toEqual([
      { values: [], types: [] },
      { values: [], types: [] },
    ])
  })

  test('files of one room can run in a circle, and a file can import itself', () => {
    const { roomCycles, fileCycles } = build({
      'src/a/1.ts': ['src/a/2.ts'],
      'src/a/2.ts': ['type src/a/1.ts'],
      'src/a/3.ts': ['src/a/3.ts'],
    })
    expect(roomCycles).toEqual({ values: [], types: [] })
    expect(members(fileCycles.values)).toEqual(['src/a/3.ts'])
    expect(members(fileCycles.types)).toEqual(['src/a/1.ts src/a/2.ts'])
  })

  test('two cycles that do not touch are two', () => {
    const { fileCycles } = build({
      'src/a/1.ts': ['src/a/2.ts', 'src/b/1.ts'],
      'src/a/2.ts': ['src/a/1.ts'],
      'src/b/1.ts': ['src/b/2.ts'],
      'src/b/2.ts': ['src/b/1.ts'],
    })
    expect(members(fileCycles.values).sort()).toEqual(['src/a/1.ts src/a/2.ts', 'src/b/1.ts src/b/2.ts'])
  })
})

describe('rooms by folder', () => {
  test.each([
    ['src/plan/deep/a.ts', 'src/plan'],
    ['src/context.ts', 'src/context.ts'],
    ['pipeline/steps/apply/a.ts', 'pipeline/steps'],
    ['pipeline/run.ts', 'pipeline'],
    ['sidecars/iac/a.ts', 'sidecars/iac'],
    ['sidecars/main.ts', 'sidecars'],
    ['routes/v1/a.ts', 'routes'],
    ['config/a.ts', 'config'],
  ])('%s is in %s', (path, room) => expect(roomByFolder(path)).toBe(room))
})
