import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../../dev/stack/data-folder.ts'
import { createTree } from './tree.ts'

/** Exit code and what was printed. */
function structure(...options: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const settings = { cwd: PROJECT_ROOT, maxBuffer: 64 * 1024 * 1024 }
  return promisify(execFile)(process.execPath, ['dev/structure.ts', ...options], settings).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

describe('npm run structure', () => {
  test('the house is in order: no cycle, no border crossed, AGENTS.md in step with the table', async () => {
    const { code, stdout, stderr } = await structure('--json')
    expect(stderr).toBe('')
    const { failures, parts } = JSON.parse(stdout)
    expect(failures).toEqual([])
    expect(parts.map(({ name }: { name: string }) => name)).toEqual([
      'src',
      'pipeline',
      'sidecars',
      'together',
      'whole',
    ])
    expect(parts[0].edges).toBeGreaterThan(20)
    expect(code).toBe(0)
  })

  test('a cycle fails, with the imports that close it', async () => {
    await using tree = await createTree({
      'src/a/1.ts': "import { b } from '../b/1.ts'\nexport const a = b\n",
      'src/b/1.ts': "import type { A } from '../a/2.ts'\nexport const b = 1\n",
      'src/a/2.ts': 'export type A = 1\n',
    })
    const { code, stdout } = await structure('--root', tree.root)
    expect(stdout).toContain(`Rooms that import one another once types count: src/a, src/b
  src/a/1.ts:1 imports src/b/1.ts
  src/b/1.ts:1 imports src/a/2.ts (types)
`)
    expect(code).toBe(1)
  })

  test('missed aims are told and fail nothing; --all says where', async () => {
    const lines = Array.from({ length: 61 }, (_, index) => `  call(${index})`)
    await using tree = await createTree({
      'src/a/1.ts': `export function long() {\n${lines.join('\n')}\n}\n`,
      'src/a/2.ts': "import { long } from './1.ts'\nlong()\n",
    })
    const short = await structure('--root', tree.root)
    expect(short.stdout).toMatch(/^functions over 60 lines +1 +none +missed$/m)
    expect(short.stdout).toMatch(/^files of 20 lines or fewer +1 of 2 \(50\.0 %\) +under 8 % +missed$/m)
    expect(short.stdout).not.toContain('long')
    expect(short.code).toBe(0)
    const { stdout, code } = await structure('--root', tree.root, '--all')
    expect(stdout).toContain('Long functions\n  src/a/1.ts:1 long: 63\n')
    expect(stdout).toContain('Files with one importer\n  src/a/1.ts, by src/a/2.ts\n')
    expect(code).toBe(0)
  })

  test('--help, wrong arguments and a folder without code', async () => {
    expect(await structure('--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Usage: npm run structure'),
    })
    expect(await structure('--alll')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Unknown option '--alll'"),
    })
    expect(await structure('extra')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('npm run structure -- --help'),
    })
    expect(await structure('--write', '--root', '.')).toMatchObject({ code: 2, stdout: '' })
    await using tree = await createTree({ 'a.md': '' })
    expect(await structure('--root', tree.root)).toMatchObject({
      code: 2,
      stderr: `The structure could not be measured: there is no code in ${tree.root}.\n`,
    })
  })
})
