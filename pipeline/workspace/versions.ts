import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { allInOrder } from '../../src/base/gate.ts'
import { type FileDiff, type FileVersions, pathOf } from '../../src/plan/code/compare.ts'
import { listChanges } from './change-budget.ts'
import { excludeNeverPushed } from './files/engine-files.ts'
import { withRegularFile } from './files/private-files.ts'
import { MAX_LISTING, MIB, mustSucceed } from './git/git.ts'
import type { Checkout } from './workspace.ts'

/** Maximum bytes of a version of a file; longer code has more tokens than the reader of code takes. */
const MAX_FILE = 4 * MIB

/** Text of a version, or why it was not read. */
type Content = { text: string } | { unread: string }

/**
 * Reads the files below the engine root that differ between a commit and the work tree as whole texts, from git's
 * objects and the disk. What is binary, too large, or no regular file is listed with the reason. Errors: 422 for too
 * many or too large changes that are not committed; 500 with git's text.
 */
export async function readChangedVersions(checkout: Checkout, base: string): Promise<FileVersions[]> {
  const [, differences, untracked] = await allInOrder([
    listChanges(checkout),
    listDifferences(checkout, base),
    listUntracked(checkout),
  ])
  const changes = joinSides([...differences, ...untracked])
  const most = checkout.git.limits.max_change_mib * MIB
  const blobs = await readBlobs(
    checkout,
    changes.flatMap(({ blob }) => blob ?? []),
    most,
  )
  let read = 0
  const versions: FileVersions[] = []
  for (const { from, to, blob } of changes) {
    const before = from === null ? null : (blobs.get(blob ?? '') ?? NOT_REGULAR)
    const after = to === null ? null : await readPresent(join(checkout.iacRoot, to), most - read)
    if (after && 'text' in after) read += after.text.length
    const unread = [before, after].flatMap((one) => (one && 'unread' in one ? [one.unread] : []))[0] ?? null
    const textOf = (one: Content | null) => (unread === null && one && 'text' in one ? one.text : null)
    versions.push({ from, to, before: textOf(before), after: textOf(after), unread })
  }
  return versions.filter(({ from, to, before, after, unread }) => unread !== null || from !== to || before !== after)
}

/** Joins the two sides of a file that a commit removed and that is there again. */
function joinSides(changes: readonly Difference[]): Difference[] {
  const back = new Set(changes.flatMap(({ from, to }) => (from === null && to !== null ? [to] : [])))
  const isBack = ({ from, to }: Difference) => to === null && from !== null && back.has(from)
  const gone = new Map(changes.filter(isBack).map((change) => [change.from, change]))
  return changes.flatMap((change) => {
    if (isBack(change)) return []
    const earlier = change.from === null ? gone.get(change.to) : undefined
    return [earlier ? { ...earlier, to: change.to } : change]
  })
}

const NOT_REGULAR: Content = { unread: 'no regular file' }
const TOO_LARGE: Content = { unread: 'too large' }

interface Difference extends Pick<FileVersions, 'from' | 'to'> {
  /** Object of the earlier version; null when there is none, or no regular file. */
  blob: string | null
}

const DIFF = ['diff', '-z', '--raw', '--no-abbrev', '--find-renames', '--no-ext-diff', '--ignore-submodules=all']

const rangeOf = ({ paths }: Checkout, base: string): string[] => [
  '--relative',
  base,
  '--',
  '.',
  ...excludeNeverPushed(paths),
]

interface TrackedDifference extends Difference {
  /** Letter of git, such as `M`, `D`, `R`. */
  status: string
}

/** Lists the tracked files that differ. */
async function listDifferences(checkout: Checkout, base: string): Promise<TrackedDifference[]> {
  const { git, iacRoot } = checkout
  return readRaw(await git.run([...DIFF, ...rangeOf(checkout, base)], { cwd: iacRoot, maxOutput: MAX_LISTING }))
}

/** Reads a list in git's raw format, whose fields end with a NUL. */
function readRaw(list: string): TrackedDifference[] {
  const fields = list.split('\0').values()
  const found: TrackedDifference[] = []
  for (const head of fields) {
    if (head === '') continue
    const [mode = '', , object = '', , state = ''] = head.slice(1).split(' ')
    const path = fields.next().value ?? ''
    const status = state.slice(0, 1)
    const to = status === 'R' ? (fields.next().value ?? '') : path
    found.push({
      from: status === 'A' ? null : path,
      to: status === 'D' ? null : to,
      blob: status !== 'A' && mode.startsWith('100') ? object : null,
      status,
    })
  }
  return found
}

/** Lists the new files that no ignore rule hides. */
async function listUntracked({ git, iacRoot, paths }: Checkout): Promise<Difference[]> {
  const args = ['ls-files', '--others', '--exclude-standard', '-z', '--', '.', ...excludeNeverPushed(paths)]
  const listed = await git.run(args, { cwd: iacRoot })
  return listed.split('\0').flatMap((to) => (to === '' || to.endsWith('/') ? [] : [{ from: null, to, blob: null }]))
}

