import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROJECT_ROOT } from '../../../dev/stack/data-folder.ts'
import { measure, summaryOf } from './measure.ts'
import { type MutationOptions, readOptions, UsageError } from './options.ts'
import { mutateRegex } from './regex.ts'
import { mutateSql } from './sql.ts'
import { findTests } from './tests.ts'

/** A project whose one test looks at the limit, and never at the name. */
const FILES: Record<string, string> = {
  'package.json': JSON.stringify({ type: 'module', scripts: { test: 'vitest run' } }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      ...{ target: 'es2024', module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true, types: [] },
      allowImportingTsExtensions: true,
    },
    include: ['src', 'test'],
  }),
  '.gitignore': 'node_modules/\n',
  'vitest.config.ts':
    "import { defineConfig } from 'vitest/config'\n" +
    "export default defineConfig({ test: { include: ['test/**/*.test.ts'] } })\n",
  'src/limit.ts': 'export const isOver = (count: number, limit: number): boolean => count > limit\n',
  'src/name.ts': "export const nameOf = (count: number): string => (count < 10 ? 'few' : 'many')\n",
  'test/limit.test.ts': `import { expect, it } from 'vitest'
import { isOver } from '../src/limit.ts'
import { nameOf } from '../src/name.ts'
it('is over', () => expect([1, 2, 3].map((count) => isOver(count, 2))).toEqual([false, false, true]))
it('has a name', () => expect(typeof nameOf(1)).toBe('string'))
`,
}

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'mutation-fixture-'))
  for (const [file, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(root, file)), { recursive: true })
    await writeFile(join(root, file), text)
  }
  await symlink(join(PROJECT_ROOT, 'node_modules'), join(root, 'node_modules'))
  await promisify(execFile)('git', ['init', '--quiet'], { cwd: root })
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options = (changes: Partial<MutationOptions>): MutationOptions => ({
  seed: 1,
  count: 100,
  areas: ['src'],
  relatedOnly: true,
  json: false,
  ...changes,
})

describe('a measurement', () => {
  it('tells what a test notices from what none does, in a copy that it removes', async () => {
    const lines: string[] = []
    const { tried, score, interval, refused } = await measure(root, options({ areas: ['src/limit.ts'] }), (line) =>
      lines.push(line),
    )
    expect(tried.map(({ replacement, outcome, killer }) => [replacement, outcome, killer]).sort()).toEqual([
      ['<=', 'killed', 'test/limit.test.ts: is over'],
      ['>=', 'killed', 'test/limit.test.ts: is over'],
      ['false', 'killed', 'test/limit.test.ts: is over'],
      ['true', 'killed', 'test/limit.test.ts: is over'],
    ])
    expect([score, interval?.high, refused]).toEqual([1, 1, 1])
    expect(lines).toContainEqual(expect.stringMatching(/^\d\/4 killed src\/limit\.ts:1 equality: > became >= /))
    for (const [file, text] of Object.entries(FILES)) expect(await readFile(join(root, file), 'utf8')).toBe(text)
    const [, copy = ''] = /^copy in (.+)$/m.exec(lines.join('\n')) ?? []
    expect([copy !== '', existsSync(copy)]).toEqual([true, false])
  })

  it('names what survives all tests, and draws the same mutants again for a seed', async () => {
    const area = options({ areas: ['src/name.ts'], count: 2, relatedOnly: false, seed: 7 })
    const first = await measure(root, area, () => {})
    expect(first.tried).toMatchObject([
      { file: 'src/name.ts', line: 1, outcome: 'survived', killer: null },
      { file: 'src/name.ts', line: 1, outcome: 'survived', killer: null },
    ])
    const [mutant] = first.tried
    expect(summaryOf(first)).toEqual([
      expect.stringContaining(`${mutant?.original} became ${mutant?.replacement}`),
      expect.stringContaining('survived src/name.ts:1 '),
      '0 of 2 mutants noticed by npm test: 0 % (0 % to 66 %), seed 7',
    ])
    expect((await measure(root, area, () => {})).tried).toEqual(first.tried)
  })

  it('does not count a test that fails without a mutant too', async () => {
    await writeFile(join(root, 'test/broken.test.ts'), "import { it } from 'vitest'\nit('fails', () => { throw 1 })\n")
    const all = options({ relatedOnly: false, count: 1 })
    await expect(measure(root, all, () => {})).rejects.toThrow(
      'fail without a mutant already: test/broken.test.ts: fails',
    )
    await rm(join(root, 'test/broken.test.ts'))
  })
})

describe('a run of tests', () => {
  it('that does not end is killed', async () => {
    const forever = "import { it } from 'vitest'\nit('ends', () => { for (;;); })\n"
    await writeFile(join(root, 'test/forever.test.ts'), forever)
    const tests = await findTests(root)
    expect(tests.files).toEqual(['test/forever.test.ts', 'test/limit.test.ts'])
    expect(await tests.run(['test/forever.test.ts'], 3_000)).toEqual({ kind: 'timeout' })
    await rm(join(root, 'test/forever.test.ts'))
    expect(await tests.run([], 1)).toEqual({ kind: 'passed' })
  })
})

describe('operators', () => {
  it.each([
    ['/^a+$/', ['/a+$/', '/^a$/', '/^a+/']],
    ['/[^x]\\d{2}/u', ['/[x]\\d{2}/u', '/[^x]\\D{2}/u', '/[^x]\\d/u']],
    ['/[ab]?(?<!c)/', ['/[^ab]?(?<!c)/', '/[ab](?<!c)/', '/[ab]?(?<=c)/']],
    ['/\\+\\[x/', []],
  ])('change %s', (literal, changed) => expect(mutateRegex(literal)).toEqual(changed))

  it('change conditions of SQL, and leave what is assigned alone', () => {
    expect(mutateSql('`UPDATE a SET b = 1, c = 2 WHERE d = 3 AND e IS NULL`').sort()).toEqual([
      '`UPDATE a SET b = 1, c = 2 WHERE d <> 3 AND e IS NULL`',
      '`UPDATE a SET b = 1, c = 2 WHERE d = 3 AND e IS NOT NULL`',
      '`UPDATE a SET b = 1, c = 2 WHERE d = 3 OR e IS NULL`',
    ])
    expect(mutateSql('`black AND white`')).toEqual([])
  })
})

describe('options', () => {
  it('have defaults and are checked', () => {
    expect(readOptions(['--seed', '3', '--area', 'src/plan/', '--related-only'])).toEqual({
      seed: 3,
      count: 60,
      areas: ['src/plan'],
      relatedOnly: true,
      json: false,
    })
    expect(readOptions(['--help'])).toBeNull()
    for (const wrong of [['--count', '0'], ['--seed', 'x'], ['--unheard-of'], ['stray']])
      expect(() => readOptions(wrong)).toThrow(UsageError)
  })
})
