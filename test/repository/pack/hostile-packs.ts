import { randomBytes } from 'node:crypto'
import { deflateRawSync, deflateSync } from 'node:zlib'
import { buildPack, commitOf, type DeltaEntry, doublingDelta, hashOf, type PackEntry, treeOf } from './build-pack.ts'

/** The answer of an attacker's server. */
export interface HostilePack {
  name: string
  /** Makes HEAD and its pack, on demand because some are large. */
  build: () => { head: string; pack: Buffer }
  /** True if the attack is harmless and the repository is read; otherwise it is refused. */
  isRead?: boolean
}

const MIB = 1024 * 1024
const BLOB = hashOf('blob', Buffer.from('x'))
const blob = (contents: Buffer): PackEntry => ({ type: 'blob', contents })
const tree = (contents: Buffer): PackEntry => ({ type: 'tree', contents })
const treeHash = (contents: Buffer) => hashOf('tree', contents)

/** Makes a pack with a valid commit whose root is the tree, and further entries. */
function packOf(root: Buffer, others: readonly (PackEntry | DeltaEntry)[], options?: Parameters<typeof buildPack>[1]) {
  const commit = commitOf(treeHash(root))
  const pack = buildPack([{ type: 'commit', contents: commit }, tree(root), ...others], options)
  return { head: hashOf('commit', commit), pack }
}

const GOOD_ROOT = treeOf([['main.tf', BLOB]])
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** Creates a compressor with a cache, because attacks are repetitive. */
function createCompressor(): (contents: Buffer) => Buffer {
  const known = new Map<Buffer, Buffer>()
  return (contents) => {
    const found = known.get(contents) ?? deflateSync(contents, { level: 9 })
    known.set(contents, found)
    return found
  }
}

/** Makes a pack with so many entries of the same contents beside a good root. */
function crowd(count: number, entryOf: (contents: Buffer) => PackEntry, contents: Buffer) {
  const entry = entryOf(contents)
  return packOf(
    GOOD_ROOT,
    many(count, () => entry),
    { compress: createCompressor() },
  )
}

/** Makes trees that each name the one before ten times, so that there are ten to the power of `levels` paths. */
function multiplied(levels: number, leaf: Buffer): Buffer[] {
  const trees = [leaf]
  for (let level = 0; level < levels; level++) {
    const last = treeHash(trees.at(-1) ?? leaf)
    trees.push(treeOf(many(10, (index) => [`d${index}/`, last] as const)))
  }
  return trees
}

/** Makes trees that each name the one before once. */
function chained(levels: number, leaf: Buffer, name: string): Buffer[] {
  const trees = [leaf]
  for (let level = 0; level < levels; level++)
    trees.push(
      treeOf([
        [name, treeHash(trees.at(-1) ?? leaf)],
        ['x.tf', BLOB],
      ]),
    )
  return trees
}

const packOfTrees = (trees: Buffer[]) => packOf(trees.at(-1) ?? GOOD_ROOT, trees.slice(0, -1).map(tree))

/** Makes a tree, and deltas that are each ten times as large as the one before. */
function deltaBomb(): (PackEntry | DeltaEntry)[] {
  const entries: (PackEntry | DeltaEntry)[] = [tree(Buffer.from(treeOf([['a.tf', BLOB]])))]
  let size = entries[0] && 'contents' in entries[0] ? entries[0].contents.length : 0
  for (let step = 0; step < 9; step++) {
    entries.push({ base: step, delta: doublingDelta(Math.min(size, 0xffffff), 10) })
    size *= 10
  }
  return entries
}

/** Makes blocks without content: five bytes each, and none that ends the object. */
const emptyBlocks = (bytes: number) =>
  Buffer.concat([Buffer.from([0x78, 0x9c]), Buffer.alloc(bytes, Buffer.from([0, 0, 0, 0xff, 0xff]))])

/** Makes blocks with their own codes and without content. */
function emptyCodedBlocks(bytes: number): Buffer {
  const whole = deflateRawSync(Buffer.from('the codes of this text are written before it '.repeat(9)), { level: 9 })
  return Buffer.concat([Buffer.from([0x78, 0x9c]), Buffer.alloc(bytes, whole)])
}

