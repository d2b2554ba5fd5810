/** Longer texts are compared by their beginning. */
const MAX_COMPARED = 200

/** Returns the number of letters to add, remove or replace to turn one text into the other. */
export function editDistance(a: string, b: string): number {
  const [from, to] = [a.slice(0, MAX_COMPARED), b.slice(0, MAX_COMPARED)]
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** The same, or Infinity for texts whose lengths alone differ by more than `limit`. */
export const distanceWithin = (a: string, b: string, limit: number): number =>
  Math.abs(a.length - b.length) > limit ? Infinity : editDistance(a, b)
