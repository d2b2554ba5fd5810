import { type FilePatch, parseDiff } from './patch.ts'

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
  if (from === null) return { path: to ?? '', change: 'new', text: withoutSigns(hunks) }
  if (to === null) return { path: from, change: 'deleted', text: hunks.join('\n') }
  return { path: to, change: from === to ? 'changed' : 'renamed', text: hunks.join('\n') }
}

const withoutSigns = (hunks: readonly string[]): string =>
  hunks
    .filter((line) => line.startsWith('+'))
    .map((line) => line.slice(1))
    .join('\n')
    .trimEnd()
