import { describe, expect, test } from 'vitest'
import { parseFiles } from '../../../dev/structure/parse.ts'
import { createTree } from './tree.ts'

async function parse(text: string, path = 'src/plan/a.ts') {
  await using tree = await createTree({ [path]: text })
  const [file] = await parseFiles({ root: tree.root, paths: [path], measured: [path] })
  if (!file) throw new Error('nothing was parsed')
  return file
}

const imports = async (text: string, path?: string) =>
  (await parse(text, path)).imports.map(({ target, specifier, kind, line }) => `${line} ${kind} ${target ?? specifier}`)

describe('imports of a file', () => {
  test('statements, with and without names', async () => {
    expect(
      await imports(`import a, { b } from './b.ts'
import * as c from '../rules/c.ts'
import '../../config/d.ts'
import {
  e,
  type F,
} from '../base/e.ts'`),
    ).toEqual(['1 value src/plan/b.ts', '2 value src/rules/c.ts', '3 value config/d.ts', '7 value src/base/e.ts'])
  })

  test('types alone, as a statement and inside a type', async () => {
    const found = await imports(`import type { A } from './a1.ts'
export type { B } from './b.ts'
export type * from './c.ts'
let d: import('./d.ts').D
type E = typeof import('./e.ts')`)
    expect(found.sort()).toEqual([
      '1 type src/plan/a1.ts',
      '2 type src/plan/b.ts',
      '3 type src/plan/c.ts',
      '4 type src/plan/d.ts',
      '5 type src/plan/e.ts',
    ])
  })

  test('a statement whose names are all types still loads its module', async () => {
    expect(await imports("import { type A } from './b.ts'\nexport { type C } from './c.ts'")).toEqual([
      '1 value src/plan/b.ts',
      '2 value src/plan/c.ts',
    ])
  })

  test('what is passed on and what is loaded later', async () => {
    expect(
      await imports(`export { a } from './b.ts'
export * from './c.ts'
const d = await import('./d.ts')
const load = () => import(\`./e.ts\`)`),
    ).toEqual(['1 value src/plan/b.ts', '2 value src/plan/c.ts', '3 value src/plan/d.ts', '4 value src/plan/e.ts'])
  })

  test('packages and modules of Node have no target', async () => {
    expect(await imports("import { readFile } from 'node:fs/promises'\nimport * as v from 'valibot'")).toEqual([
      '1 value node:fs/promises',
      '2 value valibot',
    ])
  })

  test('texts, comments, patterns and templates that look like imports are none', async () => {
    expect(
      await imports(`// import a from './a1.ts'
/* export * from './a2.ts' */
const b = "import c from './a3.ts'"
const d = \`
import e from './a4.ts'
\`
const f = /import g from '.\\/a5.ts'/
const load = (name: string) => import(name)`),
    ).toEqual([])
  })

  test('two files do not need each other to be there', async () => {
    expect(await imports("import a from './missing.ts'", 'a.ts')).toEqual(['1 value missing.ts'])
  })
})

describe('sizes of a file', () => {
  test('lines, with and without a last line break', async () => {
    expect((await parse('const a = 1\nconst b = 2\n')).lines).toBe(2)
    expect((await parse('const a = 1\nconst b = 2')).lines).toBe(2)
    expect((await parse('')).lines).toBe(0)
  })

  test('lines over 120 columns', async () => {
    const { longLines } = await parse(`// ${'a'.repeat(117)}\n// ${'a'.repeat(118)}\n`)
    expect(longLines).toEqual([{ line: 2, columns: 121 }])
  })

  test('functions of every kind, from their first line to their last', async () => {
    const { functions } = await parse(`function a(
  b: string,
): void {
  const c = () => {
    b
  }
}
class D {
  constructor() {}
  get e() {
    return 1
  }
  f() {}
  abstract g(): void
}
const h = { i: function () {}, j() {} }
declare function k(): void
call(() => 1)`)
    expect(functions.map(({ name, line, lines }) => `${name} ${line} ${lines}`)).toEqual([
      'a 1 7',
      'c 4 3',
      'constructor 9 1',
      'e 10 3',
      'f 13 1',
      'i 16 1',
      'j 16 1',
      'a function without a name 18 1',
    ])
  })

  test('functions are measured only where they are asked for', async () => {
    await using tree = await createTree({ 'a.ts': 'function a() {}', 'b.ts': 'function b() {}' })
    const files = await parseFiles({ root: tree.root, paths: ['a.ts', 'b.ts'], measured: ['b.ts'] })
    expect(files.map(({ functions }) => functions.length)).toEqual([0, 1])
  })

  test('a file that is not there has its name in the error', async () => {
    await using tree = await createTree({ 'a.ts': '' })
    await expect(parseFiles({ root: tree.root, paths: ['a.ts', 'b.ts'], measured: [] })).rejects.toThrow(
      'TypeScript could not read b.ts.',
    )
  })
})
