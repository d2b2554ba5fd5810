import { describe, expect, test } from 'vitest'
import { findHomeless, findUnused, findViolations } from '../../../dev/structure/borders.ts'
import type { ParsedFile } from '../../../dev/structure/parse.ts'
import type { Room } from '../../../dev/structure/rooms.ts'
import { readTable } from '../../../dev/structure/table.ts'
import { findOutOfStep, replaceRooms, writeTable } from '../../../dev/structure/written.ts'
import { createTree } from './tree.ts'

const room = (name: string, imports: string[] = [], more: Partial<Room> = {}): Room => ({
  ...{ name, imports, holds: `what ${name} holds`, node: false },
  ...more,
})
const ROOMS = [
  room('config'),
  room('src/base', ['config']),
  room('src/plan', ['src/base', 'config/deep']),
  room('src/rules', ['src/*', '!src/base'], { node: true }),
  room('work/kit', ['*', '!src/rules']),
  room('work', ['*']),
  room('work (entry)', ['work'], { paths: ['work/main.ts'] }),
]
const FILES = [
  ...['config/a.ts', 'config/deep/a.ts', 'src/base/a.ts', 'src/plan/a.ts', 'src/rules/plan/a.ts'],
  ...['work/kit/a.ts', 'work/a.ts', 'work/main.ts'],
]
const table = readTable(ROOMS, FILES)

const file = (path: string, ...targets: string[]): ParsedFile => ({
  ...{ path, lines: 1, longLines: [], functions: [] },
  imports: targets.map((target, index) => ({
    specifier: target,
    target: target.includes(':') ? null : target,
    line: index + 1,
    kind: 'type' as const,
  })),
})
const violations = (path: string, ...targets: string[]) =>
  findViolations([file(path, ...targets)], table).map(({ line, target, reason }) => `${line} ${target} ${reason}`)

describe('table of rooms', () => {
  test('the longest path decides where a file belongs', () => {
    expect(FILES.map(table.roomOf)).toEqual([
      ...['config', 'config', 'src/base', 'src/plan', 'src/rules', 'work/kit', 'work', 'work (entry)'],
    ])
  })

  test('a folder with rooms inside keeps only the files directly in it', () => {
    expect(table.roomOf('work/b.ts')).toBe('work')
    expect(table.roomOf('work/other/a.ts')).toBe(null)
    expect(table.roomOf('src/new/a.ts')).toBe(null)
    expect(table.roomOf('src/planning/a.ts')).toBe(null)
    const homeless = findHomeless(['work/other/a.ts', 'work/other/b.ts', 'src/plan/a.ts'], table)
    expect(homeless).toEqual(['work/other is in no room of the table (2 files).'])
  })

  test('an import upward is found, whatever the row says', () => {
    expect(violations('src/base/a.ts', 'config/a.ts', 'src/plan/a.ts', 'src/rules/plan/a.ts')).toEqual([
      '2 src/plan/a.ts upward',
      '3 src/rules/plan/a.ts upward',
    ])
    expect(violations('work/kit/a.ts', 'work/a.ts')).toEqual(['1 work/a.ts upward'])
  })

  test('a room below that the row does not name is forbidden, a part of it may be named alone', () => {
    expect(violations('src/plan/a.ts', 'config/a.ts', 'config/deep/a.ts', 'src/base/a.ts')).toEqual([
      '1 config/a.ts forbidden',
    ])
    expect(violations('src/rules/plan/a.ts', 'src/plan/a.ts', 'src/base/a.ts')).toEqual(['2 src/base/a.ts forbidden'])
    expect(violations('work/kit/a.ts', 'config/a.ts', 'src/base/a.ts', 'src/rules/plan/a.ts')).toEqual([
      '3 src/rules/plan/a.ts forbidden',
    ])
  })

  test('files of a room may import one another, and a room inside the folder is another room', () => {
    expect(violations('src/rules/plan/a.ts', 'src/rules/b.ts')).toEqual([])
    expect(violations('work/main.ts', 'work/a.ts', 'work/kit/a.ts')).toEqual(['2 work/kit/a.ts forbidden'])
    expect(violations('work/a.ts', 'work/main.ts')).toEqual(['1 work/main.ts upward'])
  })

  test('files at the root only where everything may be imported', () => {
    expect(violations('src/plan/a.ts', 'tool.config.ts')).toEqual(['1 tool.config.ts forbidden'])
    expect(violations('work/a.ts', 'tool.config.ts')).toEqual([])
  })

  test('modules of Node only where the row allows them', () => {
    expect(violations('src/plan/a.ts', 'node:fs')).toEqual(['1 node:fs node'])
    expect(violations('src/rules/plan/a.ts', 'node:fs')).toEqual([])
  })

  test('rooms that a row names and nothing imports are told', () => {
    const used = [file('src/base/a.ts', 'config/a.ts'), file('src/plan/a.ts', 'config/deep/a.ts')]
    expect(findUnused(used, table)).toEqual([
      { from: 'src/plan', to: 'src/base' },
      { from: 'work (entry)', to: 'work' },
    ])
  })

  test('mistakes of the table itself are told', () => {
    expect(table.errors).toEqual([])
    const rooms = [
      room('config', ['src/base']),
      room('src/base', ['src/bsae', '!config/x']),
      room('src/gone'),
      room('config'),
    ]
    expect(readTable(rooms, FILES).errors).toEqual([
      'Two rows of the table have the same name.',
      "src/base may import 'src/bsae', but no room before it has that name, and there is no such file.",
      "src/base may import '!config/x', but no room before it has that name, and there is no such file.",
      'src/gone holds no file.',
    ])
  })
})

describe('table in the page', () => {
  const page = 'before\n<!-- rooms: written by npm run structure -- --write -->\nold\n<!-- end of rooms -->\nafter\n'

  test('one row a room between the markers, the rest stays', () => {
    expect(replaceRooms(page, ROOMS.slice(-4))).toBe(`before
<!-- rooms: written by npm run structure -- --write -->

| Room | Holds | May import | \`node:\` |
|---|---|---|---|
| \`src/rules\` | what src/rules holds | \`src/*\`, not \`src/base\` | yes |
| \`work/kit\` | what work/kit holds | every room above, not \`src/rules\` | no |
| \`work\` | what work holds | every room above | no |
| \`work/main.ts\` | what work (entry) holds | \`work\` | no |

<!-- end of rooms -->
after
`)
    expect(replaceRooms(replaceRooms(page, ROOMS), ROOMS.slice(-4))).toBe(replaceRooms(page, ROOMS.slice(-4)))
  })

  test('a page without markers is an error', () => {
    expect(() => replaceRooms('no table', ROOMS)).toThrow('AGENTS.md needs the lines')
  })
})

describe('what is written from the table', () => {
  const page = '<!-- rooms: written by npm run structure -- --write -->\n<!-- end of rooms -->\n'

  test('is in step until the table or the page changes', async () => {
    await using tree = await createTree({ 'AGENTS.md': page })
    await writeTable(tree.root, table)
    expect(await findOutOfStep(tree.root, table)).toEqual([])
    const other = readTable([room('config', [], { node: true }), ...ROOMS.slice(1)], FILES)
    expect(await findOutOfStep(tree.root, other)).toEqual(['AGENTS.md is out of step with the table of rooms.'])
  })

  test('is told, not thrown, where a file is missing', async () => {
    await using tree = await createTree({ 'a.ts': '' })
    expect(await findOutOfStep(tree.root, table)).toHaveLength(1)
  })
})
