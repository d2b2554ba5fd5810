import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOMS } from '../../../dev/structure/rooms.ts'
import { COVERS, HELD_ELSEWHERE } from './covers.ts'
import { PARTS } from './parts.ts'
import { hashFiles, hashPart, readPasses } from './passed.ts'

describe('what the parts cover', () => {
  it('is told of every part, and nothing that is not there', async () => {
    expect(Object.keys(COVERS).sort()).toEqual(Object.keys(PARTS).sort())
    expect(Object.keys(PARTS)).toEqual(expect.arrayContaining(Object.keys(await readPasses())))
  })

  it.each(Object.keys(COVERS))('%s: names that exist', async (part) => {
    expect(await hashPart(part)).toMatch(/^[0-9a-f]{16}$/)
  })

  const covered = Object.values(COVERS).flat()
  it.each(
    ROOMS.map(({ name, paths = [name] }) => [name, paths] as const),
  )('holds the room %s, or something else does', (name, paths) => {
    const touches = (path: string) =>
      covered.some((entry) => entry === path || path.startsWith(`${entry}/`) || entry.startsWith(`${path}/`))
    expect(paths.some(touches)).toBe(!Object.hasOwn(HELD_ELSEWHERE, name))
  })
})

describe('the hash of files', () => {
  let root: string
  const write = (path: string, text: string) => writeFile(join(root, path), text)
  const hash = () => hashFiles(['covered', 'npm:openai'], root)

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'world-hash-'))
    await promisify(execFile)('git', ['init', '--quiet', root])
    await mkdir(join(root, 'covered'))
    await write('covered/a.ts', '1')
    await write('.gitignore', '*.log\n')
    await write('package.json', '{ "dependencies": { "openai": "1.0.0", "other": "1" } }')
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  it.each([
    ['a file that is changed', 'covered/a.ts', '2'],
    ['a new file', 'covered/b.ts', '1'],
    ['another version of a package', 'package.json', '{ "dependencies": { "openai": "1.0.1", "other": "1" } }'],
  ])('changes with %s', async (_, path, text) => {
    const before = await hash()
    await write(path, text)
    expect(await hash()).not.toBe(before)
  })

  it.each([
    ['files beside them', 'beside.ts', '1'],
    ['files that git ignores', 'covered/x.log', '1'],
    ['the version of another package', 'package.json', '{ "devDependencies": { "openai": "1.0.1", "other": "2" } }'],
  ])('stays with %s', async (_, path, text) => {
    const before = await hash()
    await write(path, text)
    expect(await hash()).toBe(before)
  })

  it('refuses names that lead nowhere', async () => {
    await symlink('a.ts', join(root, 'link'))
    for (const name of ['missing', 'link', 'npm:missing'])
      await expect(hashFiles([name], root), name).rejects.toThrow(name)
  })
})
