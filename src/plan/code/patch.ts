/** The changes of one file in a unified diff. */
export interface FilePatch {
  from: string | null
  /** Current path; null for a removed file. */
  to: string | null
  hunks: Hunk[]
  /** The part of the diff about this file, without its final line break. */
  raw: string
  /** True if the file is not committed; `raw` is then a line with its path, followed by its text. */
  uncommitted: boolean
}

export interface Hunk {
  /** First line in the current text, from 1; the line before it when `newCount` is 0. */
  newStart: number
  newCount: number
  /** The line after the counts: the last one before the hunk that begins in the first column. */
  context: string
  /** Lines with their sign. */
  lines: string[]
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)/
const UNTRACKED = /^new file (?!mode \d)(.+)$/

/** Reads a diff without prefixes, then `new file <path>` with the text of each uncommitted file. Skips cut hunks. */
export function parseDiff(diff: string): FilePatch[] {
  const files: FilePatch[] = []
  const lines = diff.split('\n')
  let start = 0
  let patch: FilePatch | null = null
  const endFile = (end: number) => {
    if (patch) files.push(completePatch(patch, lines.slice(start, end)))
  }
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? ''
    const untracked = UNTRACKED.exec(line)
    if (line.startsWith('diff --git ') || untracked) {
      endFile(index)
      start = index
      patch = { from: null, to: untracked?.[1] ?? null, hunks: [], raw: '', uncommitted: untracked !== null }
    } else if (patch && !patch.uncommitted) index = readHeader(patch, lines, index)
  }
  endFile(lines.length)
  return files.filter(({ from, to }) => from !== null || to !== null)
}

/** Adds the raw text, and the paths of a file without hunks (empty, binary or renamed). */
function completePatch(patch: FilePatch, lines: readonly string[]): FilePatch {
  const raw = lines.join('\n').trimEnd()
  if (patch.from !== null || patch.to !== null) return { ...patch, raw }
  const name = nameOf(lines[0] ?? '')
  const has = (start: string) => lines.some((line) => line.startsWith(start))
  return { ...patch, raw, from: has('new file mode ') ? null : name, to: has('deleted file mode ') ? null : name }
}

/** Returns the path in `diff --git <path> <path>`; null when the two differ. */
function nameOf(line: string): string | null {
  const names = line.slice('diff --git '.length)
  const half = names.slice(0, (names.length - 1) / 2)
  return names === `${half} ${half}` ? readPath(half) : null
}

/** Reads one header line or a whole hunk, and returns the index of the last line read. */
function readHeader(patch: FilePatch, lines: readonly string[], index: number): number {
  const line = lines[index] ?? ''
  const hunk = HUNK.exec(line)
  if (hunk) return readHunk(patch, lines, index, hunk)
  const [, key, name = ''] = /^(---|\+\+\+|rename from|rename to) (.*)$/.exec(line) ?? []
  if (key === '---' || key === 'rename from') patch.from = readPath(name)
  if (key === '+++' || key === 'rename to') patch.to = readPath(name)
  return index
}

function readHunk(patch: FilePatch, lines: readonly string[], at: number, header: RegExpExecArray): number {
  const [, old = '1', start = '0', count = '1', context = ''] = header
  const left = { old: Number(old), now: Number(count) }
  const hunk: Hunk = { newStart: Number(start), newCount: Number(count), context, lines: [] }
  let index = at + 1
  for (; index < lines.length && (left.old > 0 || left.now > 0); index++) {
    const line = lines[index] ?? ''
    // A truncated hunk is followed by the next file.
    if (line.startsWith('diff --git ')) break
    if (line.startsWith('\\')) continue
    if (!line.startsWith('+')) left.old--
    if (!line.startsWith('-')) left.now--
    hunk.lines.push(line)
  }
  if (left.old <= 0 && left.now <= 0) patch.hunks.push(hunk)
  return index - 1
}

/** Reads a path as git writes it: quoted if it has unusual characters, followed by a tab if it has blanks. */
function readPath(name: string): string | null {
  const path = name.replace(/\t$/, '')
  if (path === '/dev/null') return null
  if (!/^".*"$/.test(path)) return path
  const bytes: number[] = []
  const encoder = new TextEncoder()
  for (const [, octal, escaped, plain = ''] of path.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/g))
    if (octal) bytes.push(Number.parseInt(octal, 8))
    else bytes.push(...encoder.encode(escaped === undefined ? plain : (ESCAPES[escaped] ?? escaped)))
  return new TextDecoder().decode(new Uint8Array(bytes))
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

/** Returns the text of a file before the change, from its current text (empty for a removed file). */
export function textBefore({ from, hunks }: FilePatch, text: string): string {
  if (from === null) return ''
  const lines = text.split('\n')
  for (const { newStart, newCount, lines: changed } of hunks.toReversed()) {
    const old = changed.filter((line) => !line.startsWith('+')).map((line) => line.slice(1))
    lines.splice(newCount === 0 ? newStart : newStart - 1, newCount, ...old)
  }
  return lines.join('\n')
}

/** A file of a branch diff. */
export interface DiffFile {
  /** Relative to the engine root, with slashes. */
  path: string
  change: 'new' | 'changed' | 'renamed' | 'deleted'
  /** Text of a new file, else the hunks of the diff; empty for a file that was only renamed. */
  text: string
}

/** Reads a branch diff of the workspace: unified diffs without prefixes, then `new file <path>` with its text. */
export const readDiffFiles = (diff: string): DiffFile[] => parseDiff(diff).map(describeFile)

function describeFile(patch: FilePatch): DiffFile {
  const { from, to, raw, uncommitted } = patch
  const [, ...rest] = raw.split('\n')
  if (uncommitted) return { path: to ?? '', change: 'new', text: rest.join('\n') }
  const firstHunk = rest.findIndex((line) => line.startsWith('@@ '))
  const hunks = firstHunk < 0 ? [] : rest.slice(firstHunk)
  const added = hunks.filter((line) => line.startsWith('+')).map((line) => line.slice(1))
  if (from === null) return { path: to ?? '', change: 'new', text: added.join('\n').trimEnd() }
  if (to === null) return { path: from, change: 'deleted', text: hunks.join('\n') }
  return { path: to, change: from === to ? 'changed' : 'renamed', text: hunks.join('\n') }
}
