import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../../dev/stack/data-folder.ts'
import { createOverrides } from '../../../dev/structure/lint.ts'
import { ROOMS, type Room } from '../../../dev/structure/rooms.ts'
import { listFiles } from '../../../dev/structure/survey.ts'
import { readTable, type Table } from '../../../dev/structure/table.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'borders-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A configuration of the lint that has only the borders as rules. */
const only = (overrides: unknown) => ({
  'biome.json': JSON.stringify({ linter: { rules: { preset: 'none' } }, overrides }),
})

/** Lints the files of a project; answers file and text of each import that is refused. */
async function lint(name: string, texts: Record<string, string>): Promise<string[]> {
  const project = join(folder, name)
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(project, path)), { recursive: true })
    await writeFile(join(project, path), text)
  }
  const biome = join(PROJECT_ROOT, 'node_modules/.bin/biome')
  const output = await new Promise<string>((resolve) => {
    const options = ['lint', '--reporter=github', '--max-diagnostics=none', '.']
    execFile(biome, options, { cwd: project, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout) => resolve(stdout))
  })
  const refused = output.matchAll(/title=lint\/style\/noRestrictedImports,file=([^,]+),line=(\d+)/g)
  return [...refused].map(([, file = '', line]) => `${file}: ${texts[file]?.split('\n')[Number(line) - 1]}`).sort()
}

/** A file of every room in each of its depths, and every file that the table names. */
function pickFiles(files: readonly string[], table: Table): string[] {
  const named = table.rooms.flatMap(({ name }) => [...table.allowedPaths(name), name])
  const housed = files.filter((file) => table.roomOf(file) !== null)
  const depths = housed.map((file): [string, string] => [`${table.roomOf(file)} ${file.split('/').length}`, file])
  return [...new Set([...new Map(depths).values(), ...housed.filter((file) => named.includes(file))])]
}

/** What the table says about each import of `targets` and of `node:fs` by each of the files. */
function judge(table: Table, files: readonly string[], targets: readonly string[]) {
  const texts: Record<string, string> = {}
  const refused: string[] = []
  for (const file of files) {
    const room = table.roomOf(file) ?? ''
    const lines = targets
      .filter((target) => target !== file)
      .map((target) => {
        const specifier = posix.relative(posix.dirname(file), target)
        return {
          specifier: specifier.startsWith('.') ? specifier : `./${specifier}`,
          allowed: table.allows(room, target),
        }
      })
    lines.push({ specifier: 'node:fs', allowed: table.rooms.some(({ name, node }) => name === room && node) })
    const statements = lines.map(({ specifier }, index) => `import type { A${index} } from '${specifier}'`)
    texts[file] = statements.join('\n')
    refused.push(...statements.filter((_, index) => !lines[index]?.allowed).map((text) => `${file}: ${text}`))
  }
  return { texts, refused: refused.sort() }
}

const room = (name: string, imports: string[] = [], more: Partial<Room> = {}): Room => ({
  ...{ name, imports, holds: 'something', node: false },
  ...more,
})

