import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../dev/stack/data-folder.ts'
import { findCycle, readImports } from '../../dev/structure/imports.ts'
import type { Room } from '../../dev/structure/rooms.ts'
import { readTable, writeRooms } from '../../dev/structure/table.ts'

const room = (name: string, imports: string[] = [], more: Partial<Room> = {}): Room => ({
  ...{ name, imports, holds: `what ${name} holds` },
  ...more,
})
const ROOMS = [
  room('config'),
  room('src/base', ['config']),
  room('src/plan', ['src/base', 'config/deep']),
  room('src/rules', ['src/*', '!src/base'], { node: true }),
  room('work/kit', ['*', '!src/rules']),
  room('work', ['*'], { paths: ['work', 'work/inner'], node: ['work/inner'], entries: ['work/main.ts'] }),
  room('last'),
]
const FILES = [
  ...['config/a.ts', 'config/deep/a.ts', 'src/base/a.ts', 'src/plan/a.ts', 'src/rules/plan/a.ts'],
  ...['work/kit/a.ts', 'work/a.ts', 'work/inner/a.ts', 'work/main.ts', 'last/a.ts'],
]
const table = readTable(ROOMS, FILES)

test('npm run structure finds this repository in order', async () => {
  const options = { cwd: PROJECT_ROOT, maxBuffer: 64 * 1024 * 1024 }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['dev/structure.ts'], options)
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^ +\d+ +\d+ {2}src\/plan$/m)
})

describe('table of rooms', () => {
  test.each([
    ...FILES.map((file, index) => [
      file,
      ['config', 'config', 'src/base', 'src/plan', 'src/rules', 'work/kit', 'work', 'work', 'work', 'last'][index],
    ]),
    ['work/other/a.ts', undefined],
    ['src/new/a.ts', undefined],
    ['src/planning/a.ts', undefined],
  ])('%s belongs to %s', (path, name) => expect(table.roomOf(path ?? '')?.name).toBe(name))

  const upward = (name: string, other: string) => `${other} stands below ${name}.`
  const forbidden = (name: string) => `The row of ${name} does not name it.`
  test.each([
    ['src/base/a.ts', 'config/a.ts', null],
    ['src/base/a.ts', 'src/plan/a.ts', upward('src/base', 'src/plan')],
    ['work/kit/a.ts', 'work/a.ts', upward('work/kit', 'work')],
    ['src/plan/a.ts', 'config/a.ts', forbidden('src/plan')],
    ['src/plan/a.ts', 'config/deep/a.ts', null],
    ['src/rules/plan/a.ts', 'src/plan/a.ts', null],
    ['src/rules/plan/a.ts', 'src/base/a.ts', forbidden('src/rules')],
    ['src/rules/plan/a.ts', 'src/rules/b.ts', null],
    ['work/kit/a.ts', 'src/base/a.ts', null],
    ['work/kit/a.ts', 'src/rules/plan/a.ts', forbidden('work/kit')],
    ['work/main.ts', 'work/a.ts', null],
    ['work/a.ts', 'last/a.ts', upward('work', 'last')],
    ['work/main.ts', 'last/a.ts', null],
    ['work/main.ts', 'node:fs', null],
    ['work/a.ts', 'node:fs', 'work may not import node: modules.'],
    ['work/inner/a.ts', 'node:fs', null],
    ['src/plan/a.ts', 'tool.config.ts', forbidden('src/plan')],
    ['work/a.ts', 'tool.config.ts', null],
    ['src/plan/a.ts', 'node:fs', 'src/plan may not import node: modules.'],
    ['src/rules/plan/a.ts', 'node:fs', null],
  ])('%s imports %s: %s', (path, target, reason) => {
    const importer = table.roomOf(path)
    expect(importer && table.refuse(importer, path, target)).toBe(reason)
  })

  test('mistakes of the table itself are errors', () => {
    expect(table.errors).toEqual([])
    const rooms = [room('config', ['src/base']), room('src/base', ['src/bsae', '!config/x']), room('src/gone')]
    expect(readTable([...rooms, room('src/gone')], ['config/a.ts', 'src/base/a.ts', 'other/a.ts']).errors).toEqual([
      'Two rows have the same name.',
      "src/base may import 'src/bsae', which is neither a row above nor a file.",
      "src/base may import '!config/x', which is neither a row above nor a file.",
      'src/gone holds no file.',
      'src/gone holds no file.',
      'other is in no room.',
    ])
  })

  test('is written between the markers of a page', () => {
    const page = 'before\n<!-- rooms: written by npm run structure -- --write -->\nold\n<!-- end of rooms -->\nafter\n'
    expect(writeRooms(page, ROOMS.slice(-4))).toBe(`before
<!-- rooms: written by npm run structure -- --write -->

| Room | Holds | May import | \`node:\` |
|---|---|---|---|
| \`src/rules\` | what src/rules holds | \`src/*\`, not \`src/base\` | yes |
| \`work/kit\` | what work/kit holds | every room above, not \`src/rules\` | no |
| \`work\`, \`work/inner\` | what work holds | every room above | only \`work/inner\`, \`work/main.ts\` |
| \`last\` | what last holds | nothing of ours | no |

<!-- end of rooms -->
after
`)
    expect(() => writeRooms('no table', ROOMS)).toThrow('needs the lines')
  })
})

test('every way to name a file or a module of Node is read, and nothing else', () => {
  const text = `import a, { b } from './b.ts'
import * as v from 'valibot'
import '../../config/d.ts'
import type { A } from './e.ts'
export type * from './f.ts'
export { g } from './g.ts'
type H = typeof import('./h.ts')
const load = (name: string) => [import(name), import(\`./i.ts\`), import('node:fs')]
// import a from './j.ts'
const k = "import c from './k.ts'"
await using l = load('l')
`
  expect(readImports('src/plan/a.ts', text).map(({ line, target }) => `${line} ${target}`)).toEqual([
    ...['1 src/plan/b.ts', '3 config/d.ts', '4 src/plan/e.ts', '5 src/plan/f.ts', '6 src/plan/g.ts'],
    ...['7 src/plan/h.ts', '8 src/plan/i.ts', '8 node:fs'],
  ])
  expect(() => readImports('src/plan/a.ts', 'import {')).toThrow('src/plan/a.ts: ')
})

test.each([
  [{ a: ['b', 'c', 'd'], b: ['c', 'd'], c: ['d'], d: [] }, null],
  [{ x: ['a'], a: ['b'], b: ['c', 'e'], c: ['a'], e: [] }, ['a', 'b', 'c', 'a']],
  [{ a: ['b'], b: ['b'] }, ['b', 'b']],
])('the cycle of %j is %j', (graph, cycle) => {
  expect(findCycle(new Map(Object.entries(graph)))).toEqual(cycle)
})
