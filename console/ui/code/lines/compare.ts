import { diffArrays } from 'diff'
import { numbered, type Row } from './rows.ts'

/** More differences than this take too long to be found; the texts then count as wholly different. */
const MAX_EDITS = 2_000

/** What differs between two versions of a file, line by line. */
export function compareLines(before: readonly Row[], after: readonly Row[]): Row[] {
  const head = commonLength(before, after)
  const tail = commonLength(before.slice(head).reverse(), after.slice(head).reverse())
  const middle = [before, after].map((side) => side.slice(head, side.length - tail).map(identity)) as [
    string[],
    string[],
  ]
  const parts = diffArrays(...middle, { maxEditLength: MAX_EDITS }) ?? [
    { value: middle[0], removed: true, added: false },
    { value: middle[1], removed: false, added: true },
  ]
  const next = { before: 1, after: 1 }
  const add = (kind: Row['kind']) => (value: string) => {
    const row = numbered(kind, value.replace(/\0$/, ''), next)
    return value.endsWith('\0') ? { ...row, unended: true as const } : row
  }
  return [
    ...before.slice(0, head).map(identity).map(add('same')),
    ...parts.flatMap(({ value, added, removed }) => value.map(add(added ? 'added' : removed ? 'removed' : 'same'))),
    ...before
      .slice(before.length - tail)
      .map(identity)
      .map(add('same')),
  ]
}

/** A line without a line break at its end is another one than the same line with it. */
const identity = ({ text, unended }: Row): string => (unended ? `${text}\0` : text)

function commonLength(one: readonly Row[], other: readonly Row[]): number {
  const limit = Math.min(one.length, other.length)
  let length = 0
  while (length < limit && identity(one[length] as Row) === identity(other[length] as Row)) length += 1
  return length
}