describe('borders of the lint', () => {
  test('refuse exactly what the table of the house forbids, from every depth of every room', async () => {
    const files = await listFiles(PROJECT_ROOT, ROOMS)
    const table = readTable(ROOMS, files)
    const picked = pickFiles(files, table)
    const { texts, refused } = judge(table, picked, [...picked, 'vitest.config.ts'])
    expect(refused.length).toBeGreaterThan(100)
    expect(await lint('house', { ...only(createOverrides(table, files)), ...texts })).toEqual(refused)
  })

  test('know every kind of row', async () => {
    const files = [
      ...['config/a.ts', 'config/deep/a.ts', 'src/base/a.ts', 'src/plan/a.ts', 'src/plan/deep/a.ts', 'src/one.ts'],
      ...['src/rules/a.ts', 'src/rules/plan/a.ts', 'src/rules/base/plan/a.ts', 'src/run/a.ts', 'src/run/free.ts'],
      ...['src/run/free/a.ts', 'work/a.ts', 'work/main.ts', 'work/start.ts', 'work/kit/a.ts', 'work/steps/a.ts'],
      ...['work/steps/kit/a.ts', 'test/a.ts', 'test/src/plan/a.ts', 'last/a.ts'],
    ]
    const rooms = [
      ...[room('config'), room('src/base', ['config/deep']), room('src/plan', ['src/base'], { node: true })],
      ...[room('src/rules', ['config', 'src/plan']), room('src/one.ts', ['src/*']), room('src/run', ['src/*'])],
      ...[room('work/kit', ['src/*', '!src/run', 'src/run/free.ts']), room('work/steps', ['work/*', 'src/run/free'])],
      ...[
        room('work', ['work/*']),
        room('work (entry)', ['*', '!src/base'], { paths: ['work/main.ts', 'work/start.ts'] }),
      ],
      ...[room('test', ['*']), room('last', ['*', '!test'])],
    ]
    const table = readTable(rooms, files)
    expect(table.errors).toEqual([])
    const { texts, refused } = judge(table, files, [...files, 'tool.config.ts'])
    expect(refused).toContainEqual(
      expect.stringMatching(/^src\/rules\/plan\/a\.ts: .* from '\.\.\/\.\.\/base\/a\.ts'$/),
    )
    expect(await lint('kinds', { ...only(createOverrides(table, files)), ...texts })).toEqual(refused)
  })

  test('see every way to name a module but the type `import(…)`', async () => {
    const files = ['src/base/a.ts', 'src/plan/a.ts']
    const table = readTable([room('src/base'), room('src/plan')], files)
    const statements = [
      "import a from '../base/a.ts'",
      "import type { B } from '../base/a.ts'",
      "import '../base/a.ts'",
      "export * from '../base/a.ts'",
      "export type { C } from '../base/a.ts'",
      "await import('../base/a.ts')",
      "type D = import('../base/a.ts').D",
    ]
    const refused = await lint('ways', {
      ...only(createOverrides(table, files)),
      'src/plan/a.ts': statements.join('\n'),
    })
    expect(refused).toEqual(
      statements
        .slice(0, -1)
        .map((text) => `src/plan/a.ts: ${text}`)
        .sort(),
    )
  })

  test('are part of the configuration of the project', async () => {
    const imports = {
      'src/rules/a.ts': '../sessions/a.ts',
      'src/rules/aws/a.ts': '../../sessions/a.ts',
      'src/rules/gcp/a.ts': '../../plan/a.ts',
      'pipeline/steps/apply/a.ts': 'node:fs',
      'pipeline/modes/a.ts': '../../eval/a.ts',
      'routes/v1/sessions/a.ts': '../../../src/runtime/a.ts',
      'routes/v1/health/a.ts': '../../../src/sessions/a.ts',
      'sidecars/iac/a.ts': '../../contracts/a.ts',
      'contracts/conformance/a.ts': '../../sidecars/iac/a.ts',
    }
    const allowed = ['src/rules/gcp/a.ts', 'routes/v1/health/a.ts']
    const text = (specifier: string) => `import type { A } from '${specifier}'`
    const own = ['biome.json', 'dev/structure/borders.json', '.gitignore'].map(
      async (path) => [path, await readFile(join(PROJECT_ROOT, path), 'utf8')] as const,
    )
    const refused = await lint('own', {
      ...Object.fromEntries(await Promise.all(own)),
      ...Object.fromEntries(Object.entries(imports).map(([path, specifier]) => [path, text(specifier)])),
    })
    const expected = Object.entries(imports).filter(([path]) => !allowed.includes(path))
    expect(refused).toEqual(expected.map(([path, specifier]) => `${path}: ${text(specifier)}`).sort())
  })
})
