import { cutMiddle } from '../../base/text.ts'
import type { FileDiff } from '../../plan/code/compare.ts'
import { fence } from '../../prompts/layout.ts'

/** Maximum characters of a diff for a model. */
export const MAX_DIFF_CHARS = 40_000

/** Characters that `cutMiddle` may add beyond its limit. */
const MARKER = 50

const KINDS: Record<FileDiff['change'], string> = {
  new: 'new file, whole',
  changed: 'changed',
  renamed: 'renamed',
  deleted: 'deleted',
}

/**
 * Writes the diff of a branch for a model: new files as text, others as hunks. If too long, large files are cut in the
 * middle, so that every changed file is named as long as the names fit. Empty when nothing was changed.
 * @param budget maximum characters
 * @param shown files that the model is shown as well, in the form of `describeChosen`; a new file among them is named
 * only
 */
export function describeDiff(diff: readonly FileDiff[], budget: number, shown = ''): string {
  const files = diff.map((file) => {
    const text = file.text.trimEnd()
    const isShown = file.change === 'new' && `${shown}\n`.includes(`--- ${file.path} ---\n${text}\n`)
    return { ...file, text: isShown ? '' : text }
  })
  const heads = files.map(
    ({ path, change, text }) =>
      `--- ${path.replaceAll(/[\s\p{Cc}]+/gu, ' ')} (${change === 'new' && text === '' ? 'new file' : KINDS[change]}) ---`,
  )
  const forTexts = budget - heads.reduce((sum, head) => sum + head.length + 3, 0)
  if (forTexts < 0) return cutMiddle(heads.join('\n'), budget)
  const share = fairShare(
    files.map(({ text }) => text.length),
    forTexts,
  )
  return files
    .map(({ text }, index) => {
      const shown = text.length <= share ? text : cutMiddle(text, Math.max(0, share - MARKER))
      return shown === '' ? heads[index] : `${heads[index]}\n${shown}`
    })
    .join('\n\n')
}

/** Returns the length to which the longest texts have to be cut so that all fit together. */
function fairShare(lengths: readonly number[], budget: number): number {
  let left = budget
  const sorted = lengths.toSorted((a, b) => a - b)
  for (const [index, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - index))
    if (length > share) return share
    left -= length
  }
  return Number.POSITIVE_INFINITY
}

/** Returns the diff as a block of a query; a sentence when nothing was changed. */
export function showDiff(diff: readonly FileDiff[]): string {
  const text = describeDiff(diff, MAX_DIFF_CHARS)
  return text === '' ? 'This session has changed no file.' : `What this session changed:\n${fence('branch diff', text)}`
}
