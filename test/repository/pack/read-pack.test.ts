import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSlices } from '../../../src/base/slices.ts'
import { listFiles } from '../../../src/repository/pack/list-files.ts'
import { PACK_LIMITS, readPack } from '../../../src/repository/pack/read-pack.ts'
import { useFolder } from '../../helpers/folder.ts'
import { buildPack, commitOf, type DeltaEntry, doublingDelta, hashOf, type PackEntry, treeOf } from './build-pack.ts'

const read = (pack: Uint8Array) => readPack(pack, createSlices())
const list = async (pack: Uint8Array, commit: string) =>
  await listFiles(await read(pack), commit, { suffixes: [''], slices: createSlices() })
const paths = async (pack: Uint8Array, commit: string) => (await list(pack, commit)).map(({ path }) => path).sort()

const BLOB = hashOf('blob', Buffer.from('x'))
const tree = (contents: Buffer): PackEntry => ({ type: 'tree', contents })
const commit = (root: Buffer): PackEntry => ({ type: 'commit', contents: commitOf(hashOf('tree', root)) })
const commitHash = (root: Buffer) => hashOf('commit', commitOf(hashOf('tree', root)))

describe('packs that git wrote', () => {
  const folder = useFolder(beforeEach)
  it.each([
    ['offsets', ['--delta-base-offset']],
    ['hashes', []],
  ])('with deltas by %s list the same files as git', async (_, options) => {
    const git = (args: string[], input?: string) =>
      execFileSync('git', args, { cwd: folder.path, input, maxBuffer: 2 ** 26 })
    git(['init', '-q'])
    git(['config', 'user.email', 'a@b.c'])
    git(['config', 'user.name', 'a'])
    for (let round = 0; round < 4; round++) {
      for (let index = 0; index < 150; index++) {
        mkdirSync(join(folder.path, `live/${index % 7}`), { recursive: true })
        writeFileSync(join(folder.path, `live/${index % 7}/file-${index}-ü.tf`), `round ${round} `.repeat(index))
      }
      writeFileSync(join(folder.path, `only-${round}.md`), 'x')
      if (round === 0) symlinkSync('live', join(folder.path, 'link'))
      git(['add', '-A'])
      git(['commit', '-q', '-m', `round ${round}`])
    }
    const pack = git(['pack-objects', '--stdout', '--revs', '--window=50', '--depth=50', ...options], 'HEAD\n')
    const head = git(['rev-parse', 'HEAD']).toString().trim()
    const files = git(['ls-tree', '-r', '-z', 'HEAD']).toString().split('\0').filter(Boolean)
    const found = (await list(pack, head)).map(
      ({ path, hash, isLink }) => `${isLink ? 120000 : 100644} blob ${hash}\t${path}`,
    )
    expect(found.sort()).toEqual(files.sort())
    expect((await read(pack)).size).toBeGreaterThan(30)
    const all = await readPack(pack, createSlices(), { ...PACK_LIMITS, fileBytes: 2_000 })
    for (const { path, hash, isLink } of await list(pack, head)) {
      const contents = isLink ? Buffer.from('live') : readFileSync(join(folder.path, path))
      expect(all.get(hash)?.contents).toEqual(new Uint8Array(contents))
    }
    expect(all.size).toBeGreaterThan((await read(pack)).size + 100)
  })
})

describe('deltas', () => {
  const first = treeOf([['a.tf', BLOB]])
  const second = Buffer.concat([first, first.subarray(0)])

  it('may come before their base, and in a chain', async () => {
    const delta: DeltaEntry = { base: hashOf('tree', first), delta: doublingDelta(first.length, 2) }
    const chained: DeltaEntry = { base: 0, delta: doublingDelta(second.length, 1) }
    const objects = await read(buildPack([delta, chained, tree(first)]))
    expect(objects.get(hashOf('tree', second))?.contents).toEqual(new Uint8Array(second))
  })

  it('that wait for each other are left out', async () => {
    const [a, b] = ['aa'.repeat(20), 'bb'.repeat(20)]
    const delta = doublingDelta(10, 1)
    expect((await read(buildPack([{ base: a, delta }, { base: b, delta }, tree(first)]))).size).toBe(1)
  })

  it('of the contents of files are skipped', async () => {
    const blob: PackEntry = { type: 'blob', contents: Buffer.from('x'.repeat(100)) }
    const objects = await read(buildPack([blob, { base: 0, delta: doublingDelta(100, 3) }, tree(first)]))
    expect([...objects.keys()]).toEqual([hashOf('tree', first)])
  })

  it('of the contents of files are kept up to the limit of each', async () => {
    const contents = Buffer.from('x'.repeat(100))
    const blob: PackEntry = { type: 'blob', contents }
    const deltas = [2, 5].map((copies): DeltaEntry => ({ base: 0, delta: doublingDelta(100, copies) }))
    const pack = buildPack([blob, ...deltas, { type: 'blob', contents: Buffer.alloc(401) }])
    const objects = await readPack(pack, createSlices(), { ...PACK_LIMITS, fileBytes: 400 })
    expect([...objects.values()].map(({ kind, contents }) => [kind, contents.length])).toEqual([
      ['blob', 100],
      ['blob', 200],
    ])
  })

  it.each<[string, Buffer]>([
    ['another base', doublingDelta(first.length + 1, 1)],
    ['an unknown instruction', Buffer.from([first.length, 1, 0])],
    ['a copy beyond the base', Buffer.from([first.length, 9, 0x91, first.length - 1, 9])],
    ['more than it says', Buffer.from([first.length, 1, 2, 65, 65])],
    ['less than it says', Buffer.from([first.length, 3, 1, 65])],
    ['a cut instruction', Buffer.from([first.length, 1, 0x91, 0])],
    ['no sizes', Buffer.from([0x80, 0x80])],
  ])('with %s are refused', async (_, delta) => {
    await expect(read(buildPack([tree(first), { base: 0, delta }]))).rejects.toThrow(/delta|size/)
  })
})