/** Maximum bytes of the hunks of all files. */
const MAX_HUNKS = 4 * MIB

/**
 * Reads the same changes as text for a model or a person: new files whole, others as hunks, which say it when they are
 * cut.
 */
export async function readBranchDiff(checkout: Checkout, base: string): Promise<FileDiff[]> {
  const versions = await readChangedVersions(checkout, base)
  const hunks = await readHunks(checkout, base)
  return versions.map((version) => {
    const { from, to, after, unread } = version
    const path = pathOf(version)
    const isNew = from === null
    const change = isNew ? 'new' : to === null ? 'deleted' : from === to ? 'changed' : 'renamed'
    if (unread !== null) return { path, change, text: `(not shown: ${unread})` }
    // A file that a commit removed and that is there again has no hunks.
    return { path, change, text: (isNew ? null : hunks.get(sidesOf(version))) ?? after ?? '' }
  })
}

const CUT = '(cut: the diff is too long)'

const sidesOf = ({ from, to }: Pick<FileVersions, 'from' | 'to'>): string => `${from}\0${to}`

/** Reads the hunks of tracked files by their two paths. */
async function readHunks(checkout: Checkout, base: string): Promise<Map<string, string>> {
  const { git, iacRoot } = checkout
  const args = [...DIFF, '--patch', '--no-color', '--no-textconv', ...rangeOf(checkout, base)]
  const output = await git.local(args, { cwd: iacRoot, maxOutput: MAX_HUNKS })
  const isCut = output.stopped === 'output'
  const text = isCut ? output.stdout : mustSucceed(git, output)
  // The list ends with an empty field.
  const end = text.includes('\0\0') ? text.indexOf('\0\0') : text.length
  // A line of a file stands behind a sign. A file that became something else has two parts.
  const parts = text.slice(end + 2).split('\ndiff --git ')
  const hunks = new Map<string, string>()
  for (const { status, ...difference } of readRaw(text.slice(0, end))) {
    const part = parts.splice(0, status === 'T' ? 2 : 1)[0]
    const start = part?.indexOf('\n@@ ') ?? -1
    const isLast = isCut && parts.length === 0
    const shown = part === undefined || start < 0 ? '' : part.slice(start + 1).trimEnd()
    hunks.set(sidesOf(difference), isLast ? `${shown}\n${CUT}`.trimStart() : shown)
  }
  return hunks
}

/** Reads objects with one process, which passes over those that are too large. */
async function readBlobs({ git }: Checkout, objects: readonly string[], most: number): Promise<Map<string, Content>> {
  const found = new Map<string, Content>()
  if (objects.length === 0) return found
  let header = ''
  let current: { object: string; left: number; parts: Buffer[] | null } | null = null
  let kept = 0
  const begin = (line: string) => {
    const [object = '', kind, size = ''] = line.split(' ')
    if (kind !== 'blob') return
    const bytes = Number(size)
    const isKept = bytes <= MAX_FILE && kept + bytes <= most
    if (isKept) kept += bytes
    // A line break follows the object.
    current = { object, left: bytes + 1, parts: isKept ? [] : null }
  }
  const consume = (chunk: Buffer): boolean => {
    for (let at = 0; at < chunk.length; ) {
      if (current === null) {
        const end = chunk.indexOf(10, at)
        header += chunk.toString('latin1', at, end < 0 ? undefined : end)
        if (end < 0) return true
        at = end + 1
        begin(header)
        header = ''
        continue
      }
      const taken = chunk.subarray(at, at + current.left)
      current.parts?.push(taken)
      current.left -= taken.length
      at += taken.length
      if (current.left > 0) continue
      const { object, parts } = current
      found.set(object, parts === null ? TOO_LARGE : decode(Buffer.concat(parts).subarray(0, -1)))
      current = null
    }
    return true
  }
  mustSucceed(git, await git.local(['cat-file', '--batch'], { input: `${objects.join('\n')}\n`, consume }))
  return found
}

/** Reads a file of the work tree that no link leads to. */
async function readPresent(path: string, most: number): Promise<Content> {
  // An engine run can replace the engine root or a folder by a link that leads out of the clone.
  if ((await realpath(path).catch(() => null)) !== path) return NOT_REGULAR
  const content = await withRegularFile(path, async (handle, size) =>
    size > Math.min(MAX_FILE, most) ? TOO_LARGE : decode(await handle.readFile()),
  )
  return content ?? NOT_REGULAR
}

function decode(bytes: Buffer): Content {
  const text = bytes.toString('utf8')
  return bytes.includes(0) || !Buffer.from(text).equals(bytes) ? { unread: 'no text' } : { text }
}
