import { execFile } from 'node:child_process'
import { appendFile, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { beforeEach, expect, test } from 'vitest'
import { createLocalGit, type LocalGit } from '../../../../pipeline/workspace/git/git.ts'
import { rememberReadings } from '../../../../pipeline/workspace/git/remembered.ts'
import { temporaryFolder } from '../../../helpers/folder.ts'
import { gitConfig } from '../../../repository/support.ts'

const folder = temporaryFolder()
const LIST = ['ls-files', '-z', '--modified', '--deleted', '--others', '--exclude-standard']
const DIFF = ['diff', '--name-only', 'HEAD']

let clone: string
let git: LocalGit
let commands: string[]
const plainGit = promisify(execFile)

beforeEach(async () => {
  clone = join(folder, crypto.randomUUID())
  await mkdir(join(clone, 'modules'), { recursive: true })
  for (const name of ['main.tf', 'modules/a.tf']) await writeFile(join(clone, name), 'locals {}\n')
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'first'],
  ])
    await run(...args)
  const directory = join(clone, '.git')
  const place = { directory: join(folder, `${crypto.randomUUID()}.git`), workTree: clone }
  await rename(directory, place.directory)
  const plain = createLocalGit(gitConfig({}), place)
  commands = []
  const counted: LocalGit = (args, options) => {
    commands.push(args[0] ?? '')
    return plain(args, options)
  }
  git = rememberReadings(counted, place, (name) => name === '.terraform' || name.endsWith('.plan'))
  await settle()
})

const run = (...args: string[]) =>
  plainGit('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: clone })

/** What was written just now is not remembered. */
const settle = () => sleep(80)

/** A removed file is listed twice. */
const list = async () => [...new Set((await git(LIST)).stdout.split('\0').filter(Boolean))].sort()

test('repeats no listing while nothing changes', async () => {
  await writeFile(join(clone, 'new.tf'), 'x')
  await settle()
  for (let turn = 0; turn < 3; turn++) {
    expect(await list()).toEqual(['new.tf'])
    expect((await git(DIFF)).stdout).toBe('')
  }
  expect(commands).toEqual(['ls-files', 'diff'])
})

test('what no listing is asked for does not count', async () => {
  await list()
  await mkdir(join(clone, '.terraform'))
  await writeFile(join(clone, '.terraform/state'), 'x')
  await writeFile(join(clone, 'session.plan'), 'x')
  await list()
  expect(commands).toHaveLength(1)
})

test.each<[string, () => Promise<unknown>, string[]]>([
  ['a text of the same length', () => writeFile(join(clone, 'main.tf'), 'locals {}!'), ['main.tf']],
  ['a file in a folder', () => writeFile(join(clone, 'modules/b.tf'), 'x'), ['modules/b.tf']],
  ['a file in a new folder', () => makeFile('deep/er/b.tf'), ['deep/er/b.tf']],
  ['a removed file', () => rm(join(clone, 'main.tf')), ['main.tf']],
  ['a renamed file', () => rename(join(clone, 'main.tf'), join(clone, 'other.tf')), ['main.tf', 'other.tf']],
])('notices %s at once', async (_, change, expected) => {
  expect(await list()).toEqual([])
  await change()
  expect(await list()).toEqual(expected)
  await settle()
  expect(await list()).toEqual(expected)
  expect(await list()).toEqual(expected)
})

test('notices changes that follow one another within a step of the clock', async () => {
  for (let turn = 0; turn < 30; turn++) {
    await writeFile(join(clone, 'main.tf'), `locals {${turn % 2}`)
    expect((await git(['diff', '--unified=0', 'HEAD'])).stdout).toContain(`+locals {${turn % 2}`)
  }
})

test('notices a changed ignore rule, and a changed index', async () => {
  await writeFile(join(clone, 'new.tf'), 'x')
  await settle()
  expect(await list()).toEqual(['new.tf'])
  await writeFile(join(clone, '.gitignore'), 'new.tf\n')
  expect(await list()).toEqual(['.gitignore'])
  await settle()
  expect(await list()).toEqual(['.gitignore'])
  await git(['update-index', '--add', '.gitignore'])
  expect(await list()).toEqual([])
  await git(['commit', '--quiet', '--message=second'])
  expect((await git(DIFF)).stdout).toBe('')
})

async function makeFile(path: string) {
  await mkdir(join(clone, path, '..'), { recursive: true })
  await writeFile(join(clone, path), 'x')
}

test('gives a remembered listing to who takes it in chunks, and ends where they have enough', async () => {
  for (const name of ['a', 'b', 'c']) await writeFile(join(clone, name), 'x')
  await settle()
  const takeAll = async (most: number) => {
    const taken: string[] = []
    const consume = (chunk: Buffer) => {
      taken.push(...chunk.toString().split('\0').filter(Boolean))
      return taken.length <= most
    }
    return { stopped: (await git(LIST, { consume })).stopped, taken }
  }
  const first = await takeAll(10)
  expect(first).toEqual({ stopped: null, taken: ['a', 'b', 'c'] })
  expect(await takeAll(10)).toEqual(first)
  expect((await takeAll(1)).stopped).toBe('output')
  expect(commands).toHaveLength(1)
  await appendFile(join(clone, 'd'), 'x')
  expect((await takeAll(10)).taken).toEqual(['a', 'b', 'c', 'd'])
})

test('reads a clone of many files anew each time', async () => {
  for (let index = 0; index < 320; index++) await writeFile(join(clone, `f${index}`), 'x')
  await settle()
  expect(await list()).toHaveLength(320)
  expect(await list()).toHaveLength(320)
  expect(commands).toHaveLength(2)
})

test('reads an object once, and one that is missing again', async () => {
  const object = (await git(['rev-parse', 'HEAD:main.tf'])).stdout.trim()
  const read = async (name: string) => {
    let text = ''
    const consume = (chunk: Buffer) => {
      text += chunk.toString()
      return true
    }
    await git(['cat-file', '--batch'], { input: `${name}\n`, consume })
    return text
  }
  for (let turn = 0; turn < 2; turn++) expect(await read(object)).toContain('locals {}')
  const later = join(clone, 'later')
  await writeFile(later, 'fetched later')
  const missing = (await git(['hash-object', later])).stdout.trim()
  commands.length = 0
  expect(await read(missing)).toContain('missing')
  expect((await git(['cat-file', '-e', missing])).code).not.toBe(0)
  await git(['hash-object', '-w', later])
  expect(await read(missing)).toContain('fetched later')
  expect((await git(['cat-file', '-e', missing])).code).toBe(0)
})