describe('limits', () => {
  const limited = (pack: Buffer, limits: Partial<typeof PACK_LIMITS>) =>
    readPack(pack, createSlices(), { ...PACK_LIMITS, ...limits })
  const small = treeOf([['a.tf', BLOB]])

  it.each<[string, Buffer, Partial<typeof PACK_LIMITS>, string]>([
    ['objects', buildPack([tree(small)], { count: 11 }), { objects: 10 }, 'more than 10 objects'],
    ['the size of a tree', buildPack([tree(small)]), { objectBytes: 10 }, 'larger than 10 bytes'],
    ['a declared size', buildPack([tree(small)], { declared: () => 2 ** 40 }), {}, 'are larger than'],
    [
      'a delta’s result',
      buildPack([tree(small), { base: 0, delta: doublingDelta(small.length, 9) }]),
      { objectBytes: 200 },
      'larger than 200',
    ],
    ['all trees', buildPack([tree(small), tree(small)]), { keptBytes: 50 }, 'larger than 50 bytes'],
    ['memory', buildPack([tree(small), tree(small)]), { memoryBytes: 1_000 }, 'takes more than 1000 bytes'],
    [
      'all declared',
      buildPack([{ type: 'blob', contents: Buffer.alloc(99) }]),
      { declaredBytes: 50 },
      'larger than 50 bytes',
    ],
  ])('hold for %s', async (_, pack, limits, text) => {
    await expect(limited(pack, limits)).rejects.toThrow(text)
  })

  it('end the work when the signal fires', async () => {
    const slices = { due: () => true, pause: createSlices(AbortSignal.abort(new Error('gone'))).pause }
    await expect(readPack(buildPack([tree(small)]), slices)).rejects.toThrow('gone')
  })
})

describe('damage', () => {
  const root = treeOf([
    ['a.tf', BLOB],
    ['live/', hashOf('tree', treeOf([['b.tf', BLOB]]))],
  ])
  const good = buildPack([commit(root), tree(root), tree(treeOf([['b.tf', BLOB]]))])

  it('is refused wherever the pack is cut', async () => {
    expect(await paths(good, commitHash(root))).toEqual(['a.tf', 'live/b.tf'])
    for (let length = 0; length < good.length - 20; length++)
      await expect(list(good.subarray(0, length), commitHash(root))).rejects.toThrow()
  })

  it.each<[string, Buffer]>([
    ['no hash', Buffer.from('100644 a.tf\0short')],
    ['no name', Buffer.concat([Buffer.from('100644 \0'), Buffer.alloc(20)])],
    ['no mode', Buffer.concat([Buffer.alloc(30, 'x')])],
    ['a path for a name', treeOf([['a/b', BLOB]])],
    ['a step up', treeOf([['../', BLOB]])],
    ['a missing tree', treeOf([['live/', '11'.repeat(20)]])],
  ])('is found in a tree with %s', async (_, contents) => {
    await expect(list(buildPack([commit(contents), tree(contents)]), commitHash(contents))).rejects.toThrow(/tree/)
  })

  it('is found in a commit', async () => {
    const odd: PackEntry = { type: 'commit', contents: Buffer.from('tree nonsense') }
    await expect(list(buildPack([odd]), hashOf('commit', odd.contents))).rejects.toThrow('names no tree')
    await expect(list(buildPack([odd]), '11'.repeat(20))).rejects.toThrow('lacks a commit')
  })
})