export const HOSTILE_PACKS: readonly HostilePack[] = [
  {
    name: '0.5 MB that inflate to 500 MB of file contents',
    build: () => crowd(125, blob, Buffer.alloc(4 * MIB)),
    isRead: true,
  },
  { name: '0.5 MB that inflate to 500 MB of trees', build: () => crowd(125, tree, Buffer.alloc(4 * MIB)) },
  { name: 'a million objects', build: () => crowd(1_000_000, blob, SMALL) },
  { name: '290000 objects', build: () => crowd(290_000, blob, SMALL), isRead: true },
  {
    name: '60000 trees, each another one',
    build: () =>
      packOf(
        GOOD_ROOT,
        many(60_000, (index) => tree(treeOf([[`${index}.tf`, BLOB]]))),
      ),
    isRead: true,
  },
  { name: 'four billion objects by the header', build: () => packOf(GOOD_ROOT, [], { count: 0xffffffff }) },
  {
    name: 'an object of a terabyte by its header',
    build: () =>
      packOf(GOOD_ROOT, [tree(Buffer.from('x'))], { declared: (index, size) => (index === 2 ? 2 ** 40 : size) }),
  },
  {
    name: 'an object that is larger than its header says',
    build: () =>
      packOf(GOOD_ROOT, [blob(Buffer.alloc(64 * MIB))], { declared: (index, size) => (index === 2 ? 10 : size) }),
  },
  {
    name: 'deltas that grow tenfold with each step',
    build: () => {
      const root = treeOf([['a.tf', BLOB]])
      return { head: hashOf('commit', commitOf(treeHash(root))), pack: buildPack(deltaBomb()) }
    },
  },
  {
    name: 'deltas in a circle',
    build: () => {
      const [a, b] = ['aa'.repeat(20), 'bb'.repeat(20)]
      const delta = doublingDelta(30, 2)
      const root = treeOf([['live/', a]])
      return packOf(root, [
        { base: a, delta },
        { base: b, delta },
        { base: a, delta },
      ])
    },
  },
  {
    name: '50000 deltas in one chain',
    build: () => {
      const start = treeOf([['a.tf', BLOB]])
      const deltas = many(50_000, (index) => ({ base: index + 1, delta: doublingDelta(start.length, 1) }))
      return packOf(start, deltas, { compress: createCompressor() })
    },
    isRead: true,
  },
  {
    name: 'a tree of a million entries',
    build: () => packOf(treeOf(many(1_000_000, (index) => [`${index}.tf`, BLOB] as const)), []),
  },
  {
    name: 'a tree of 400000 entries',
    build: () => packOf(treeOf(many(400_000, (index) => [`${index}.tf`, BLOB] as const)), []),
    isRead: true,
  },
  { name: 'ten billion paths from ten trees', build: () => packOfTrees(multiplied(10, treeOf([['main.tf', BLOB]]))) },
  { name: 'directories alone, ten billion of them', build: () => packOfTrees(multiplied(10, Buffer.alloc(0))) },
  { name: '5000 directories inside each other', build: () => packOfTrees(chained(5_000, GOOD_ROOT, 'd/')) },
  { name: 'names of a megabyte', build: () => packOfTrees(chained(10, GOOD_ROOT, `${'n'.repeat(MIB)}/`)) },
  { name: 'names of 4000 characters many times', build: () => packOfTrees(multiplied(4, longNames())) },
  { name: '10000 roots with long paths', build: () => packOfTrees(wideRoots()), isRead: true },
  { name: '40 MB of noise', build: () => packOf(GOOD_ROOT, [blob(randomBytes(40 * MIB))]), isRead: true },
  {
    name: '30 MB of noise and 200000 trees, each another one',
    build: () => {
      const trees = many(200_000, (index) => tree(treeOf([[`${index}.tf`, BLOB]])))
      return packOf(GOOD_ROOT, [blob(randomBytes(30 * MIB)), ...trees])
    },
  },
  {
    name: '200 files of code that takes long to read',
    build: () => {
      const files = many(200, (index) => Buffer.from(`# ${index}\n${'module a {source="./b"}\n'.repeat(11_000)}`))
      const root = treeOf(files.map((contents, index) => [`${index}.tf`, hashOf('blob', contents)] as const))
      return packOf(root, files.map(blob))
    },
    isRead: true,
  },
  { name: '40 MB of empty blocks', build: () => packOf(GOOD_ROOT, [blob(NOISE)], compressing(emptyBlocks(40 * MIB))) },
  { name: '40 MB of codes', build: () => packOf(GOOD_ROOT, [blob(NOISE)], compressing(emptyCodedBlocks(40 * MIB))) },
]

/** Harmless, but as large as a large repository: 50,000 files with long names in 5,000 directories. */
export const LARGE_REPOSITORY: HostilePack = {
  name: 'no attack: 50000 files in 5000 directories',
  build: () => {
    const leaves = many(5_000, (directory) =>
      treeOf(many(10, (index) => [`resource-group-${directory}-${index}.tf`, BLOB] as const)),
    )
    const root = treeOf(leaves.map((leaf, index) => [`project-${String(index).padStart(4, '0')}/`, treeHash(leaf)]))
    return packOf(root, leaves.map(tree))
  },
  isRead: true,
}

const SMALL = Buffer.from('x')
const NOISE = Buffer.from('noise')
const compressing = (instead: Buffer) => ({
  compress: (contents: Buffer) => (contents === NOISE ? instead : deflateSync(contents)),
  declared: (index: number, size: number) => (index === 2 ? 2 ** 30 : size),
})

const longNames = () => treeOf(many(100, (index) => [`${'n'.repeat(4_000)}${index}.tf`, BLOB] as const))

/** Makes a hundred directories of a hundred directories with an engine file each, all with names of 100 characters. */
function wideRoots(): Buffer[] {
  const leaf = GOOD_ROOT
  const name = (index: number) => `${String(index).padStart(4, '0')}${'ü'.repeat(96)}/`
  const middle = treeOf(many(100, (index) => [name(index), treeHash(leaf)] as const))
  return [leaf, middle, treeOf(many(100, (index) => [name(index), treeHash(middle)] as const))]
}
